//! `groundplane design rollback`: activates an earlier revision, and optionally restores its documents.

use std::collections::HashMap;

use clap::Args;
use serde_json::{Value, json};

use crate::{
    outcome::{Ended, Streams, Trouble},
    promote::{in_force, of_revision, reached},
    server::{COPIED, ServerDesign, State, commit},
};

#[derive(Args)]
#[command(
    after_help = "The documents do not change, so you can fix them and promote again. With --documents, they are restored too, in \
    the same commit.\n\nExamples:\n  groundplane design rollback -n airsloop\n  \
    groundplane design rollback -n airsloop --to 3 --documents"
)]
pub(crate) struct Arguments {
    /// Name of the design. Defaults to the only one of the namespace.
    #[arg(value_name = "NAME")]
    design: Option<String>,
    /// Number of the revision. Defaults to the one before the active revision.
    #[arg(long, value_name = "NUMBER")]
    to: Option<i64>,
    /// Restore the documents of the revision too.
    #[arg(long)]
    documents: bool,
    /// Activate the revision even if it has errors.
    #[arg(long)]
    allow_errors: bool,
    /// Show the affected nodes without changing anything.
    #[arg(long)]
    dry_run: bool,
    /// Message recorded in the change history.
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let place = ServerDesign::find(arguments.design.as_deref(), streams)?;
    let revisions = place.revisions(streams)?;
    let number_of = |revision: &Value| revision["spec"]["number"].as_i64().unwrap_or(0);
    let before = |live: i64| revisions.iter().map(number_of).filter(|number| *number < live).max();
    let number = match (arguments.to, place.live()) {
        (Some(number), _) => number,
        (None, Some(live)) => before(live).ok_or_else(|| {
            Trouble::Asked(format!("{} has no revision before {live}, the active one", place.name))
        })?,
        (None, None) => {
            return Err(Trouble::Asked(format!("{} has no active revision; pass --to", place.name)));
        }
    };
    let revision = revisions.iter().find(|revision| number_of(revision) == number).ok_or_else(|| {
        let known: Vec<String> = revisions.iter().map(|one| number_of(one).to_string()).collect();
        Trouble::Asked(format!(
            "{} has no revision {number}; its revisions are {}",
            place.name,
            known.join(", ")
        ))
    })?;
    let changed = reached(&place, State::Revision(number), arguments.dry_run, streams)?;
    if arguments.dry_run {
        return Ok(Ended::Well);
    }
    let mut items = vec![in_force(&place, number, arguments.allow_errors)];
    if arguments.documents {
        if let Some(layers) = revision["spec"].get("layers") {
            items[0]["patch"]["spec"]["layers"] = layers.clone();
        }
        items.extend(set_back(&place, &of_revision(revision), &place.objects(streams)?));
    }
    commit(items, "groundplane-design", &[], arguments.message.as_deref(), streams)?;
    writeln!(streams.out, "revision {number} of {} is now active{changed}", place.name)?;
    Ok(Ended::Well)
}

/// The transaction items that restore documents: changed ones are written, new ones deleted, deleted ones created.
fn set_back(place: &ServerDesign, then: &[Value], now: &[Value]) -> Vec<Value> {
    let key = |object: &Value| (object["kind"].to_string(), object["metadata"]["name"].to_string());
    let present: HashMap<_, &Value> = now.iter().map(|object| (key(object), object)).collect();
    let mut items = Vec::new();
    let is_copied = |object: &Value| !object["metadata"]["labels"][COPIED].is_null();
    for was in then.iter().filter(|was| !is_copied(was)) {
        let mut object = was.clone();
        object["metadata"]["namespace"] = json!(place.namespace);
        match present.get(&key(was)) {
            None => items.push(json!({"operation": "create", "object": object})),
            Some(is) if is["spec"] == was["spec"] && same_labels(is, was) => {}
            Some(is) => {
                let mut written = (*is).clone();
                written["spec"] = was["spec"].clone();
                written["metadata"]["labels"] = was["metadata"]["labels"].clone();
                items.push(json!({"operation": "update", "object": written}));
            }
        }
    }
    let kept: HashMap<_, ()> = then.iter().map(|object| (key(object), ())).collect();
    for is in now.iter().filter(|object| !kept.contains_key(&key(object))) {
        items.push(json!({"operation": "delete", "target": {
            "apiVersion": is["apiVersion"], "kind": is["kind"],
            "namespace": place.namespace, "name": is["metadata"]["name"],
        }}));
    }
    items
}

fn same_labels(a: &Value, b: &Value) -> bool {
    let labels = |object: &Value| object["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels(a) == labels(b)
}
