//! Completes bindings with uids, so that a grant does not pass to a later object of the same name.

use apiserver::api::Api;
use apiserver::call::Call;
use apiserver::plane::Plane;
use krm::Object;
use krm::kind::Address;
use serde_json::Value;
use store::View;

use super::GROUP;
use super::authorizer::{Iam, key_of};
use super::roles::{At, SYSTEM_NAMESPACE};

/// Fills in the uids of the subjects and of the object of a binding, where they are left out. They may be made by the same
/// transaction.
pub fn complete(iam: &Iam, call: &Call, view: &mut View, object: &mut Object) {
    if call.kind.group != GROUP || call.kind.names.plural != "policybindings" || !call.subresource.is_empty()
    {
        return;
    }
    let Some(mut spec) = object.get("spec").cloned() else { return };
    if let Some(subjects) = spec.get_mut("subjects").and_then(Value::as_array_mut) {
        for subject in subjects.iter_mut().filter(|subject| is_empty(subject, "uid")) {
            if let Some(uid) = subject_uid(iam, call, subject).or_else(|| new_subject(call, view, subject)) {
                subject["uid"] = uid.into();
            }
        }
    }
    if let Some(reference) = spec.pointer_mut("/resourceSelector/resourceRef")
        && is_empty(reference, "uid")
        && let Some(uid) =
            uid_of(&call.api, &call.plane, reference).or_else(|| new_object(call, view, reference))
    {
        reference["uid"] = uid.into();
    }
    object.set("spec", Some(spec));
}

/// The uid of a subject that the same transaction makes.
pub fn new_subject(call: &Call, view: &mut View, subject: &Value) -> Option<String> {
    let text = |field: &str| subject.get(field).and_then(Value::as_str).unwrap_or_default();
    let (plural, own) = match text("kind") {
        "User" => ("users", ""),
        "Group" => ("groups", text("namespace")),
        "MachineAccount" => ("machineaccounts", text("namespace")),
        _ => return None,
    };
    let namespaces = match (plural, own.is_empty()) {
        ("users", _) => vec![""],
        ("groups", true) => vec![call.namespace.as_str(), SYSTEM_NAMESPACE],
        (_, true) => vec![call.namespace.as_str()],
        (_, false) => vec![own],
    };
    namespaces.into_iter().find_map(|namespace| {
        let at = Address {
            group: GROUP.to_owned(),
            plural: plural.to_owned(),
            namespace: namespace.to_owned(),
            name: text("name").to_owned(),
        };
        in_view(call, view, &apiserver::keys::object(&call.plane, &at).ok()?)
    })
}

/// The uid of an object that the same transaction makes.
fn new_object(call: &Call, view: &mut View, reference: &Value) -> Option<String> {
    let key = key_of(&call.api, &call.plane, reference)?;
    in_view(call, view, &key)
}

fn in_view(call: &Call, view: &mut View, key: &store::Key) -> Option<String> {
    let entry = view.get(key)?;
    let bytes = call.api.reveal(key, &entry).ok()?;
    Some(apiserver::encode::read(&bytes).ok()?.uid().to_owned())
}

/// The uid of whom a subject names.
pub fn subject_uid(iam: &Iam, call: &Call, subject: &Value) -> Option<String> {
    let text = |field: &str| subject.get(field).and_then(Value::as_str).unwrap_or_default();
    let (name, own) = (text("name"), text("namespace"));
    let namespaces = if own.is_empty() { vec![call.namespace.as_str(), SYSTEM_NAMESPACE] } else { vec![own] };
    let index = iam.index();
    let directory = &index.directory;
    match text("kind") {
        "User" => directory.user_uid(name).map(ToString::to_string),
        "Group" => {
            let mut found =
                namespaces.iter().filter_map(|namespace| directory.group_uid(&At::new("", namespace, name)));
            found.next().map(ToString::to_string)
        }
        "MachineAccount" => {
            // The address of an account names it in any plane: the root gives roles to those of projects.
            let at = match name.contains('@') {
                true => directory.machine_at(name)?.clone(),
                false => At::new(call.plane.as_str(), namespaces[0], name),
            };
            let is_within = call.plane.is_root() || at.plane.is_empty() || *at.plane == *call.plane.as_str();
            directory.machine_uid(&at).filter(|_| is_within).map(ToString::to_string)
        }
        "ServiceAccount" => {
            let at = Address {
                group: String::new(),
                plural: "serviceaccounts".to_owned(),
                namespace: namespaces[0].to_owned(),
                name: name.to_owned(),
            };
            let key = apiserver::keys::object(&call.plane, &at).ok()?;
            stored_uid(&call.api, &key)
        }
        _ => None,
    }
}

/// The uid of an object that is there, by group, kind, namespace and name.
pub fn uid_of(api: &Api, plane: &Plane, reference: &Value) -> Option<String> {
    stored_uid(api, &key_of(api, plane, reference)?)
}

fn stored_uid(api: &Api, key: &store::Key) -> Option<String> {
    let snapshot = api.store().latest();
    let bytes = api.reveal(key, snapshot.get(key)?).ok()?;
    Some(apiserver::encode::read(&bytes).ok()?.uid().to_owned())
}

fn is_empty(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_str).unwrap_or_default().is_empty()
}
