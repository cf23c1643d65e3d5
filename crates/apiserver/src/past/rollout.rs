//! The history of rollouts of one object: a revision for each change of its specification, newest first.

use krm::Object;
use krm::diff;
use krm::kind::Rollout;
use krm::status::Status;
use krm::table::age;
use serde_json::{Map, Value, json};
use store::Change;

use super::as_of::kept;
use super::{history, moment, revision};
use crate::answer::{self, Answer};
use crate::call::Call;
use crate::request::accept::{Accept, Form};
use crate::request::query::Query;

/// How many revisions are told unless a client says so.
const USUAL: usize = 20;
/// How many are told at most.
const MOST: usize = 500;
/// Changes that are read at a time.
const PAGE: usize = 100;
const API_VERSION: &str = "groundplane.dev/v1alpha1";

/// Answers a request for the rollouts of the call's object.
pub async fn answer(call: &Call, accept: &Accept, query: &Query) -> Result<Answer, Status> {
    kept(call)?;
    let Some(rollout) = call.kind.rollout else { return Err(call.not_found()) };
    let limit = match query.number("limit")? {
        None | Some(0) => USUAL,
        Some(limit) if (1..=MOST as i64).contains(&limit) => limit as usize,
        Some(limit) => {
            return Err(Status::bad_request(format!("limit: {limit} must be between 1 and {MOST}")));
        }
    };
    let wanted = query.number("revision")?;
    let revisions = revisions(call, wanted, limit).await?;
    if let Some(number) = wanted {
        let Some(found) = revisions.first() else { return Err(no_such_revision(call, number)) };
        let mut told = found.to_json(call, &rollout, true);
        told["apiVersion"] = API_VERSION.into();
        told["kind"] = "RolloutRevision".into();
        told["spec"] = shown_spec(call, &found.after);
        return Ok(answer::object::value(accept, 200, &told));
    }
    if query.get("as") == Some("configmap") {
        return Ok(answer::object::value(accept, 200, &config_map(call, &rollout, &revisions)));
    }
    let with_diff = query.flag("diff").unwrap_or(false);
    let mut items: Vec<Value> =
        revisions.iter().map(|found| found.to_json(call, &rollout, with_diff)).collect();
    if let Some(newest) = items.first_mut() {
        newest["active"] = true.into();
    }
    let whole = match accept.form {
        Form::Table => table(call, accept, &revisions, &items),
        _ => {
            json!({ "apiVersion": API_VERSION, "kind": "RolloutRevisionList", "metadata": {}, "items": items })
        }
    };
    Ok(answer::object::value(accept, 200, &whole))
}

/// A change of the specification.
pub struct SpecChange {
    change: Change,
    before: Option<Object>,
    after: Object,
}

/// The state of the call's object in a revision, which is a generation of it.
pub async fn state(call: &Call, number: i64) -> Result<Object, Status> {
    let found = revisions(call, Some(number), 1).await?.into_iter().next();
    found.map(|found| found.after).ok_or_else(|| no_such_revision(call, number))
}

/// The changes of the specification of the object that is there, newest first: those up to a limit, or the one of a number.
async fn revisions(call: &Call, wanted: Option<i64>, limit: usize) -> Result<Vec<SpecChange>, Status> {
    let key = call.key()?;
    let read = |entry: &store::Entry| -> Result<Object, Status> {
        Ok(Object::from_value(revision::read(call, &key, entry)?).unwrap_or_default())
    };
    let (mut found, mut beyond, mut uid) = (Vec::new(), None, None);
    loop {
        let changes = history::changes(call, beyond, PAGE).await?;
        for change in changes.items {
            // Earlier lives of the name are other objects.
            let (Some(entry), true) = (&change.after, *uid.get_or_insert(change.uid) == change.uid) else {
                return ended(call, found, uid.is_none());
            };
            let after = read(entry)?;
            let before = change.before.as_deref().map(read).transpose()?;
            let is_same = before.as_ref().is_some_and(|before| before.generation() == after.generation());
            if is_same || wanted.is_some_and(|wanted| wanted != after.generation()) {
                continue;
            }
            found.push(SpecChange { change, before, after });
            if wanted.is_some() || found.len() >= limit {
                return Ok(found);
            }
        }
        match changes.next {
            Some(next) => beyond = Some(next),
            None => return ended(call, found, uid.is_none()),
        }
    }
}

fn ended(call: &Call, found: Vec<SpecChange>, is_nothing: bool) -> Result<Vec<SpecChange>, Status> {
    if is_nothing { Err(call.not_found()) } else { Ok(found) }
}

fn no_such_revision(call: &Call, number: i64) -> Status {
    let mut status = call.not_found();
    status.message = format!("{} {:?} has no revision {number}", call.kind.resource(), call.name);
    status
}

impl SpecChange {
    fn to_json(&self, call: &Call, rollout: &Rollout, with_diff: bool) -> Value {
        let change = &self.change;
        let mut told = json!({
            "revision": self.after.generation(),
            "resourceVersion": change.version.to_string(),
            "time": moment(change.time).to_micros(),
            "user": &*change.user,
            "manager": &*change.manager,
            "verb": &*change.verb,
            "image": (rollout.image)(&self.after),
            "changes": (rollout.describe)(self.before.as_ref(), &self.after),
            "templateHash": (rollout.hash)(&self.after),
        });
        if let Some(message) = &change.message {
            told["message"] = (&**message).into();
        }
        if with_diff {
            let spec = |object: &Object| json!({ "spec": object.get("spec") });
            let before = self.before.as_ref().map(spec);
            let differences = diff::between(before.as_ref(), Some(&spec(&self.after)));
            let shown = if call.kind.secret { diff::redacted(differences) } else { differences };
            told["diff"] = shown.iter().map(diff::Difference::to_json).collect();
        }
        told
    }
}

fn shown_spec(call: &Call, object: &Object) -> Value {
    let mut spec = json!({ "spec": object.get("spec") });
    if call.kind.secret {
        diff::redact(&mut spec);
    }
    spec["spec"].take()
}

/// The revisions as clients know them that kept their own in a ConfigMap.
fn config_map(call: &Call, rollout: &Rollout, revisions: &[SpecChange]) -> Value {
    let group = &call.kind.group;
    let mut data = Map::new();
    for found in revisions {
        let number = found.after.generation();
        let entry = json!({
            "rev": number,
            "timestamp": moment(found.change.time).to_string(),
            "image": (rollout.image)(&found.after),
            "changes": (rollout.describe)(found.before.as_ref(), &found.after),
            "actor": &*found.change.user,
            "templateHash": (rollout.hash)(&found.after).unwrap_or_default(),
            "spec": shown_spec(call, &found.after).to_string(),
        });
        data.insert(number.to_string(), entry.to_string().into());
    }
    let current = revisions.first().map_or(0, |newest| newest.after.generation());
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": format!("{group}-revision-history.{}", call.name),
            "namespace": call.namespace,
            "annotations": { format!("{group}/current-revision"): current.to_string() },
        },
        "data": data,
    })
}

fn table(call: &Call, accept: &Accept, revisions: &[SpecChange], items: &[Value]) -> Value {
    let column = |name: &str, description: &str| json!({ "name": name, "type": "string", "format": "", "description": description, "priority": 0 });
    let columns = json!([
        column("Rev", "Number of the revision"),
        column("Age", "Time since the change"),
        column("Image", "What was rolled out"),
        column("Changes", "What changed"),
        column("By", "User who made the change"),
        column("Message", "Message that the client sent with the change"),
    ]);
    let now = call.api.now();
    let row = |(found, item): (&SpecChange, &Value)| {
        let message = item["message"].as_str().unwrap_or_default();
        json!({
            "cells": [format!("#{}", item["revision"]), age(moment(found.change.time), now), item["image"], item["changes"], item["user"], message],
            "object": null,
        })
    };
    let rows = revisions.iter().zip(items).map(row).collect();
    krm::table::table(accept.version, Map::new(), columns, rows)
}
