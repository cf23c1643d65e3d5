//! Preconditions of a transaction: what must hold of objects that it does not write.

use std::sync::Arc;

use krm::kind::split_api_version;
use krm::status::{Status, Subject};
use serde_json::Value;
use store::{Key, View};

use super::Along;
use crate::call::Call;
use crate::write::{self, guarded::Guarded};

/// What must hold of one object.
struct Precondition {
    key: Key,
    subject: Subject,
    name: String,
    must: Must,
}

enum Must {
    /// No object is there.
    BeAbsent,
    /// No object with this uid is there.
    BeAnother(String),
    /// It is there, with this uid and at this version, where they are given.
    Be { uid: Option<String>, version: Option<String> },
}

/// The preconditions of a transaction's `spec`; `None` if it has none.
pub fn read(call: &Call, spec: &Value) -> Result<Option<Along>, Status> {
    let project = spec.get("projectUid").and_then(Value::as_str);
    if let Some(uid) = project
        && call.project != Some(write::uid_of(uid))
    {
        let subject =
            call.api.kinds().planes().map_or_else(|| call.kind.resource(), |planes| planes.subject());
        let why = "the project was deleted, and created again under its name; nothing was written";
        return Err(Status::conflict(&subject, call.plane.as_str(), why));
    }
    let list = match spec.get("preconditions") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Status::bad_request("spec.preconditions: must be a list")),
    };
    let read = |(index, value): (usize, &Value)| {
        Precondition::read(call, value).map_err(|mut status| {
            status.message = format!("spec.preconditions[{index}]: {}", status.message);
            status
        })
    };
    let all: Vec<Precondition> = list.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let plane = call.plane.clone();
    Ok(Some(Arc::new(move |view: &mut View| {
        all.iter().try_for_each(|one| one.check(&mut Guarded::new(view, &plane)))
    })))
}

impl Precondition {
    fn read(call: &Call, value: &Value) -> Result<Precondition, Status> {
        let of = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        let target = value.get("target").unwrap_or(&Value::Null);
        let text = |field: &str| of(target, field).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let (group, _) = split_api_version(&api_version);
        let Some(kind) = call.catalog.kind(group, &kind) else {
            let why = format!("no matches for kind {kind:?} in version {api_version:?}");
            return Err(Status::failure(404, "NotFound", why));
        };
        if text("name").is_empty() || kind.is_namespaced() == text("namespace").is_empty() {
            return Err(Status::bad_request("target: needs a name, and a namespace if the kind has them"));
        }
        let one = call.about(kind.clone(), kind.storage, text("namespace"), text("name"));
        // Whether it exists is told by the outcome.
        one.may("get", &one.name)?;
        let (uid, version) = (of(value, "uid"), of(value, "resourceVersion"));
        let must = match (value["absent"] == true, uid) {
            (true, None) => Must::BeAbsent,
            (true, Some(uid)) => Must::BeAnother(uid),
            (false, uid) => Must::Be { uid, version },
        };
        Ok(Precondition { key: one.key()?, subject: kind.resource(), name: one.name, must })
    }

    /// The read is a guard of the commit.
    fn check(&self, stored: &mut Guarded<'_>) -> Result<(), Status> {
        let found = stored.entry(&self.key)?;
        let conflict = |why: &str| Err(Status::conflict(&self.subject, &self.name, why));
        match (&self.must, found) {
            (Must::BeAbsent, Some(_)) => conflict("precondition: the object exists"),
            (Must::BeAnother(uid), Some((_, object))) if object.uid() == uid => {
                conflict("precondition: the object exists after all")
            }
            (Must::Be { .. }, None) => conflict("precondition: the object does not exist"),
            (Must::Be { uid: Some(uid), .. }, Some((_, object))) if object.uid() != uid => {
                conflict("precondition: the object was deleted and created again")
            }
            (Must::Be { version: Some(version), .. }, Some((entry, _)))
                if entry.version().to_string() != *version =>
            {
                conflict("precondition: the object has been modified")
            }
            _ => Ok(()),
        }
    }
}
