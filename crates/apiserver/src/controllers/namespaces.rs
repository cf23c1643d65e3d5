//! Namespaces that are being deleted: their content goes first.

use std::time::Duration;

use krm::Object;
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

/// How many objects a condition names.
const NAMED: usize = 5;

/// Empties namespaces that are being deleted, and lets them go.
pub struct Namespaces;

impl Controller for Namespaces {
    const NAME: &'static str = "namespace-controller";

    fn notice(&self, api: &Api, key: &Key, _: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
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

    async fn work(&self, client: &Client, key: &Key) -> Result<Next, Status> {
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
        if remaining.is_empty() {
            return finalize(&client, namespace).await;
        }
        tell(&client, namespace, &remaining).await?;
        Ok(Next::After(Duration::from_millis(500)))
    }
}

/// Deletes everything in a namespace; what is still there after that, as `plural/name` with what it waits for.
async fn empty(client: &Client, plane: &Plane, namespace: &str) -> Result<Vec<String>, Status> {
    let api = client.api();
    let catalog = api.kinds().of(plane);
    let mut remaining = Vec::new();
    for kind in
        catalog.all().filter(|kind| kind.is_namespaced() && kind.takes("delete") && kind.mirror.is_none())
    {
        let prefix = keys::in_namespace(plane, &kind.group, &kind.names.plural, namespace);
        let snapshot = api.store().current().await.map_err(|error| crate::api::store_failure(&error))?;
        for (key, _) in snapshot.list(prefix.as_bytes()) {
            let Some(parts) = keys::parts(key) else { continue };
            let options =
                DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
            match client.delete(kind, namespace, parts.name, &options).await {
                Ok(()) => {}
                Err(status) if status.code == 404 => continue,
                Err(status) if status.code == 409 => {
                    remaining.push(format!("{}/{}: {}", kind.names.plural, parts.name, status.message));
                    continue;
                }
                Err(status) => return Err(status),
            }
            if let Some(left) = client.read(kind, namespace, parts.name) {
                let waits = left.finalizers().join(", ");
                remaining.push(format!("{}/{} waits for {waits}", kind.names.plural, parts.name));
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
async fn tell(client: &Client, mut namespace: Object, remaining: &[String]) -> Result<(), Status> {
    let mut named: Vec<String> = remaining.iter().take(NAMED).cloned().collect();
    if remaining.len() > NAMED {
        named.push(format!("and {} more", remaining.len() - NAMED));
    }
    let message = format!("Some content in the namespace remains: {}", named.join("; "));
    let conditions = namespace.at("status.conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let said = conditions.iter().find(|condition| condition["type"] == "NamespaceContentRemaining");
    if said.is_some_and(|condition| condition["message"] == message.as_str()) {
        return Ok(());
    }
    let mut kept: Vec<Value> =
        conditions.into_iter().filter(|condition| condition["type"] != "NamespaceContentRemaining").collect();
    kept.push(json!({
        "type": "NamespaceContentRemaining",
        "status": "True",
        "reason": "SomeResourcesRemain",
        "message": message,
        "lastTransitionTime": client.api().now().to_string(),
    }));
    let status = namespace.0.entry("status").or_insert_with(|| json!({}));
    status["conditions"] = kept.into();
    match client.update_status(namespace).await {
        Err(status) if matches!(status.code, 404 | 409) => Ok(()),
        other => other.map(|_| ()),
    }
}
