//! CustomResourceDefinitions: accepts names, establishes them, and deletes custom resources with their
//! definition.

use std::time::Duration;

use krm::Object;
use krm::crd;
use krm::status::Status;
use store::{Entry, Key};

use super::queue::Queue;
use super::{Controller, Next};
use crate::api::Api;
use crate::client::Client;
use crate::definitions::{GROUP, PLURAL};
use crate::encode;
use crate::keys;
use crate::plane::Plane;
use crate::write::delete::DeleteOptions;

/// Gives definitions their names, says that they are served, and empties those that are being deleted.
pub struct DefinitionController;

impl Controller for DefinitionController {
    const NAME: &'static str = "definition-controller";

    fn map(&self, api: &Api, key: &Key, _: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        let Some(parts) = keys::parts(key).filter(|parts| parts.group == GROUP && parts.plural == PLURAL)
        else {
            return;
        };
        if after.is_some() {
            return queue.add(key.clone());
        }
        // A definition that goes sets its names free: the others have to look again.
        let prefix = format!("{}/{GROUP}/{PLURAL}/", parts.plane);
        for (other, _) in api.store().latest().list(prefix.as_bytes()) {
            queue.add(other.clone());
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        // The field manager that clients expect for definitions.
        let client = client.in_plane(&plane).called("kube-apiserver");
        let catalog = client.api().kinds().of(&plane);
        let Some(kind) = catalog.resource(GROUP, PLURAL).cloned() else { return Ok(Next::Done) };
        let Some(definition) = client.read(&kind, "", parts.name) else { return Ok(Next::Done) };
        match definition.is_deleting() {
            true => let_go(&client, &plane, definition).await,
            false => establish(&client, &plane, definition).await,
        }
    }
}

async fn establish(client: &Client, plane: &Plane, mut definition: Object) -> Result<Next, Status> {
    let api = client.api();
    let now = api.now().to_string();
    let group = definition.at("spec.group").cloned();
    let snapshot = api.store().latest();
    let prefix = format!("{}/{GROUP}/{PLURAL}/", plane.as_str());
    let others = snapshot.list(prefix.as_bytes()).filter_map(|(_, entry)| encode::read(entry.bytes()).ok());
    let others: Vec<Object> = others.filter(|other| other.at("spec.group") == group.as_ref()).collect();
    let taken = crd::TakenNames::of(&others);
    let mut changed = false;
    if let Some(approval) = crd::approval_condition(&definition).filter(|it| !it.is_said_by(&definition)) {
        crd::set_condition(&mut definition, &approval, &now);
        changed = true;
    }
    changed |= crd::accept_names(&mut definition, &taken, &now);
    changed |= crd::establish(&mut definition, &now);
    if !changed {
        return Ok(Next::Done);
    }
    client.update_status(definition).await.map(|_| Next::Done)
}

/// Deletes the objects of a definition that is being deleted, then lets it go.
async fn let_go(client: &Client, plane: &Plane, definition: Object) -> Result<Next, Status> {
    if !definition.finalizers().contains(&crd::CLEANUP_FINALIZER) {
        return Ok(Next::Done);
    }
    let api = client.api();
    let was_established = crd::is_true(&definition, "Established");
    if was_established && crd::terminating().is_said_by(&definition) {
        // It could take a while; the change brings it back here.
        return say(client, definition, &crd::deleting_instances()).await;
    }
    // Nothing new is made once this server has seen that it is terminating.
    let version = definition.resource_version().parse().map_err(Status::internal)?;
    api.caught_up(version).await;
    let (group, plural) = (text(&definition, "spec.group"), text(&definition, "spec.names.plural"));
    let prefix = keys::of_kind(plane, group, plural);
    let snapshot = api.store().current().await.map_err(|error| crate::api::store_failure(&error))?;
    if let Some(kind) = api.kinds().of(plane).resource(group, plural).cloned() {
        let mut remaining = 0;
        for (key, _) in snapshot.list(prefix.as_bytes()) {
            let Some(parts) = keys::parts(key) else { continue };
            match client.delete(&kind, parts.namespace, parts.name, &DeleteOptions::default()).await {
                Ok(()) => remaining += usize::from(client.read(&kind, parts.namespace, parts.name).is_some()),
                Err(status) if status.code == 404 => {}
                Err(status) => {
                    let failed = crd::instances_not_deleted(&status.message);
                    if !failed.is_said_by(&definition) {
                        say(client, definition, &failed).await?;
                    }
                    return Err(status);
                }
            }
        }
        if remaining > 0 {
            return Ok(Next::After(Duration::from_millis(200)));
        }
    }
    let keep = definition.finalizers().into_iter().filter(|finalizer| *finalizer != crd::CLEANUP_FINALIZER);
    let keep: Vec<String> = keep.map(str::to_owned).collect();
    let done = crd::instances_deleted(was_established);
    // Whoever still holds it should see that this part is done.
    if !keep.is_empty() && !done.is_said_by(&definition) {
        return say(client, definition, &done).await;
    }
    let mut rest = definition;
    rest.set_finalizers(keep);
    match client.update(rest).await {
        Err(status) if status.code == 404 => Ok(Next::Done),
        other => other.map(|_| Next::Done),
    }
}

async fn say(client: &Client, mut definition: Object, condition: &crd::Condition) -> Result<Next, Status> {
    crd::set_condition(&mut definition, condition, &client.api().now().to_string());
    match client.update_status(definition).await {
        // It is gone, or somebody else has changed it: then it comes back by itself.
        Err(status) if matches!(status.code, 404 | 409) => Ok(Next::Done),
        other => other.map(|_| Next::Done),
    }
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(serde_json::Value::as_str).unwrap_or_default()
}
