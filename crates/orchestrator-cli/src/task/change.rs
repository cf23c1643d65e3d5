//! `groundplane task cancel` and `retry`.

use cli::{Ask, Failure, Session, path_segment};
use http::Method;
use serde_json::{Value, json};

use super::{has_ended, named, one, path};
use crate::output::{self, number, text};

/// A task to change.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Name of the task.
    #[arg(value_name = "NAME")]
    name: String,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// Cancels a task.
pub async fn cancel(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let task = one(&arguments.name, session).await?;
    if has_ended(&task) {
        let phase = text(&task, "/status/phase").to_lowercase();
        return Err(Failure::other(format!("task {} has ended already: it is {phase}", arguments.name)));
    }
    let changed = patch(arguments, &json!({"spec": {"cancel": true}}), session).await?;
    output::line(&format!("{} cancelled", named(&changed)), session)
}

/// Runs a task again on the nodes that failed.
pub async fn retry(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let task = one(&arguments.name, session).await?;
    if !has_ended(&task) {
        return Err(Failure::other(format!("task {} has not ended yet", arguments.name))
            .hint(format!("follow it with: groundplane task watch {}", arguments.name)));
    }
    if text(&task, "/status/result") == "Success" {
        return Err(Failure::other(format!("nothing of task {} failed", arguments.name)));
    }
    let next = number(&task, "/spec/retry") + 1;
    let changed = patch(arguments, &json!({"spec": {"retry": next}}), session).await?;
    output::line(&format!("{} runs again", named(&changed)), session)
}

async fn patch(arguments: &Arguments, body: &Value, session: &mut Session) -> Result<Value, Failure> {
    let path = format!("{}/{}", path(session).await?, path_segment(&arguments.name));
    let bytes = body.to_string();
    let ask = Ask::new(Method::PATCH, path)
        .query("fieldManager", "groundplane")
        .body("application/merge-patch+json", bytes)
        .message(arguments.message.as_deref());
    session.client().await?.value(&ask).await
}
