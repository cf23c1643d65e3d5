//! The revisions of one object, newest first, including deleted objects.

use std::sync::Arc;

use krm::base64;
use krm::status::Status;
use krm::table::age;
use serde_json::{Value, json};
use store::{Change, Changes, Cursor, Entry, Version};

use super::as_of::{AsOf, kept};
use super::revision::{self, Revision};
use super::{failure, moment};
use crate::answer::{self, Answer};
use crate::call::Call;
use crate::planes;
use crate::request::accept::{Accept, Form};
use crate::request::query::Query;

/// How many revisions are told unless a client says so.
const USUAL: usize = 100;
/// How many are told at most.
const MOST: usize = 1000;
/// The version of what is told.
const API_VERSION: &str = "groundplane.dev/v1alpha1";

/// Answers a request for the history of the call's object.
pub async fn answer(call: &Call, accept: &Accept, query: &Query) -> Result<Answer, Status> {
    kept(call)?;
    if let Some(text) = query.get("revision").filter(|text| !text.is_empty()) {
        return Ok(answer::object::value(accept, 200, &one(call, text).await?));
    }
    let limit = match query.number("limit")? {
        None | Some(0) => USUAL,
        Some(limit) if (1..=MOST as i64).contains(&limit) => limit as usize,
        Some(limit) => {
            return Err(Status::bad_request(format!("limit: {limit} must be between 1 and {MOST}")));
        }
    };
    let beyond = query.get("continue").filter(|text| !text.is_empty()).map(cursor).transpose()?;
    let changes = changes(call, beyond, limit).await?;
    if changes.items.is_empty() && beyond.is_none() {
        return Err(call.not_found());
    }
    let with_diff = query.flag("diff").unwrap_or(false);
    let items = told(call, &changes.items, with_diff)?;
    let mut metadata = json!({});
    if let Some(next) = changes.next {
        metadata["continue"] = token(next)?.into();
    }
    let whole = match accept.form {
        Form::Table => table(call, accept, &changes.items, &items, metadata),
        _ => {
            json!({ "apiVersion": API_VERSION, "kind": "RevisionList", "metadata": metadata, "items": items })
        }
    };
    Ok(answer::object::value(accept, 200, &whole))
}

/// Changes of the call's object, newest first; not those of an earlier project of the same name.
pub async fn changes(call: &Call, beyond: Option<Cursor>, limit: usize) -> Result<Changes, Status> {
    let key = call.key()?;
    let found = call.api.store().changes(&key, beyond, limit).await;
    let mut changes = found.map_err(|error| failure(&call.name, &error))?;
    if let Some(born) = planes::born(&call.api, &call.plane) {
        let all = changes.items.len();
        changes.items.retain(|change| change.time >= born);
        if changes.items.len() < all {
            changes.next = None;
        }
    }
    Ok(changes)
}

/// Each change as history tells it. A state that lies between two changes is read once.
fn told(call: &Call, changes: &[Change], with_diff: bool) -> Result<Vec<Value>, Status> {
    let key = call.key()?;
    let mut last: Option<(Arc<Entry>, Value)> = None;
    let mut items = Vec::with_capacity(changes.len());
    for change in changes {
        let after = match (&change.after, last.take()) {
            (Some(entry), Some((known, value))) if Arc::ptr_eq(entry, &known) => Some(value),
            (Some(entry), _) => Some(revision::read(call, &key, entry)?),
            (None, _) => None,
        };
        let before = match &change.before {
            Some(entry) => Some(revision::read(call, &key, entry)?),
            None => None,
        };
        items.push(Revision::new(call, change, before.as_ref(), after.as_ref()).to_json(with_diff));
        last = change.before.clone().zip(before);
    }
    Ok(items)
}

/// One revision with what it changed and the whole object.
async fn one(call: &Call, text: &str) -> Result<Value, Status> {
    let version: Version = text
        .parse()
        .map_err(|_| Status::bad_request(format!("revision: {text:?} is not a valid revision")))?;
    let key = call.key()?;
    let change = find(call, version).await?;
    let Some(change) = change else { return Err(no_such_revision(call, text)) };
    let mut told = told(call, std::slice::from_ref(&change), true)?.pop().unwrap_or_default();
    told["apiVersion"] = API_VERSION.into();
    told["kind"] = "Revision".into();
    if let Some(entry) = change.after.as_ref().or(change.before.as_ref()) {
        told["object"] = revision::shown(call, &key, entry)?;
    }
    Ok(told)
}

/// The change of the call's object at exactly this version.
async fn find(call: &Call, version: Version) -> Result<Option<Change>, Status> {
    let mut beyond = None;
    loop {
        let changes = changes(call, beyond, USUAL).await?;
        for change in changes.items {
            if change.version <= version {
                return Ok(Some(change).filter(|change| change.version == version));
            }
        }
        let Some(next) = changes.next else { return Ok(None) };
        beyond = Some(next);
    }
}

/// The object of the call right after a revision.
pub async fn state(call: &Call, text: &str) -> Result<Arc<Entry>, Status> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(Status::bad_request(format!("{text:?} is not a valid revision")));
    }
    let found = AsOf::parse(text, call.api.now())?.object(call).await?;
    found.ok_or_else(|| no_such_revision(call, text))
}

fn no_such_revision(call: &Call, text: &str) -> Status {
    let mut status = call.not_found();
    status.message = format!("{} has no revision {text}", named(call, &call.name));
    status
}

fn named(call: &Call, name: &str) -> String {
    format!("{} {:?}", call.kind.resource(), name)
}

fn token(cursor: Cursor) -> Result<String, Status> {
    serde_json::to_vec(&cursor).map(|json| base64::url(&json)).map_err(Status::internal)
}

fn cursor(text: &str) -> Result<Cursor, Status> {
    let read = base64::from_url(text).and_then(|json| serde_json::from_slice(&json).ok());
    read.ok_or_else(|| Status::bad_request("continue: must be the continue token of an earlier page"))
}

fn table(call: &Call, accept: &Accept, changes: &[Change], items: &[Value], metadata: Value) -> Value {
    let of_priority = |priority: u8, name: &str, description: &str| json!({ "name": name, "type": "string", "format": "", "description": description, "priority": priority });
    let column = |name: &str, description: &str| of_priority(0, name, description);
    let columns = json!([
        column("Revision", "Resource version of the object after the change"),
        column("Age", "Time since the change"),
        column("User", "User who made the change"),
        of_priority(1, "Manager", "Field manager of the change"),
        column("Verb", "Verb of the request"),
        column("Changed", "Fields that changed"),
        column("Message", "Message that the client sent with the change"),
    ]);
    let now = call.api.now();
    let row = |(change, item): (&Change, &Value)| {
        let paths: Vec<&str> =
            item["changed"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let few = match paths.len() {
            0..=3 => paths.join(","),
            more => format!("{},… ({more})", paths[..2].join(",")),
        };
        let message = change.message.as_deref().unwrap_or_default();
        json!({
            "cells": [item["revision"], age(moment(change.time), now), item["user"], item["manager"], item["verb"], few, message],
            "object": null,
        })
    };
    let rows = changes.iter().zip(items).map(row).collect();
    krm::table::table(accept.version, metadata.as_object().cloned().unwrap_or_default(), columns, rows)
}
