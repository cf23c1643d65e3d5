//! Tasks: a change that the BMC answers with 202 is polled until it has ended.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::resource::{Resource, text};
use super::service::{Service, header, retry_after};
use super::transport::Received;
use crate::error::{Cause, Result};

/// Between two looks at a task that does not say when to look again.
const INTERVAL: Duration = Duration::from_secs(2);
const LONGEST_INTERVAL: Duration = Duration::from_secs(30);

/// Waits for the task of an accepted request; an answer without a task has ended already.
pub async fn finish(service: &Service, action: &str, received: Received) -> Result<()> {
    if received.status != StatusCode::ACCEPTED {
        return Ok(());
    }
    let monitor = header(&received.headers, "location").and_then(|url| service.local_path(&url));
    let named = || Resource::parse(&received.body, None).ok()?.text("@odata.id");
    // Accepted without anything to look at: reading the result back has to do.
    let Some(path) = monitor.or_else(named) else { return Ok(()) };
    let end = Instant::now() + service.limits().task;
    let mut interval = retry_after(&received.headers).unwrap_or(INTERVAL);
    loop {
        sleep(interval.min(LONGEST_INTERVAL)).await;
        let looked = service.call(&Method::GET, &path, None, None).await?;
        let task = Resource::parse(&looked.body, None).ok();
        let state = task.as_ref().and_then(|task| task.text("TaskState"));
        match (looked.status, state.as_deref()) {
            (_, Some("Completed")) => return Ok(()),
            (_, Some(state @ ("Exception" | "Killed" | "Cancelled" | "Interrupted"))) => {
                let why = task.as_ref().map(messages).unwrap_or_default();
                return Err(service.failed(action, Cause::TaskFailed { state: state.to_owned(), why }));
            }
            // A task monitor answers 202 while the task runs, and the result itself afterwards.
            (StatusCode::ACCEPTED, _) | (_, Some(_)) => {}
            (_, None) => return Ok(()),
        }
        if Instant::now() >= end {
            let why = format!("task {path} is {}", state.unwrap_or_else(|| "running".to_owned()));
            return Err(service.failed(action, Cause::Busy { why, retry_after: None }));
        }
        interval = retry_after(&looked.headers).unwrap_or(INTERVAL);
    }
}

fn messages(task: &Resource) -> String {
    let all = task.at(&["Messages"]).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = all.iter().filter_map(|message| text(message.get("Message")?)).collect();
    match texts.is_empty() {
        true => "no message".to_owned(),
        false => texts.join("; "),
    }
}
