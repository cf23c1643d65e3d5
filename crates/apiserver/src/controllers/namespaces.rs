//! Namespace deletion: deletes the content first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::Kind;
use krm::status::Status;
use serde_json::{Value, json};
use store::{Entry, Key};

use super::queue::Queue;
use super::{Controller, Next};
use crate::api::Api;
use crate::client::Client;
use crate::encode;
use crate::keys;
use crate::plane::Plane;
use crate::write::delete::{DeleteOptions, Propagation};

/// How many refusals a condition names.
const NAMED: usize = 5;

/// Empties namespaces that are being deleted, and lets them go.
pub struct Namespaces;

impl Controller for Namespaces {
    const NAME: &'static str = "namespace-controller";

    fn map(&self, api: &Api, key: &Key, _: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        let Some(parts) =
            keys::parts(key).filter(|parts| parts.group.is_empty() && parts.plural == "namespaces")
        else {
            return;
        };
        let _ = parts;
        let object = after.and_then(|entry| encode::read(&api.reveal(key, entry).ok()?).ok());
        if object.is_some_and(|object| object.is_deleting()) {
            queue.add(key.clone());
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        let client = client.in_plane(&plane);
        let Some(kind) = client.api().kinds().of(&plane).resource("", "namespaces").cloned() else {
            return Ok(Next::Done);
        };
        let Some(namespace) = client.read(&kind, "", parts.name) else { return Ok(Next::Done) };
        if !namespace.is_deleting() {
            return Ok(Next::Done);
        }
        let remaining = empty(&client, &plane, namespace.name()).await?;
        if remaining.resources.is_empty() {
            return finalize(&client, namespace).await;
        }
        tell(&client, namespace, &remaining).await?;
        Ok(Next::After(Duration::from_millis(500)))
    }
}

/// What is still in a namespace.
#[derive(Default)]
struct Remaining {
    /// How many of each resource.
    resources: BTreeMap<String, usize>,
    /// How many wait for each finalizer.
    finalizers: BTreeMap<String, usize>,
    /// What could not be deleted, and why.
    refused: Vec<String>,
}

/// Deletes everything in a namespace, and tells what is still there after that.
async fn empty(client: &Client, plane: &Plane, namespace: &str) -> Result<Remaining, Status> {
    let api = client.api();
    let catalog = api.kinds().of(plane);
    let mut remaining = Remaining::default();
    let contained = |kind: &&Arc<Kind>| kind.is_namespaced() && kind.takes("delete") && kind.mirror.is_none();
    for kind in catalog.all().filter(contained) {
        let prefix = keys::in_namespace(plane, &kind.group, &kind.names.plural, namespace);
        let snapshot = api.store().current().await.map_err(|error| crate::api::store_failure(&error))?;
        for (key, _) in snapshot.list(prefix.as_bytes()) {
            let Some(parts) = keys::parts(key) else { continue };
            let options =
                DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
            match client.delete(kind, namespace, parts.name, &options).await {
                Ok(()) => {}
                Err(status) if status.code == 404 => continue,
                Err(status) if status.code == 409 => remaining.refused.push(status.message),
                Err(status) => return Err(status),
            }
            if let Some(left) = client.read(kind, namespace, parts.name) {
                *remaining.resources.entry(format!("{}.{}", kind.names.plural, kind.group)).or_default() += 1;
                for finalizer in left.finalizers() {
                    *remaining.finalizers.entry(finalizer.to_owned()).or_default() += 1;
                }
            }
        }
    }
    Ok(remaining)
}

async fn finalize(client: &Client, mut namespace: Object) -> Result<Next, Status> {
    if let Some(spec) = namespace.0.get_mut("spec").and_then(Value::as_object_mut) {
        let list = spec.get("finalizers").and_then(Value::as_array).cloned().unwrap_or_default();
        let kept: Vec<Value> = list.into_iter().filter(|finalizer| finalizer != "kubernetes").collect();
        spec.insert("finalizers".into(), kept.into());
    }
    match client.replace(namespace, "finalize").await {
        Err(status) if status.code == 404 => Ok(Next::Done),
        other => other.map(|_| Next::Done),
    }
}

/// Says in the namespace's status what keeps it.
async fn tell(client: &Client, mut namespace: Object, remaining: &Remaining) -> Result<(), Status> {
    let before = namespace.at("status.conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let now = client.api().now().to_string();
    let conditions: Vec<Value> = conditions(remaining)
        .into_iter()
        .map(|(kind, status, reason, message)| {
            let said = before.iter().find(|condition| condition["type"] == kind);
            let since = said.filter(|condition| condition["status"] == status);
            let since = since.and_then(|condition| condition.get("lastTransitionTime")?.as_str());
            json!({
                "type": kind, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": since.unwrap_or(&now),
            })
        })
        .collect();
    if conditions == before {
        return Ok(());
    }
    let status = namespace.0.entry("status").or_insert_with(|| json!({}));
    status["conditions"] = conditions.into();
    match client.update_status(namespace).await {
        Err(status) if matches!(status.code, 404 | 409) => Ok(()),
        other => other.map(|_| ()),
    }
}

type Condition = (&'static str, &'static str, &'static str, String);

/// What a namespace says while it is being deleted.
fn conditions(remaining: &Remaining) -> [Condition; 5] {
    let counted = |counts: &BTreeMap<String, usize>, word: &str| {
        let all = counts.iter().map(|(name, count)| format!("{name} {word} {count} resource instances"));
        all.collect::<Vec<_>>().join(", ")
    };
    let (resources, finalizers) =
        (counted(&remaining.resources, "has"), counted(&remaining.finalizers, "in"));
    let refused: Vec<&str> = remaining.refused.iter().take(NAMED).map(String::as_str).collect();
    let content = match refused.is_empty() {
        true => (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization".to_owned(),
        ),
        false => {
            ("True", "ContentDeletionFailed", format!("Failed to delete content: {}", refused.join("; ")))
        }
    };
    let held = match finalizers.is_empty() {
        true => ("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished".to_owned()),
        false => (
            "True",
            "SomeFinalizersRemain",
            format!("Some content in the namespace has finalizers remaining: {finalizers}"),
        ),
    };
    [
        (
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered".to_owned(),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed".to_owned(),
        ),
        ("NamespaceDeletionContentFailure", content.0, content.1, content.2),
        (
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            format!("Some resources are remaining: {resources}"),
        ),
        ("NamespaceFinalizersRemaining", held.0, held.1, held.2),
    ]
}
