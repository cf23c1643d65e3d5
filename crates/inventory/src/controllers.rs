//! What keeps the inventory's conditions, phases and topology labels as they should be.
//!
//! An object is looked at when it changes, and when something changes that it refers to: what a change costs is in
//! proportion to what depends on it.

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
use observe::Observed;

/// Looks after all kinds of the inventory.
pub struct InventoryController;

impl Controller for InventoryController {
    const NAME: &'static str = "inventory-controller";

    fn notice(
        &self,
        api: &Api,
        key: &Key,
        before: Option<&Entry>,
        after: Option<&Entry>,
        queue: &Queue<Key>,
    ) {
        let Some(parts) = keys::parts(key).filter(|parts| parts.plane.is_empty()) else { return };
        let (plane, comes_or_goes) = (Plane::root(), before.is_none() || after.is_none());
        if comes_or_goes {
            those_who_name(api, &plane, &parts, queue);
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
        // Labels draw no watts: while a whole site is labelled anew, no rack is added up again.
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

    async fn work(&self, client: &Client, key: &Key) -> Result<Next, Status> {
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

/// Whether an object changed in a way that matters to it or to those who refer to it.
fn has_changed(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    let (Some(before), Some(after)) = (read(before), read(after)) else { return true };
    before.generation() != after.generation()
        || before.uid() != after.uid()
        || before.meta("labels") != after.meta("labels")
}

fn read(entry: Option<&Entry>) -> Option<Object> {
    encode::read(entry?.bytes()).ok()
}

/// Those who name an object where any may be named look whether it is there.
fn those_who_name(api: &Api, plane: &Plane, parts: &keys::Parts<'_>, queue: &Queue<Key>) {
    let catalog = api.kinds().of(plane);
    let Some(kind) = catalog.resource(parts.group, parts.plural) else { return };
    let mention =
        Mention { group: parts.group, kind: &kind.names.kind, namespace: parts.namespace, name: parts.name };
    for key in api.store().latest().having(&index::mentioning(plane, &mention)) {
        queue.add(key.clone());
    }
}

/// Whether the service that a circuit is for is there. Of kinds that are not served here nothing can be said, and a machine's
/// project is the project's affair: its conditions stay what clients of the original know.
fn mentioned(client: &Client, object: &Object, paths: &[String]) -> Option<observe::Found> {
    let path = paths.iter().find(|path| *path == "spec.serviceRef")?;
    let mention = Mention::at(object, path)?;
    let catalog = client.api().kinds().of(&Plane::root());
    let kind = catalog.kind(mention.group, mention.kind)?;
    let named = format!("{}/{}", mention.kind, mention.name);
    Some(match client.read(kind, mention.namespace, mention.name).is_some() {
        true => observe::Found::holds("ServiceResolved", "Accepted", format!("{named} found")),
        false => observe::Found::fails("ServiceResolved", "ServiceNotFound", format!("{named} not found")),
    })
}

/// Sets the topology labels that are wanted, and leaves all others alone.
async fn label(client: &Client, mut object: Object, observed: &Observed) -> Result<Object, Status> {
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
