//! The inventory controller: maintains conditions, phases and topology labels.
//!
//! An object is reconciled when it changes and when an object that it refers to changes, so a change costs time in
//! proportion to its dependents.

mod events;
pub mod observe;
mod status;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::controllers::queue::Queue;
use apiserver::controllers::{Controller, Next};
use apiserver::handle::question::Seen;
use apiserver::plane::Plane;
use apiserver::write::references::Mention;
use apiserver::{encode, index, keys};
use krm::Object;
use krm::status::Status;
use serde_json::Value;
use store::{Entry, Key};

use crate::{graph, kinds, topology};
use observe::Observation;

/// Reconciles all kinds of the inventory.
pub struct InventoryController;

impl Controller for InventoryController {
    const NAME: &'static str = "inventory-controller";

    fn map(&self, api: &Api, key: &Key, before: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        let Some(parts) = keys::parts(key).filter(|parts| parts.plane.is_empty()) else { return };
        let (plane, comes_or_goes) = (Plane::root(), before.is_none() || after.is_none());
        if comes_or_goes {
            enqueue_mentioning(api, &plane, &parts, queue);
        }
        if parts.group != kinds::GROUP && parts.group != graph::GROUP {
            return;
        }
        if !comes_or_goes && !has_changed(before, after) {
            return;
        }
        if after.is_some() {
            queue.add(key.clone());
        }
        let snapshot = api.store().latest();
        for referrer in snapshot.having(&index::referring_to(&plane, &parts.address())) {
            queue.add(referrer.clone());
        }
        let (before, after) = (read(before), read(after));
        // Label changes do not affect power: racks are not recomputed while a whole site is relabelled.
        let wanted =
            |object: &Option<Object>| object.as_ref().map(|one| (one.uid().to_owned(), one.generation()));
        if wanted(&before) == wanted(&after) {
            return;
        }
        for object in [before, after].into_iter().flatten() {
            let seen = Seen { api: api.clone(), plane: plane.clone(), snapshot: snapshot.clone() };
            for rack in crate::power::racks_behind(&object, &seen) {
                let address = <kinds::Rack as krm::kind::Resource>::address("", &rack);
                if let Ok(key) = keys::object(&plane, &address) {
                    queue.add(key);
                }
            }
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let catalog = client.api().kinds().of(&Plane::root());
        let Some(kind) = catalog.resource(parts.group, parts.plural) else { return Ok(Next::Done) };
        let Some(object) = client.read(kind, "", parts.name) else { return Ok(Next::Done) };
        let snapshot = client.api().store().latest();
        let seen = Seen { api: client.api().clone(), plane: Plane::root(), snapshot };
        let Some(mut observed) = observe::observe(&object, &seen) else { return Ok(Next::Done) };
        observed.conditions.extend(mentioned(client, &object, &kind.mentions));
        let object = label(client, object, &observed).await?;
        let (new, transition) = status::with(&object, &observed, &client.api().now().to_string());
        if new.get("status") == object.get("status") {
            return Ok(Next::Done);
        }
        let written = client.update_status(new).await?;
        if let Some(transition) = transition.filter(|_| parts.group == kinds::GROUP) {
            events::tell(client, &written, &transition).await;
        }
        Ok(Next::Done)
    }
}

/// Whether a change affects the object's own status or its referrers.
fn has_changed(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    let (Some(before), Some(after)) = (read(before), read(after)) else { return true };
    before.generation() != after.generation()
        || before.uid() != after.uid()
        || before.meta("labels") != after.meta("labels")
}

fn read(entry: Option<&Entry>) -> Option<Object> {
    encode::read(entry?.bytes()).ok()
}

/// Enqueues the objects that mention this one in a field that accepts any kind.
fn enqueue_mentioning(api: &Api, plane: &Plane, parts: &keys::Parts<'_>, queue: &Queue<Key>) {
    let catalog = api.kinds().of(plane);
    let Some(kind) = catalog.resource(parts.group, parts.plural) else { return };
    let mention =
        Mention { group: parts.group, kind: &kind.names.kind, namespace: parts.namespace, name: parts.name };
    for key in api.store().latest().having(&index::mentioning(plane, &mention)) {
        queue.add(key.clone());
    }
}

/// The condition `ServiceResolved` of a circuit; `None` if the kind is not served here. A virtual machine's `projectRef`
/// gets no condition: clients of the original do not expect one.
fn mentioned(client: &Client, object: &Object, paths: &[String]) -> Option<observe::ConditionState> {
    let path = paths.iter().find(|path| *path == "spec.serviceRef")?;
    let mention = Mention::at(object, path)?;
    let catalog = client.api().kinds().of(&Plane::root());
    let kind = catalog.kind(mention.group, mention.kind)?;
    let named = format!("{}/{}", mention.kind, mention.name);
    Some(match client.read(kind, mention.namespace, mention.name).is_some() {
        true => observe::ConditionState::holds("ServiceResolved", "Accepted", format!("{named} found")),
        false => {
            observe::ConditionState::fails("ServiceResolved", "ServiceNotFound", format!("{named} not found"))
        }
    })
}

/// Sets the topology labels and leaves all other labels unchanged.
async fn label(client: &Client, mut object: Object, observed: &Observation) -> Result<Object, Status> {
    let Some(wanted) = &observed.labels else { return Ok(object) };
    let mut labels = object.meta("labels").and_then(Value::as_object).cloned().unwrap_or_default();
    let before = labels.clone();
    for key in topology::ALL {
        match wanted.get(key) {
            Some(Some(value)) => drop(labels.insert(key.to_owned(), value.as_str().into())),
            Some(None) => drop(labels.remove(key)),
            None => {}
        }
    }
    if labels == before {
        return Ok(object);
    }
    object.set_meta("labels", (!labels.is_empty()).then(|| labels.into()));
    client.update(object).await
}
