//! Project deletion: deletes everything in the control plane first, and reports what remains.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use krm::Object;
use krm::condition::Finding;
use krm::status::Status;
use serde_json::Value;
use store::{Author, Entry, Key, Refused};

use super::queue::Queue;
use super::{Controller, Next};
use crate::api::{Api, store_failure};
use crate::client::Client;
use crate::encode;
use crate::keys;
use crate::plane::Plane;
use crate::planes::{FINALIZER, GROUP, PLURAL};
use crate::write::delete::{DeleteOptions, Propagation};

/// Objects that go in one commit, at most.
const BATCH: usize = 256;
/// What the garbage collector waits for; in a plane that goes there is nothing to wait for.
const OF_GARBAGE: [&str; 2] = ["foregroundDeletion", "orphan"];

/// Empties the control planes of projects that are being deleted, and lets the projects go.
pub struct Projects;

impl Controller for Projects {
    const NAME: &'static str = "project-controller";

    fn map(&self, api: &Api, key: &Key, _: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        let is_project = |parts: &keys::Parts<'_>| {
            parts.plane.is_empty() && parts.group == GROUP && parts.plural == PLURAL
        };
        if keys::parts(key).filter(is_project).is_none() {
            return;
        }
        let object = after.and_then(|entry| encode::read(&api.reveal(key, entry).ok()?).ok());
        if object.is_some_and(|object| object.is_deleting()) {
            queue.add(key.clone());
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let Some(kind) = client.api().kinds().of(&Plane::root()).resource(GROUP, PLURAL).cloned() else {
            return Ok(Next::Done);
        };
        let Some(mut project) = client.read(&kind, "", parts.name) else { return Ok(Next::Done) };
        if !project.is_deleting() || !project.finalizers().contains(&FINALIZER) {
            return Ok(Next::Done);
        }
        let left = empty(client, &Plane::project(parts.name)).await?;
        if let Some(told) = left.told() {
            tell(client, project, &told).await?;
            return Ok(Next::After(Duration::from_millis(500)));
        }
        let left = project.finalizers().into_iter().filter(|finalizer| *finalizer != FINALIZER);
        let left = left.map(str::to_owned).collect();
        project.set_finalizers(left);
        match client.update(project).await {
            Err(status) if status.code == 404 => Ok(Next::Done),
            other => other.map(|_| Next::Done),
        }
    }
}

/// What is left of a plane.
#[derive(Default)]
struct Left {
    /// How many objects of each resource.
    resources: BTreeMap<String, usize>,
    /// What they wait for.
    finalizers: BTreeSet<String>,
}

impl Left {
    fn add(&mut self, key: &Key, object: &Object) {
        let Some(parts) = keys::parts(key) else { return };
        let resource = krm::status::Subject::new(parts.group, parts.plural).to_string();
        *self.resources.entry(resource).or_default() += 1;
        self.finalizers.extend(object.finalizers().into_iter().map(str::to_owned));
    }

    /// What is left, for people; nothing when nothing is.
    fn told(&self) -> Option<String> {
        let count: usize = self.resources.values().sum();
        let listed: Vec<String> =
            self.resources.iter().map(|(resource, count)| format!("{count} of {resource}")).collect();
        let finalizers: Vec<&str> = self.finalizers.iter().map(String::as_str).collect();
        let objects = if count == 1 { "object" } else { "objects" };
        let waiting = format!("waiting for finalizers {}", finalizers.join(", "));
        (count > 0).then(|| format!("{count} {objects} remaining: {}; {waiting}", listed.join(", ")))
    }
}

/// Says on the project how far its deletion is.
async fn tell(client: &Client, project: Object, left: &str) -> Result<(), Status> {
    let now = client.api().now().to_string();
    let mut new = project.clone();
    Finding::fails("Ready", "Deleting", "Project is being deleted").tell(&mut new, &now);
    Finding::fails("ResourceCleanup", "CleanupAwaitingCompletion", left).tell(&mut new, &now);
    if new.get("status") == project.get("status") {
        return Ok(());
    }
    match client.update_status(new).await {
        Err(status) if matches!(status.code, 404 | 409) => Ok(()),
        other => other.map(drop),
    }
}

/// Takes everything in a plane away; what waits for a finalizer is told to go. What is left.
///
/// All of it goes, so nobody is asked who refers to whom.
async fn empty(client: &Client, plane: &Plane) -> Result<Left, Status> {
    let api = client.api();
    let snapshot = api.store().current().await.map_err(|error| store_failure(&error))?;
    let prefix = format!("{}/", plane.as_str());
    let (mut free, mut waiting) = (Vec::new(), Vec::new());
    for (key, entry) in snapshot.list(prefix.as_bytes()) {
        let object = api.reveal(key, entry).and_then(|bytes| encode::read(&bytes)).unwrap_or_default();
        match has_to_wait(&object) {
            true => waiting.push((key.clone(), object)),
            false => free.push(key.clone()),
        }
    }
    let most = api.store().limits().operations.map_or(BATCH, |most| (most / 4).clamp(1, BATCH));
    for batch in free.chunks(most) {
        remove(client, batch.to_vec()).await?;
    }
    let mut left = Left::default();
    for (key, object) in &waiting {
        left.add(key, object);
        if !object.is_deleting() {
            mark(&client.in_plane(plane), key).await?;
        }
    }
    Ok(left)
}

fn has_to_wait(object: &Object) -> bool {
    object.finalizers().iter().any(|finalizer| !OF_GARBAGE.contains(finalizer))
        && object.at("metadata.finalizers").is_some_and(Value::is_array)
}

async fn remove(client: &Client, keys: Vec<Key>) -> Result<(), Status> {
    let guard = client.fence().map(store::Fence::guard);
    let author = Author::new("system:project-controller", Projects::NAME);
    let removed = client.api().store().transact(author, move |view| {
        if let Some(guard) = &guard {
            view.guard(guard.clone());
        }
        for key in &keys {
            view.delete(key.clone(), "delete");
        }
        Ok::<(), Status>(())
    });
    match removed.await {
        Ok(_) => Ok(()),
        Err(Refused::Store(error)) => Err(store_failure(&error)),
        Err(Refused::Decision(status)) => Err(status),
    }
}

async fn mark(client: &Client, key: &Key) -> Result<(), Status> {
    let Some(parts) = keys::parts(key) else { return Ok(()) };
    let plane = Plane::project(parts.plane);
    let Some(kind) = client.api().kinds().of(&plane).resource(parts.group, parts.plural).cloned() else {
        // A kind that is no longer served: no controller is left that would remove the finalizer.
        return remove(client, vec![key.clone()]).await;
    };
    let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    match client.delete(&kind, parts.namespace, parts.name, &options).await {
        Err(status) if matches!(status.code, 404 | 409) => Ok(()),
        other => other,
    }
}
