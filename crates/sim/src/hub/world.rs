//! What a simulated hub sees, and how it writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use client::{Client, DeleteOptions, Patch};
use krm::Object;
use serde_json::{Value, json};

use super::Fault;

/// The objects of the namespace, and since when each is as it is.
pub struct World {
    client: Client,
    /// Namespace that it looks at.
    pub namespace: String,
    step: Duration,
    faults: Arc<Mutex<BTreeSet<Fault>>>,
    objects: BTreeMap<&'static str, BTreeMap<String, Object>>,
    since: BTreeMap<(&'static str, String), (String, Instant)>,
    /// What was written and has not been seen yet is not written again.
    written: BTreeSet<(&'static str, String)>,
}

impl World {
    /// Nothing was seen yet.
    pub fn new(
        client: Client,
        namespace: String,
        step: Duration,
        faults: Arc<Mutex<BTreeSet<Fault>>>,
    ) -> World {
        let (objects, since, written) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        World { client, namespace, step, faults, objects, since, written }
    }

    /// Takes in an object, or that it is gone.
    pub fn saw(&mut self, plural: &'static str, name: String, object: Option<Object>) {
        self.written.remove(&(plural, name.clone()));
        let all = self.objects.entry(plural).or_default();
        match object {
            Some(object) => drop(all.insert(name, object)),
            None => {
                all.remove(&name);
                self.since.remove(&(plural, name));
            }
        }
    }

    /// The objects of a resource that have nothing unseen written to them.
    pub fn all(&self, plural: &'static str) -> Vec<Object> {
        let objects = self.objects.get(plural).into_iter().flatten();
        let settled = objects.filter(|(name, _)| !self.written.contains(&(plural, (*name).clone())));
        settled.map(|(_, object)| object.clone()).collect()
    }

    /// An object.
    pub fn get(&self, plural: &'static str, name: &str) -> Option<&Object> {
        self.objects.get(plural)?.get(name)
    }

    /// Whether an object has been in a state for as long as a step takes.
    pub fn is_due(&mut self, plural: &'static str, name: &str, state: &str) -> bool {
        let key = (plural, name.to_owned());
        let now = Instant::now();
        match self.since.get(&key) {
            Some((before, since)) if before == state => now.duration_since(*since) >= self.step,
            _ => {
                self.since.insert(key, (state.to_owned(), now));
                false
            }
        }
    }

    /// Whether it does this wrong.
    pub fn has(&self, fault: &Fault) -> bool {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).contains(fault)
    }

    /// Changes an object.
    pub async fn patch(&mut self, (api, plural): (&str, &'static str), name: &str, patch: Value) {
        let all = self.client.resource(api, plural).in_namespace(&self.namespace).managed_by("sim");
        if all.patch(name, &Patch::Merge(patch)).await.is_ok() {
            self.written.insert((plural, name.to_owned()));
        }
    }

    /// Changes the status of an object.
    pub async fn patch_status(&mut self, (api, plural): (&str, &'static str), name: &str, patch: Value) {
        let all = self.client.resource(api, plural).in_namespace(&self.namespace).managed_by("sim");
        if all.patch_status(name, &Patch::Merge(json!({ "status": patch }))).await.is_ok() {
            self.written.insert((plural, name.to_owned()));
        }
    }

    /// Creates an object.
    pub async fn create(&mut self, (api, plural): (&str, &'static str), object: Value) {
        let all = self.client.resource(api, plural).in_namespace(&self.namespace).managed_by("sim");
        if let Some(object) = Object::from_value(object) {
            let _ = all.create(&object).await;
        }
    }

    /// Deletes an object.
    pub async fn delete(&mut self, (api, plural): (&str, &'static str), name: &str) {
        let all = self.client.resource(api, plural).in_namespace(&self.namespace);
        let _ = all.delete(name, &DeleteOptions::default()).await;
    }

    /// Adds a finalizer to an object.
    pub async fn hold(&mut self, at: (&str, &'static str), object: &Object, finalizer: &str) {
        let mut all: Vec<String> = object.finalizers().into_iter().map(str::to_owned).collect();
        all.push(finalizer.to_owned());
        let patch = json!({"metadata": {"finalizers": all, "resourceVersion": object.resource_version()}});
        self.patch(at, object.name(), patch).await;
    }

    /// Takes a finalizer from an object.
    pub async fn let_go(&mut self, at: (&str, &'static str), object: &Object, finalizer: &str) {
        let left: Vec<&str> = object.finalizers().into_iter().filter(|it| *it != finalizer).collect();
        let patch = json!({"metadata": {"finalizers": left, "resourceVersion": object.resource_version()}});
        self.patch(at, object.name(), patch).await;
    }
}

/// Text at a path of an object.
pub fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

/// The time, as conditions have it.
pub fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    krm::time::Moment::of_seconds(i64::try_from(since.as_secs()).unwrap_or_default()).to_string()
}

/// A condition.
pub fn condition(kind: &str, holds: bool, reason: &str) -> Value {
    let status = if holds { "True" } else { "False" };
    json!({"type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": now()})
}
