//! Operations on hosts: created, and waited for until they have ended.

use std::time::Duration;

use cli::{Ask, Failure, Session, path_segment};
use http::Method;
use serde_json::{Value, json};

use crate::output::{self, text};
use crate::table::HOSTS;
use crate::{API, input};

/// How often the server is asked how far something is.
pub const EVERY: Duration = Duration::from_millis(300);

/// Whether a command waits for what it asked for.
#[derive(clap::Args, Debug)]
pub struct Waiting {
    /// Do not wait until it is done.
    #[arg(long)]
    no_wait: bool,

    /// Fail if it is not done within this time, such as 90s or 10m.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = seconds)]
    timeout: u64,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    pub message: Option<String>,
}

fn seconds(text: &str) -> Result<u64, String> {
    let time = cli::duration(text).ok_or("use a duration such as 90s, 10m or 1h")?;
    match time.as_secs() {
        seconds @ 10..=86_400 => Ok(seconds),
        _ => Err("use at least 10s and at most 24h".to_owned()),
    }
}

impl Waiting {
    /// How long to wait; `None` if not at all.
    pub fn limit(&self) -> Option<Duration> {
        (!self.no_wait).then(|| Duration::from_secs(self.timeout))
    }
}

/// Who holds a host.
pub struct Holder {
    claim: Value,
    user: String,
}

impl Holder {
    /// Asks for the claim on a host.
    pub async fn of(host: &Value, session: &mut Session) -> Result<Holder, Failure> {
        let name = text(host, "/metadata/name");
        let ask = Ask::get(format!("{API}/hostclaims/{}", path_segment(name)));
        let claim = match session.client().await?.value(&ask).await {
            Err(failure) if failure.is_not_found() => Value::Null,
            found => found?,
        };
        Ok(Holder { claim, user: super::claim::user(session).await? })
    }

    /// The claim, if it is that of whoever runs the command.
    pub fn own(&self) -> Option<Value> {
        let holder = self.claim.pointer("/spec/holder")?;
        let is_own = holder["kind"] == "User" && holder["name"] == self.user.as_str();
        let epoch = self.claim.pointer("/status/epoch").cloned().unwrap_or_default();
        is_own.then(|| json!({"driver": holder, "epoch": epoch}))
    }

    /// Somebody else who holds the host for longer than a moment.
    pub fn other(&self) -> Option<String> {
        let holder = self.claim.pointer("/spec/holder").filter(|_| self.own().is_none())?;
        let (kind, name) = (text(holder, "/kind"), text(holder, "/name"));
        let is_brief = kind == "Controller" || kind == "HostOperation";
        (!is_brief).then(|| format!("{kind}/{name}"))
    }
}

/// Has something done to a host, under the claim of whoever runs the command if that holds the host.
pub async fn run(
    host: &Value,
    mut spec: Value,
    done: &str,
    waiting: &Waiting,
    session: &mut Session,
) -> Result<(), Failure> {
    let name = text(host, "/metadata/name").to_owned();
    spec["hostRef"] = json!({ "name": name });
    spec["timeoutSeconds"] = waiting.timeout.into();
    if let Some(claim) = Holder::of(host, session).await?.own() {
        spec["claim"] = claim;
    }
    let mut operation = input::object("HostOperation", &name);
    let prefix: String = name.chars().take(200).collect();
    operation["metadata"] = json!({"generateName": format!("{prefix}-")});
    operation["spec"] = spec;
    let ask = Ask::new(Method::POST, format!("{API}/hostoperations"))
        .query("fieldManager", "groundplane")
        .message(waiting.message.as_deref())
        .json(&operation);
    let client = session.client().await?;
    let made = client.value(&ask).await?;
    let path = format!("{API}/hostoperations/{}", path_segment(text(&made, "/metadata/name")));
    if waiting.limit().is_none() {
        let named = format!("hostoperation.{}/{}", fulfillment::GROUP, text(&made, "/metadata/name"));
        return output::line(&format!("{named} created"), session);
    }
    let mut told = String::new();
    loop {
        let found = client.value(&Ask::get(&path)).await?;
        let message = text(&found, "/status/message");
        match text(&found, "/status/phase") {
            "Succeeded" => return output::line(&format!("{} {done}", HOSTS.named(host)), session),
            "Failed" => {
                let (action, operation) = (text(&found, "/spec/action"), text(&found, "/metadata/name"));
                return Err(Failure::other(format!("{action} of host {name} failed: {message}"))
                    .hint(format!("groundplane get hostoperation {operation} -o yaml")));
            }
            _ => progress(message, &mut told, session),
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Says how far something is, if that has changed and somebody looks on.
pub fn progress(message: &str, told: &mut String, session: &mut Session) {
    if session.console.err_is_terminal && !message.is_empty() && told != message {
        session.console.say(message);
        message.clone_into(told);
    }
}
