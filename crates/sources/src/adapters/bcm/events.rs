//! The session of events: registered, polled, kept alive, and ended.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use serde_json::{Value, json};

use super::Calls;
use crate::adapter::{Change, Changes, Fault};

/// The type of client that a session is registered for.
const CLIENT: i64 = 6;
/// How long a poll waits for events, in seconds.
const WAITS: u64 = 10;

enum State {
    New(Calls),
    Open(Calls, String, VecDeque<Change>),
    Ended,
}

/// Changes from a session of its own.
pub fn stream(calls: Calls) -> Changes {
    // A poll takes longer than any other call.
    let waiting = calls.0.as_ref().clone().within(Duration::from_secs(WAITS + 20));
    let state = State::New(Calls(Arc::new(waiting)));
    Box::pin(stream::unfold(state, async |state| next(state).await))
}

async fn next(state: State) -> Option<(Result<Change, Fault>, State)> {
    let (calls, session, mut waiting) = match state {
        State::Ended => return None,
        State::New(calls) => match register(&calls).await {
            // What happened before the session is not told: everything is listed.
            Ok(session) => {
                return Some((Ok(Change::Everything), State::Open(calls, session, VecDeque::new())));
            }
            Err(fault) => return Some((Err(fault), State::Ended)),
        },
        State::Open(calls, session, waiting) => (calls, session, waiting),
    };
    loop {
        if let Some(change) = waiting.pop_front() {
            return Some((Ok(change), State::Open(calls, session, waiting)));
        }
        match poll(&calls, &session, &mut waiting).await {
            Ok(()) => {}
            Err(fault) => return Some((Err(fault), State::Ended)),
        }
    }
}

async fn register(calls: &Calls) -> Result<String, Fault> {
    let session = calls.call("cmsession", "registerSession", json!([CLIENT])).await?;
    let session = session.as_str().unwrap_or_default();
    let is_none = session.bytes().all(|byte| matches!(byte, b'0' | b'-'));
    match is_none {
        true => Err(Fault::shape("cmsession.registerSession gave no session")),
        false => Ok(session.to_owned()),
    }
}

async fn poll(calls: &Calls, session: &str, waiting: &mut VecDeque<Change>) -> Result<(), Fault> {
    for event in calls.list("cmsession", "waitForEvents", json!([session, WAITS])).await? {
        match event["childType"].as_str().unwrap_or_default() {
            "EntitiesChangedEvent" => waiting.extend(changed(&event)),
            "KeepAliveEvent" => {
                calls.call("cmsession", "acknowledgeKeepAlive", json!([session, 0])).await?;
                waiting.push_back(Change::Alive);
            }
            "EndOfSessionEvent" => {
                let why = event["reason"].as_str().unwrap_or("no reason");
                return Err(Fault::new(
                    crate::adapter::FaultKind::Server,
                    format!("BCM ended the session: {why}"),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn changed(event: &Value) -> Vec<Change> {
    let uuids = |field: &str| {
        let all = event[field].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().filter_map(|uuid| uuid.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let (updated, removed) = (uuids("updateUuids"), uuids("removeUuids"));
    match event["entityTypeName"].as_str().unwrap_or_default() {
        "Device" | "LiteNode" => {
            let updated = updated.into_iter().map(Change::Host);
            updated.chain(removed.into_iter().map(Change::Removed)).collect()
        }
        // What hosts inherit, or are named by.
        "Category" | "Rack" | "Partition" | "Network" => vec![Change::Everything],
        _ => Vec::new(),
    }
}
