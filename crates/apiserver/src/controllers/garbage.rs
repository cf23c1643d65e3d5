//! Garbage collection: deletes objects whose owners are gone.

use std::sync::{Arc, LazyLock};

use krm::Object;
use krm::kind::{Kind, split_api_version};
use krm::sparse::Sparse;
use krm::status::Status;
use serde_json::Value;
use store::{Entry, Key, Snapshot};

use super::queue::Queue;
use super::{Controller, Next};
use crate::api::Api;
use crate::client::Client;
use crate::encode;
use crate::index;
use crate::keys;
use crate::plane::Plane;
use crate::write::delete::{DeleteOptions, Propagation};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What of an object tells whether there is something to do: every change of every object comes by here.
static NOTICED: LazyLock<Sparse> = LazyLock::new(|| {
    let fields = ["deletionTimestamp", "finalizers", "namespace", "ownerReferences", "uid"];
    Sparse::new(fields.map(|field| format!("metadata.{field}")).iter().map(String::as_str))
});

/// Deletes what has lost all its owners, and lets owners go once what they wait for is done.
pub struct Garbage;

impl Controller for Garbage {
    const NAME: &'static str = "garbage-collector";

    fn map(&self, api: &Api, key: &Key, before: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        let object_of = |entry: &Entry| NOTICED.read(&api.reveal(key, entry).ok()?);
        let now = after.and_then(object_of);
        if let Some(object) = &now
            && (object.owners().next().is_some() || waits_for_dependents(object))
        {
            queue.add(key.clone());
        }
        let was = before.and_then(object_of);
        let Some(object) = now.as_ref().or(was.as_ref()) else { return };
        let plane = plane_of(key);
        // Whoever is owned has to look again when the owner goes; whoever waits for what it owns, when that goes or
        // keeps it waiting no more.
        if after.is_none() || object.is_deleting() {
            let snapshot = api.store().latest();
            for dependent in snapshot.having(&index::owned_by(&plane, object.uid())) {
                queue.add(dependent.clone());
            }
        }
        let Some(was) = &was else { return };
        let blocked = |object: &Object, uid: &str| {
            object.owners().any(|owner| owner.uid == uid && owner.blocks_deletion)
        };
        for owner in was.owners().filter(|owner| owner.blocks_deletion) {
            if now.as_ref().is_none_or(|now| !blocked(now, owner.uid))
                && let Some(key) = owner_key(api, &plane, was, &owner)
            {
                queue.add(key);
            }
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let plane = plane_of(key);
        let client = client.in_plane(&plane);
        let catalog = client.api().kinds().of(&plane);
        let Some(kind) = catalog.resource(parts.group, parts.plural).cloned() else { return Ok(Next::Done) };
        let Some(object) = client.read(&kind, parts.namespace, parts.name) else { return Ok(Next::Done) };
        if object.is_deleting() {
            return let_go(&client, &plane, object).await;
        }
        collect(&client, &plane, &kind, object).await
    }
}

fn plane_of(key: &Key) -> Plane {
    match keys::parts(key).map(|parts| parts.plane) {
        Some("") | None => Plane::root(),
        Some(project) => Plane::project(project),
    }
}

fn waits_for_dependents(object: &Object) -> bool {
    object.is_deleting()
        && object.finalizers().iter().any(|finalizer| *finalizer == ORPHAN || *finalizer == FOREGROUND)
}

fn waits_in_foreground(object: &Object) -> bool {
    object.is_deleting() && object.finalizers().contains(&FOREGROUND)
}

/// Whether something that it owns waits itself for what it owns: then they may own each other, and wait forever.
fn owns_what_waits(api: &Api, snapshot: &Snapshot, plane: &Plane, object: &Object) -> bool {
    snapshot.having(&index::owned_by(plane, object.uid())).any(|key| {
        let found = snapshot.get(key).and_then(|entry| encode::read(&api.reveal(key, entry).ok()?).ok());
        found.is_some_and(|found| waits_in_foreground(&found))
    })
}

/// Where an owner is: in the namespace of what it owns, or in none.
fn owner_key(api: &Api, plane: &Plane, object: &Object, owner: &krm::object::Owner<'_>) -> Option<Key> {
    let (group, _) = split_api_version(owner.api_version);
    let kind = api.kinds().of(plane).kind(group, owner.kind)?.clone();
    let namespace = if kind.is_namespaced() { object.namespace() } else { "" };
    let at = krm::kind::Address {
        group: kind.group.clone(),
        plural: kind.names.plural.clone(),
        namespace: namespace.to_owned(),
        name: owner.name.to_owned(),
    };
    keys::object(plane, &at).ok()
}

/// Deletes an object whose owners have all gone; one with owners left lets go of the others.
async fn collect(client: &Client, plane: &Plane, kind: &Arc<Kind>, object: Object) -> Result<Next, Status> {
    let api = client.api();
    let snapshot = api.store().current().await.map_err(|error| crate::api::store_failure(&error))?;
    let (mut here, mut gone, mut waiting) = (0, Vec::new(), Vec::new());
    for owner in object.owners() {
        // An owner of a kind that is not known here may well exist: nothing is deleted on a guess.
        let Some(key) = owner_key(api, plane, &object, &owner) else {
            here += 1;
            continue;
        };
        let found = snapshot.get(&key).and_then(|entry| encode::read(&api.reveal(&key, entry).ok()?).ok());
        match found.filter(|found| found.uid() == owner.uid) {
            Some(found) if waits_in_foreground(&found) => waiting.push(owner.uid.to_owned()),
            Some(_) => here += 1,
            None => gone.push(owner.uid.to_owned()),
        }
    }
    if here > 0 {
        // Those that wait must not wait for what stays.
        let lost = [gone, waiting].concat();
        if !lost.is_empty() {
            without_owners(client, object, &lost).await?;
        }
        return Ok(Next::Done);
    }
    if gone.is_empty() && waiting.is_empty() {
        return Ok(Next::Done);
    }
    let waiting = !waiting.is_empty();
    let object = match waiting && owns_what_waits(api, &snapshot, plane, &object) {
        true => waited_for_by_nobody(client, object).await?,
        false => object,
    };
    let propagation = match (waiting, object.finalizers().contains(&ORPHAN)) {
        (true, _) => Some(Propagation::Foreground),
        (false, true) => Some(Propagation::Orphan),
        (false, false) => Some(Propagation::Background),
    };
    let options = DeleteOptions {
        uid: Some(object.uid().to_owned()),
        resource_version: Some(object.resource_version().to_owned()),
        propagation,
        dry_run: false,
    };
    match client.delete(kind, object.namespace(), object.name(), &options).await {
        Err(status) if status.code == 404 => Ok(Next::Done),
        other => other.map(|()| Next::Done),
    }
}

/// Does what an object that is being deleted waits for: its dependents go first, or are let go of.
async fn let_go(client: &Client, plane: &Plane, object: Object) -> Result<Next, Status> {
    let api = client.api();
    let finalizers = object.finalizers();
    let (orphans, foreground) = (finalizers.contains(&ORPHAN), finalizers.contains(&FOREGROUND));
    if !orphans && !foreground {
        return Ok(Next::Done);
    }
    let snapshot = api.store().current().await.map_err(|error| crate::api::store_failure(&error))?;
    let mut blocking = 0;
    for key in snapshot.having(&index::owned_by(plane, object.uid())) {
        let Some(parts) = keys::parts(key) else { continue };
        let Some(kind) = api.kinds().of(plane).resource(parts.group, parts.plural).cloned() else { continue };
        let Some(dependent) = client.read(&kind, parts.namespace, parts.name) else { continue };
        if orphans {
            without_owners(client, dependent, &[object.uid().to_owned()]).await?;
            continue;
        }
        let blocks = dependent.owners().any(|owner| owner.uid == object.uid() && owner.blocks_deletion);
        blocking += usize::from(blocks);
        if !dependent.is_deleting() {
            collect(client, plane, &kind, dependent).await?;
        }
    }
    if blocking > 0 && !orphans {
        // It comes again when the last of them goes.
        return Ok(Next::Done);
    }
    let mut rest = object.clone();
    let keep =
        object.finalizers().into_iter().filter(|finalizer| *finalizer != ORPHAN && *finalizer != FOREGROUND);
    rest.set_finalizers(keep.map(str::to_owned).collect());
    match client.update(rest).await {
        Err(status) if status.code == 404 => Ok(Next::Done),
        other => other.map(|_| Next::Done),
    }
}

/// The object as one that none of its owners waits for.
async fn waited_for_by_nobody(client: &Client, mut object: Object) -> Result<Object, Status> {
    let mut owners = object.meta("ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default();
    for owner in owners.iter_mut().filter_map(Value::as_object_mut) {
        owner.insert("blockOwnerDeletion".into(), false.into());
    }
    object.set_meta("ownerReferences", Some(owners.into()));
    client.update(object).await
}

/// The object without these owners.
async fn without_owners(client: &Client, mut object: Object, uids: &[String]) -> Result<(), Status> {
    let owners = object.meta("ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_kept = |owner: &Value| {
        let uid = owner.get("uid").and_then(Value::as_str).unwrap_or_default();
        !uids.iter().any(|gone| gone == uid)
    };
    let kept: Vec<Value> = owners.into_iter().filter(is_kept).collect();
    object.set_meta("ownerReferences", (!kept.is_empty()).then(|| kept.into()));
    match client.update(object).await {
        Err(status) if status.code == 404 => Ok(()),
        other => other.map(|_| ()),
    }
}
