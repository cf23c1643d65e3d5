//! `groundplane host quarantine` and `host replace`: hosts that are not to be used.

use cli::{Ask, Failure, Session};
use http::Method;
use serde_json::{Value, json};

use crate::find;
use crate::output;
use crate::table::HOSTS;

/// Keep a host from being chosen for clusters, or end that.
///
/// A host that is part of a cluster stays there; to have it replaced, use "groundplane host replace".
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane host quarantine node001 --reason 'memory errors'\n  \
    groundplane host quarantine node001 --end")]
pub struct Quarantine {
    /// Name or identifier of the host.
    #[arg(value_name = "NAME")]
    name: String,

    /// Why the host must not be used, for people.
    #[arg(long, value_name = "TEXT", required_unless_present = "end")]
    reason: Option<String>,

    /// End the quarantine.
    #[arg(long, conflicts_with = "reason")]
    end: bool,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// Replace a host of a cluster by another one.
///
/// Another host is claimed and installed first; then this one leaves, is cleaned, and stays in quarantine.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane host replace node001 --reason 'memory errors'")]
pub struct Replace {
    /// Name or identifier of the host.
    #[arg(value_name = "NAME")]
    name: String,

    /// Why the host is replaced, for people.
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// Begins or ends a quarantine.
pub async fn quarantine(arguments: &Quarantine, session: &mut Session) -> Result<(), Failure> {
    let wanted = arguments.reason.as_ref().map_or(Value::Null, |reason| json!({"reason": reason}));
    let said = if arguments.end { "is in quarantine no longer" } else { "quarantined" };
    set(&arguments.name, &wanted, arguments.message.as_deref(), said, session).await
}

/// Has a host replaced.
pub async fn replace(arguments: &Replace, session: &mut Session) -> Result<(), Failure> {
    let host = find::one(&HOSTS, &arguments.name, session).await?;
    if output::text(&host, "/status/cluster").is_empty() {
        return Err(Failure::other(format!("{} is in no cluster", HOSTS.named(&host)))
            .hint("\"groundplane host quarantine\" keeps it from being chosen"));
    }
    let wanted = json!({"reason": arguments.reason, "replace": true});
    let said = "leaves its cluster once another host is installed";
    set(&arguments.name, &wanted, arguments.message.as_deref(), said, session).await
}

async fn set(
    name: &str,
    wanted: &Value,
    message: Option<&str>,
    said: &str,
    session: &mut Session,
) -> Result<(), Failure> {
    let host = find::one(&HOSTS, name, session).await?;
    let ask = Ask::new(Method::PATCH, find::path_of(&HOSTS, &host))
        .query("fieldManager", "groundplane")
        .message(message)
        .body("application/merge-patch+json", json!({"spec": {"quarantine": wanted}}).to_string());
    session.client().await?.value(&ask).await?;
    output::line(&format!("{} {said}", HOSTS.named(&host)), session)
}
