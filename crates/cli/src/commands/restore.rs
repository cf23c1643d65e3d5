//! `groundplane restore`: creates deleted objects again.

use std::io::Write;

use http::Method;
use serde_json::{Value, json};

use crate::client::Ask;
use crate::commands::found;
use crate::failure::Failure;
use crate::flags::DryRun;
use crate::session::Session;

/// Restore deleted objects from the history.
///
/// An object is created again as it was when it was deleted, or at --revision, with a new uid and without status, finalizers
/// and owner references to objects that are gone. Several objects are restored in one transaction.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane create configmap settings --from-literal=limit=3\n  \
    groundplane delete configmap settings\n  groundplane restore configmap settings")]
pub struct Arguments {
    /// TYPE NAME… or TYPE/NAME…
    #[arg(value_name = "TYPE NAME | TYPE/NAME", required = true)]
    words: Vec<String>,

    /// Restore the state of this revision.
    #[arg(long, value_name = "REVISION")]
    revision: Option<String>,

    #[command(flatten)]
    dry_run: DryRun,

    /// Reason for the change, shown in the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

/// Restores.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let places = found::named(&arguments.words, session).await?;
    let dry_run = (!arguments.dry_run.is_real()).then_some("All");
    let mut options = json!({});
    for (field, value) in [("revision", &arguments.revision), ("message", &arguments.message)] {
        if let Some(value) = value {
            options[field] = value.as_str().into();
        }
    }
    if let [place] = places.as_slice() {
        options["apiVersion"] = "groundplane.dev/v1alpha1".into();
        options["kind"] = "RestoreOptions".into();
        let ask = Ask::new(Method::POST, format!("{}/restore", place.path()))
            .query_if("dryRun", dry_run)
            .json(&options);
        client.value(&ask).await.map_err(|failure| {
            let is_there = failure.refusal().is_some_and(|refusal| refusal.reason() == "AlreadyExists");
            let back =
                format!("to revert changes of it: groundplane undo {} {}", place.resource.plural, place.name);
            if is_there { failure.hint(back) } else { failure.without("restore") }
        })?;
    } else {
        let items: Vec<Value> = places
            .iter()
            .map(|place| {
                let mut item = json!({"operation": "restore", "target": place.target()});
                if let Some(revision) = &arguments.revision {
                    item["revision"] = revision.as_str().into();
                }
                item
            })
            .collect();
        let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction",
            "spec": {"items": items, "message": arguments.message.as_deref().unwrap_or("")}});
        let ask = Ask::new(Method::POST, "/apis/groundplane.dev/v1alpha1/transactions")
            .query_if("dryRun", dry_run)
            .json(&body);
        let answer = client.value(&ask).await?;
        if answer["status"]["refused"] == true {
            return Failure::all(crate::commands::apply::failed_items(&answer["status"]));
        }
    }
    for place in &places {
        writeln!(session.console.out, "{} restored{}", place.shown(), arguments.dry_run.suffix())?;
    }
    Ok(())
}
