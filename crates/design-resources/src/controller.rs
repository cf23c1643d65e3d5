//! The design controller: compiles a design when one of its documents changes, and writes the result to its status.

use std::time::Duration;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::controllers::queue::Queue;
use apiserver::controllers::{Controller, Next};
use apiserver::handle::question::Seen;
use apiserver::plane::Plane;
use apiserver::{encode, keys};
use krm::Object;
use krm::kind::{QueryContext, Resource};
use krm::status::Status;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{Entry, Key};

use crate::compiled_design::{self, CompiledDesign};
use crate::kinds::{Design, DesignRevision, GROUP};
use crate::verdict::{self, Summary};

/// Debounce: a design waits this long for further changes before it is compiled.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Reconciles designs.
pub struct DesignController;

impl Controller for DesignController {
    const NAME: &'static str = "design-controller";

    fn map(&self, api: &Api, key: &Key, before: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        let Some(parts) = keys::parts(key).filter(|parts| parts.plane.is_empty()) else { return };
        // Only CRDs, whose groups contain a dot, can be user-defined kinds of a design.
        if parts.namespace.is_empty() || (parts.group != GROUP && !parts.group.contains('.')) {
            return;
        }
        if parts.group == GROUP && parts.plural == Design::PLURAL {
            if after.is_some() && generation(before) != generation(after) {
                queue.add(key.clone());
            }
            return;
        }
        if before.is_some()
            && after.is_some()
            && parts.group == GROUP
            && generation(before) == generation(after)
            && !relabelled(before, after)
        {
            return;
        }
        let designs = keys::in_namespace(&Plane::root(), GROUP, Design::PLURAL, parts.namespace);
        for (design, _) in api.store().latest().list(designs.as_bytes()) {
            queue.add_after(design.clone(), DEBOUNCE);
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let catalog = client.api().kinds().of(&Plane::root());
        let Some(kind) = catalog.resource(GROUP, Design::PLURAL) else { return Ok(Next::Done) };
        let Some(object) = client.read(kind, parts.namespace, parts.name) else { return Ok(Next::Done) };
        let snapshot = client.api().store().latest();
        let seen = Seen { api: client.api().clone(), plane: Plane::root(), snapshot };
        let now = client.api().now().to_string();
        // Compiling a large site takes a while, so it must not block the executor.
        let looked = tokio::task::spawn_blocking(move || compute_status(object, &seen, &now));
        let Some((object, status)) = looked.await.map_err(Status::internal)? else { return Ok(Next::Done) };
        if object.get("status") == Some(&status) {
            return Ok(Next::Done);
        }
        let mut new = object;
        new.set("status", Some(status));
        client.update_status(new).await?;
        Ok(Next::Done)
    }
}

/// A design and its computed status.
fn compute_status(object: Object, look: &dyn QueryContext, now: &str) -> Option<(Object, Value)> {
    let design = Design::deserialize(&Value::Object(object.0.clone())).ok()?;
    let objects = compiled_design::objects_now(&design, look);
    let result = CompiledDesign::of(compiled_design::in_objects(&design, &objects, look));
    let verdict = Summary::of(&result);
    let mut status = serde_json::to_value(&verdict).ok()?;
    status["conditions"] = verdict::written(&verdict::conditions(&result, &verdict), &object, now);
    status["sources"] = json!(compiled_design::sources(&objects));
    status["observedGeneration"] = json!(object.generation());
    let revisions = look.having(GROUP, DesignRevision::PLURAL, "spec.design", &design.metadata.name);
    let numbers = revisions
        .iter()
        .filter(|revision| revision.namespace() == design.metadata.namespace)
        .filter_map(|revision| revision.at("spec.number").and_then(Value::as_i64));
    if let Some(latest) = numbers.max() {
        status["latestRevision"] = json!(latest);
    }
    Some((object, status))
}

fn generation(entry: Option<&Entry>) -> Option<i64> {
    entry.and_then(|entry| encode::read(entry.bytes()).ok()).map(|object| object.generation())
}

fn relabelled(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    let labels = |entry: Option<&Entry>| {
        entry
            .and_then(|entry| encode::read(entry.bytes()).ok())
            .and_then(|object| object.meta("labels").cloned())
    };
    labels(before) != labels(after)
}
