//! Sealed fields: moves values that were sent inline into a Secret, in the transaction of the object that they are of.
//!
//! A value is taken out of an object before anything else is done with it, so that it is part of no check, no error, no
//! history and no answer. Whether it is the one that is kept already is found out inside the seal: a writer who may not read
//! it writes nothing by sending it again.

use std::sync::Arc;

use krm::field::{FieldError, Path};
use krm::kind::{Address, CREDENTIALS, SEALED_NAMESPACE, secret_of};
use krm::status::Status;
use krm::{Object, base64};
use serde_json::{Map, Value};
use store::View;

use super::effects::landing::{self, Part};
use super::{delete, guarded::Guarded};
use crate::call::Call;
use crate::{keys, planes};

/// Longest name of a Secret. That of an object with credentials has to leave room for the name of its kind.
const LONGEST_NAME: usize = 253;

/// What is still to be written into the Secret of an object.
#[must_use]
#[derive(Default)]
pub struct Sealing {
    /// Each key with its new value; without one it goes.
    changes: Vec<(&'static str, Option<String>)>,
    /// Paths of the values that were sent, changed or not.
    sent: Vec<&'static str>,
    /// What the client should know.
    pub warnings: Vec<String>,
}

/// Takes sealed values out of what is to be written, and sets the references in their place. What an object says about its
/// references counts for nothing, unless it has none any more.
pub fn take(
    call: &Call,
    view: &mut View,
    old: Option<&Object>,
    name: &str,
    new: &mut Object,
) -> Result<Sealing, Status> {
    let mut sealing = Sealing::default();
    if call.kind.sealed.is_empty() {
        return Ok(sealing);
    }
    let secret = secret_of(&call.kind.names.singular, name);
    let mut kept = None;
    for field in &call.kind.sealed {
        let value = field.take(&mut new.0);
        sealing.sent.extend(value.as_ref().map(|_| field.path));
        if field.is_status() != (call.subresource == "status") {
            // It is not written through this endpoint.
            continue;
        }
        let before = old.and_then(|old| field.reference_in(&old.0)).cloned();
        let is_named = field.reference_in(&new.0).is_some();
        let reference = match value {
            // Sent, and empty: it goes.
            Some(value) if value.is_empty() => None,
            Some(value) => {
                if value.len() > field.most {
                    return Err(too_long(call, name, field.path, field.most));
                }
                if secret.len() > LONGEST_NAME {
                    let most = LONGEST_NAME - (secret.len() - name.len());
                    return Err(too_long(call, name, "metadata.name", most));
                }
                let values = match &kept {
                    Some(values) => values,
                    None => kept.insert(values(call, view, &secret)?),
                };
                let is_same = before.is_some() && values.get(field.key()).is_some_and(|kept| *kept == value);
                let generation =
                    before.as_ref().and_then(|before| before["generation"].as_i64()).unwrap_or(0);
                if !is_same {
                    sealing.changes.push((field.key(), Some(value)));
                }
                Some(field.to(&secret, generation + i64::from(!is_same)))
            }
            // Not sent: it stays as long as the reference does.
            None => before.filter(|_| is_named),
        };
        if is_named && reference.is_none() {
            let (path, of) = (field.reference(), field.path);
            sealing.warnings.push(format!("{path}: ignored, since the server sets it; send {of} instead"));
        }
        if reference.is_none() && old.is_some_and(|old| field.reference_in(&old.0).is_some()) {
            sealing.changes.push((field.key(), None));
        }
        field.refer(&mut new.0, reference);
    }
    Ok(sealing)
}

/// Whether the writer may change where a value is sent that stays: who knows it may, since it is sent along or may be read.
/// Else whoever may change an object, and not read its credentials, would have them sent to a server of their own.
pub fn may_move(call: &Call, old: &Object, new: &Object, sealing: &Sealing) -> Result<(), Status> {
    for field in &call.kind.sealed {
        let stays = field.reference_in(&new.0).is_some() && field.reference_in(&old.0).is_some();
        if !stays || sealing.sent.contains(&field.path) {
            continue;
        }
        let Some(moved) = field.moved(&old.0, &new.0) else { continue };
        if call.may_with("get", CREDENTIALS, &call.name).is_err() {
            let why = format!(
                "{moved} says where {path} is sent: changing it takes the permission to get {plural}/{CREDENTIALS}, or \
                 {path} in the same write",
                path = field.path,
                plural = call.kind.names.plural,
            );
            return Err(Status::forbidden(&call.kind.resource(), &call.name, why));
        }
    }
    Ok(())
}

impl Sealing {
    /// The changes of two steps of one write.
    pub fn and(mut self, other: Sealing) -> Sealing {
        self.changes.extend(other.changes);
        self.sent.extend(other.sent);
        self.warnings.extend(other.warnings);
        self
    }

    /// Writes the Secret, after the object itself.
    pub fn land(&self, call: &Call, view: &mut View, name: &str) -> Result<(), Status> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let at = address(&secret_of(&call.kind.names.singular, name));
        let landed = self.write(call, view, &at);
        landed.map_err(|failed| landing::hidden(call, &at, failed))
    }

    fn write(&self, call: &Call, view: &mut View, at: &Address) -> Result<(), Status> {
        let manager = call.kind.resource().to_string();
        let of = secret_call(call, at, &manager)?;
        if !view.exists(&of.key()?) {
            planes::ensure_namespace(&of, view)?;
            let mut secret = Object::new("v1", "Secret");
            secret.set_meta("name", Some(at.name.as_str().into()));
            secret.set_meta("namespace", Some(at.namespace.as_str().into()));
            secret.set("data", Some(self.applied(Map::new()).into()));
            return landing::make(&of, view, &manager, secret);
        }
        let mut is_empty = false;
        landing::change(&of, view, &manager, Part::Object, |secret| {
            let data = secret.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
            let data = self.applied(data);
            is_empty = data.is_empty();
            secret.set("data", Some(data.into()));
            Ok(())
        })?;
        if is_empty {
            return remove(&of, view);
        }
        Ok(())
    }

    fn applied(&self, mut data: Map<String, Value>) -> Map<String, Value> {
        for (key, value) in &self.changes {
            match value {
                Some(value) => drop(data.insert((*key).to_owned(), base64::encode(value.as_bytes()).into())),
                None => drop(data.remove(*key)),
            }
        }
        data
    }
}

/// Lets the sealed values of an object go with it.
pub fn release(call: &Call, view: &mut View, gone: &Object) -> Result<(), Status> {
    let has_any = call.kind.sealed.iter().any(|field| field.reference_in(&gone.0).is_some());
    if !has_any {
        return Ok(());
    }
    let at = address(&secret_of(&call.kind.names.singular, gone.name()));
    let of = secret_call(call, &at, &call.kind.resource().to_string())?;
    remove(&of, view).map_err(|failed| landing::hidden(call, &at, failed))
}

fn remove(of: &Call, view: &mut View) -> Result<(), Status> {
    match delete::decide(of, view, &delete::DeleteOptions::default()) {
        Err(status) if status.code == 404 => Ok(()),
        decided => decided.map(drop),
    }
}

/// The sealed values of an object, by key, as its Secret has them.
pub fn values(call: &Call, view: &mut View, secret: &str) -> Result<Map<String, Value>, Status> {
    let Ok(key) = keys::object(&call.plane, &address(secret)) else { return Ok(Map::new()) };
    let found = Guarded::new(view, &call.plane).entry(&key)?;
    Ok(found.map(|(_, secret)| decoded(&secret)).unwrap_or_default())
}

/// The values of a Secret as texts.
pub fn decoded(secret: &Object) -> Map<String, Value> {
    let data = secret.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
    let text = |value: &Value| String::from_utf8(base64::decode(value.as_str()?).ok()?).ok();
    data.iter().filter_map(|(key, value)| Some((key.clone(), text(value)?.into()))).collect()
}

/// Where the Secret of this name is.
pub fn address(secret: &str) -> Address {
    Address {
        group: String::new(),
        plural: "secrets".to_owned(),
        namespace: SEALED_NAMESPACE.to_owned(),
        name: secret.to_owned(),
    }
}

fn secret_call(call: &Call, at: &Address, manager: &str) -> Result<Call, Status> {
    let asker = call.asker.clone().unwrap_or_else(|| std::sync::Arc::new(call.clone()));
    landing::inside(call, asker, (call.plane.clone(), call.project), at, manager)
}

fn too_long(call: &Call, name: &str, path: &str, most: usize) -> Status {
    let error = FieldError::too_long(&Path::of(path), most);
    Status::invalid(&call.kind.subject(), name, &[error])
}

/// A text, such as an error that repeats what was sent, without the sealed values of an object in it.
pub fn without_values(kind: &krm::kind::Kind, sent: &Value, text: &str) -> String {
    let mut text = text.to_owned();
    let Some(mut sent) = sent.as_object().cloned() else { return text };
    for field in &kind.sealed {
        if let Some(value) = field.take(&mut sent).filter(|value| !value.is_empty()) {
            let escaped = Value::from(value.as_str()).to_string();
            let inner = escaped.trim_matches('"');
            text = text.replace(inner, krm::diff::REDACTED).replace(&value, krm::diff::REDACTED);
        }
    }
    text
}

/// Takes the sealed values out of a plan, which holds what its maker sent.
pub fn redact_plan(kinds: &crate::catalog::Catalog, plan: &mut Object) {
    let items = plan.0.get_mut("spec").and_then(|spec| spec.get_mut("items")).and_then(Value::as_array_mut);
    for item in items.into_iter().flatten() {
        let kind = ["object", "target"].iter().find_map(|part| {
            let of = item.get(*part)?;
            let (group, _) = krm::kind::split_api_version(of["apiVersion"].as_str()?);
            kinds.kind(group, of["kind"].as_str()?)
        });
        let Some(kind) = kind.filter(|kind| !kind.sealed.is_empty()).map(Arc::clone) else { continue };
        if let Some(object) = item.get_mut("object").and_then(Value::as_object_mut) {
            for field in &kind.sealed {
                if field.take(object).is_some() {
                    field.put_back(object, krm::diff::REDACTED);
                }
            }
        }
        if let Some(patch) = item.get_mut("patch") {
            *patch = krm::diff::REDACTED.into();
        }
    }
}
