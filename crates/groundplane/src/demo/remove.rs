//! `groundplane demo remove`: takes the demo fleet out of a store, and leaves alone what somebody else changed.

use std::collections::{BTreeSet, HashMap};
use std::io::Write as _;
use std::path::PathBuf;

use cli::{Ask, Client, Failure, Session, name_of};
use krm::Object;
use serde_json::{Value, json};

use super::MANAGER;
use super::load::{MARKER, MARKER_NAMESPACE};
use crate::modules;

/// Objects that are deleted in one commit. Small enough for the transactions of etcd's own limits.
const BATCH: usize = 25;

/// Remove the fleet that "serve --demo" created, from a running server.
///
/// Only objects that the demo created and that nobody else has changed are deleted. The command lists those that it
/// keeps, each with the reason.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane demo remove\n  groundplane demo remove --data /var/lib/groundplane"
)]
pub struct Arguments {
    /// Data folder of the server, instead of --kubeconfig. The server has to run.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// Removes the fleet and reports what was kept.
pub async fn run(session: &mut Session) -> Result<(), Failure> {
    let marker = format!("/api/v1/namespaces/{MARKER_NAMESPACE}/configmaps/{MARKER}");
    let client = session.client().await?;
    if let Err(failure) = client.value(&Ask::get(&marker)).await {
        return Err(match failure.is_not_found() {
            false => failure,
            true => Failure::other(format!("the server at {} holds no demo", client.address()))
                .hint("\"groundplane serve --demo\" loads one into a store of its own"),
        });
    }
    let mut kept: Vec<(String, String)> = Vec::new();
    let mut unchanged: Vec<Value> = Vec::new();
    let mut stored = stored(&client).await?;
    // Each object stands after those that it refers to: the last ones go first.
    for object in super::objects().rev() {
        let Some(found) = stored.remove(&identity(&object)) else { continue };
        match changed_by(&found) {
            Some(who) => kept.push((name_of(&found), format!("changed by {who}"))),
            None => unchanged.push(found),
        }
    }
    let mut deleted = 0;
    for batch in unchanged.chunks(BATCH) {
        let mut batch: Vec<&Value> = batch.iter().collect();
        while !batch.is_empty() {
            let Err(failure) = delete(session, &batch).await else {
                deleted += batch.len();
                break;
            };
            let refused = refused_items(&failure, batch.len());
            if refused.is_empty() {
                return Err(failure);
            }
            for (index, why) in refused.into_iter().rev() {
                kept.push((name_of(batch.remove(index)), why));
            }
        }
    }
    writeln!(session.console.out, "{deleted} objects of the demo deleted")?;
    if kept.is_empty() {
        client.value(&Ask::new(http::Method::DELETE, &marker)).await?;
        return Ok(());
    }
    for (name, why) in &kept {
        writeln!(session.console.out, "kept {name}: {why}")?;
    }
    session.console.say("To remove the rest, delete what was changed or added, and run the command again.");
    Ok(())
}

async fn delete(session: &mut Session, batch: &[&Value]) -> Result<(), Failure> {
    let items: Vec<Value> = batch
        .iter()
        .map(|object| {
            json!({
                "operation": "delete",
                "target": {
                    "apiVersion": object["apiVersion"], "kind": object["kind"], "name": object["metadata"]["name"],
                },
                // One that was deleted and created again in the meantime is somebody else's.
                "preconditions": {"uid": object["metadata"]["uid"]},
            })
        })
        .collect();
    let ask = Ask::new(http::Method::POST, "/apis/groundplane.dev/v1alpha1/transactions");
    let ask = ask.json(&json!({"spec": {"items": items, "message": "demo remove"}}));
    session.client().await?.value(&ask).await.map(drop)
}

/// The items of a refused transaction that can't be deleted, each with the reason, in ascending order.
fn refused_items(failure: &Failure, most: usize) -> Vec<(usize, String)> {
    let Some(refusal) = failure.refusal() else { return Vec::new() };
    let mut refused: Vec<(usize, String)> = Vec::new();
    for cause in refusal.causes() {
        let field = cause["field"].as_str().unwrap_or_default();
        let index = field.strip_prefix("spec.items[").and_then(|rest| rest.split(']').next()?.parse().ok());
        // The message begins with the object, which is named beside it.
        let message = cause["message"].as_str().unwrap_or_default();
        let why = message.split_once(": ").map_or(message, |(_, why)| why);
        let why = match cause["reason"].as_str() {
            Some("StillReferredTo") => format!("still referenced by {why}"),
            _ => format!("the server refuses to delete it: {why}"),
        };
        if let Some(index) = index.filter(|index| *index < most) {
            refused.push((index, why));
        }
    }
    refused.sort();
    refused.dedup_by_key(|(index, _)| *index);
    refused
}

/// Who besides the demo and the controllers has changed an object.
fn changed_by(object: &Value) -> Option<String> {
    let entries = object["metadata"]["managedFields"].as_array();
    let controllers = modules::domain_controllers(&modules::feature_gates());
    let is_own = |entry: &Value| {
        entry["subresource"] == "status"
            || entry["manager"] == MANAGER
            || controllers.iter().any(|controller| entry["manager"] == controller.manager())
    };
    match entries {
        None => Some("somebody who removed its managedFields".to_owned()),
        Some(entries) => {
            let other = entries.iter().find(|entry| !is_own(entry))?;
            Some(other["manager"].as_str().unwrap_or_default().to_owned())
        }
    }
}

/// API version, kind and name.
type Identity = (String, String, String);

fn identity(object: &Object) -> Identity {
    (object.api_version().to_owned(), object.kind().to_owned(), object.name().to_owned())
}

/// All objects of the kinds that the demo has objects of.
async fn stored(client: &Client) -> Result<HashMap<Identity, Value>, Failure> {
    let wanted: BTreeSet<(String, String)> =
        super::objects().map(|object| (object.api_version().to_owned(), object.kind().to_owned())).collect();
    let mut stored = HashMap::new();
    for kind in modules::portable_kinds() {
        let Some(version) = kind.versions.first() else { continue };
        let (api_version, plural) = (format!("{}/{}", kind.group, version.name), &kind.names.plural);
        if !wanted.contains(&(api_version.clone(), kind.names.kind.clone())) {
            continue;
        }
        let listed = client.value(&Ask::get(format!("/apis/{api_version}/{plural}"))).await;
        let mut listed = listed.map_err(|failure| failure.without(plural))?;
        let items = listed.get_mut("items").and_then(Value::as_array_mut).map(std::mem::take);
        for mut object in items.unwrap_or_default() {
            object["apiVersion"] = api_version.as_str().into();
            object["kind"] = kind.names.kind.as_str().into();
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            stored.insert((api_version.clone(), kind.names.kind.clone(), name), object);
        }
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_changed_when_somebody_else_manages_fields_of_it() {
        let with = |managers: Value| json!({"metadata": {"managedFields": managers}});
        let own = json!({"manager": MANAGER, "operation": "Update"});
        let status = json!({"manager": "anything", "subresource": "status"});
        assert_eq!(changed_by(&with(json!([own, status]))), None);
        let edited = json!({"manager": "kubectl-edit", "operation": "Update"});
        assert_eq!(changed_by(&with(json!([own, edited]))), Some("kubectl-edit".to_owned()));
        assert!(changed_by(&json!({"metadata": {}})).is_some());
    }
}
