//! Secrets without their values, for those who may see that one is there and not what it holds.

pub mod tokens;

use krm::Object;
use krm::diff::{Difference, Step};
use krm::field::{FieldError, Path};
use krm::kind::Kind;
use krm::status::Status;
use serde_json::Value;
use store::Change;

use crate::call::Call;
use crate::kinds::{MOST_SECRET_BYTES, decoded_size};
use crate::transaction;
use tokens::Stray;

/// Marks a secret that is shown without its values. It can't be written back: the values would be lost.
pub const REDACTED: &str = "groundplane.dev/redacted";
/// Where the audit log says whether a request was shown values.
pub const AUDITED: &str = "groundplane.dev/secret-values";
/// Where kubectl keeps what it applied, values and all.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The fields of a Secret that hold values by key.
const VALUES: [&str; 2] = ["data", "stringData"];

/// Whether objects of a kind are Secrets. Other kinds are sealed at rest as well, but have no values to reveal.
pub fn is_secret(kind: &Kind) -> bool {
    kind.secret && are_at(&kind.group, &kind.names.plural)
}

/// Whether Secrets are kept under this group and resource.
pub fn are_at(group: &str, plural: &str) -> bool {
    group.is_empty() && plural == "secrets"
}

/// Takes the values out of a secret: its keys stay, each with nothing in it, so that clients can still read it.
pub fn redact(object: &mut Object) {
    for field in VALUES {
        let Some(mut values) = object.get(field).cloned() else { continue };
        for value in values.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
            *value = Value::from("");
        }
        object.set(field, Some(values));
    }
    let mut notes = object.meta("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    notes.remove(LAST_APPLIED);
    notes.insert(REDACTED.to_owned(), "true".into());
    object.set_meta("annotations", Some(notes.into()));
}

/// Takes the values of Secrets out of a plan, which holds what its maker sent. Nobody is shown those: who reads a plan need
/// not be allowed to reveal the Secrets that it writes.
pub fn redact_plan(plan: &mut Object) {
    let items = plan.0.get_mut("spec").and_then(|spec| spec.get_mut("items")).and_then(Value::as_array_mut);
    for item in items.into_iter().flatten() {
        let is_secret = |of: &Value| of["apiVersion"] == "v1" && of["kind"] == "Secret";
        if let Some(object) = item.get_mut("object").filter(|object| is_secret(object)) {
            krm::diff::redact(object);
        }
        let is_about_one = ["object", "target"].iter().any(|field| item.get(*field).is_some_and(is_secret));
        if is_about_one && let Some(patch) = item.get_mut("patch") {
            *patch = krm::diff::REDACTED.into();
        }
    }
}

/// Whether a kind is that of plans.
pub fn is_plan(kind: &Kind) -> bool {
    kind.group == transaction::GROUP && kind.names.plural == "plans"
}

/// Why a write is refused that would move a value to another field.
pub fn moves_a_value(call: &Call, stray: &Stray) -> Status {
    let why = format!(
        "{} would hold the value of {}, and moving or copying the values of a Secret takes the permission to reveal it \
         (the verb reveal; get under RBAC); leave the field out, or ask for that permission",
        stray.at, stray.of
    );
    Status::forbidden(&call.kind.resource(), &call.name, why)
}

/// Whether a Secret is larger than one may be, now that its values are in it.
pub fn too_large(call: &Call, secret: &Object) -> Option<Status> {
    let values = secret.get("data").and_then(Value::as_object)?.values();
    (values.map(decoded_size).sum::<usize>() > MOST_SECRET_BYTES).then(|| {
        let error = FieldError::too_long(&Path::of("data"), MOST_SECRET_BYTES);
        Status::invalid(&call.kind.subject(), secret.name(), &[error])
    })
}

/// Leaves out the sealed values that a change did not set, for a caller who is not shown whether they differ: which it set
/// is told by whose fields they are after it, since that is the same whatever the values are.
pub fn retain_claimed(differences: &mut Vec<Difference>, change: &Change, after: Option<&Value>) {
    differences.retain(|difference| {
        let is_value = difference.before.is_some() && difference.after.is_some();
        !is_value || !is_sealed(&difference.path) || is_claimed(after, &change.manager, &difference.path)
    });
}

fn is_sealed(path: &[Step]) -> bool {
    let names: Vec<&str> = path
        .iter()
        .map(|step| match step {
            Step::Field(name) => name.as_str(),
            Step::Item(_) => "",
        })
        .collect();
    match names.as_slice() {
        [first, ..] if VALUES.contains(first) => true,
        ["metadata", "annotations", noted, ..] => *noted == LAST_APPLIED,
        _ => false,
    }
}

fn is_claimed(object: Option<&Value>, manager: &str, path: &[Step]) -> bool {
    let entries = object.and_then(|object| object.pointer("/metadata/managedFields")?.as_array());
    let mut own = entries.into_iter().flatten().filter(|entry| entry["manager"] == manager).peekable();
    // Who owns nothing at all may have set anything.
    own.peek().is_none()
        || own.any(|entry| {
            let found = path.iter().try_fold(&entry["fieldsV1"], |fields, step| match step {
                Step::Field(name) => fields.get(format!("f:{name}")),
                Step::Item(_) => None,
            });
            found.is_some()
        })
}
