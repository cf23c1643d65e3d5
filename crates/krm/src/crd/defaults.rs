//! Defaulting and cleanup of a definition before validation.

use serde_json::{Map, Value, json};

use super::conditions::{set_condition, terminating};
use super::spec::{flag, text};
use crate::Object;

/// The finalizer that keeps a definition until the last of its objects is gone.
pub const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Fills in what a definition leaves out. Also what is read from the store goes through this.
pub fn default(object: &mut Object) {
    let storage = storage_version(object);
    if let Some(spec) = object.0.get_mut("spec").and_then(Value::as_object_mut) {
        if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
            default_names(names);
        }
        spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
        let service =
            spec.get_mut("conversion").and_then(|it| it.pointer_mut("/webhook/clientConfig/service"));
        if let Some(service) = service.and_then(Value::as_object_mut) {
            service.entry("port").or_insert_with(|| json!(443));
        }
    }
    let Some(status) = object.0.get_mut("status").and_then(Value::as_object_mut) else { return };
    let stored = status.entry("storedVersions").or_insert(Value::Null);
    if stored.as_array().is_none_or(Vec::is_empty)
        && let Some(storage) = storage
    {
        *stored = json!([storage]);
    }
}

/// Sets what a client has no say in when it makes a definition: an empty status that names the storage version.
pub fn prepare_for_create(object: &mut Object) {
    object.set_meta("generation", Some(1.into()));
    let stored = storage_version(object).map(|version| json!([version]));
    let status = json!({
        "acceptedNames": {"kind": "", "plural": ""},
        "conditions": null,
        "storedVersions": stored,
    });
    object.set("status", Some(status));
}

/// Sets what a client has no say in when it changes a definition: the status stays, and the storage version is added to
/// those that were stored. The generation rises with the spec.
pub fn prepare_for_update(new: &mut Object, old: &Object) {
    new.set("status", old.get("status").cloned());
    if new.get("spec") != old.get("spec") {
        new.set_meta("generation", Some((old.generation() + 1).into()));
    }
    let Some(storage) = storage_version(new) else { return };
    let Some(status) = new.0.get_mut("status").and_then(Value::as_object_mut) else { return };
    let stored = status.entry("storedVersions").or_insert(Value::Null);
    if !stored.is_array() {
        *stored = json!([]);
    }
    if let Some(stored) = stored.as_array_mut()
        && !stored.iter().any(|version| *version == storage)
    {
        stored.push(storage.into());
    }
}

/// Sets what a client has no say in when it writes a definition's status: the spec.
pub fn prepare_for_status_update(new: &mut Object, old: &Object) {
    new.set("spec", old.get("spec").cloned());
}

/// Marks a definition for deletion: it stays, with a finalizer, until its objects are gone.
pub fn mark_for_deletion(object: &mut Object, now: &str) {
    if !object.is_deleting() {
        object.set_meta("deletionTimestamp", Some(now.into()));
    }
    let mut finalizers: Vec<String> = object.finalizers().into_iter().map(ToOwned::to_owned).collect();
    if !finalizers.iter().any(|finalizer| finalizer == CLEANUP_FINALIZER) {
        finalizers.push(CLEANUP_FINALIZER.to_owned());
        object.set_finalizers(finalizers);
    }
    set_condition(object, &terminating(), now);
}

fn default_names(names: &mut Map<String, Value>) {
    let at = |field: &str| names.get(field).and_then(Value::as_str).unwrap_or("");
    let kind = at("kind").to_owned();
    if kind.is_empty() {
        return;
    }
    if at("singular").is_empty() {
        names.insert("singular".into(), kind.to_lowercase().into());
    }
    let at = |field: &str| names.get(field).and_then(Value::as_str).unwrap_or("");
    if at("listKind").is_empty() {
        names.insert("listKind".into(), format!("{kind}List").into());
    }
}

fn storage_version(object: &Object) -> Option<String> {
    let versions = object.at("spec.versions").and_then(Value::as_array)?;
    let storage = versions.iter().find(|version| flag(version, "storage"))?;
    Some(text(storage, "name").to_owned())
}
