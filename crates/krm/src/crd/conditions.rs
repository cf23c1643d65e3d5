//! Conditions in the status of a definition.

use serde_json::{Map, Value, json};

use super::json_schema::JsonSchema;
use super::schema::{first_unsupported, structural_faults};
use super::spec::{given, text};
use super::validate::{Approval, approval};
use crate::Object;
use crate::field::{FieldError, Path};

/// One condition in the status of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// `Established`, `NamesAccepted`, `NonStructuralSchema`, `Terminating`, …
    pub kind: &'static str,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// For programs.
    pub reason: &'static str,
    /// For people.
    pub message: String,
}

impl Condition {
    pub(super) fn new(
        kind: &'static str,
        status: &'static str,
        reason: &'static str,
        message: impl Into<String>,
    ) -> Condition {
        Condition { kind, status, reason, message: message.into() }
    }

    /// Whether this is already what the status says.
    pub fn is_said_by(&self, object: &Object) -> bool {
        find(object, self.kind).is_some_and(|said| {
            text(said, "status") == self.status
                && text(said, "reason") == self.reason
                && text(said, "message") == self.message
        })
    }
}

/// Whether the status says that this is so.
pub fn is_true(object: &Object, kind: &str) -> bool {
    find(object, kind).is_some_and(|condition| text(condition, "status") == "True")
}

/// Says this in the status. Its time is `now` only where its status changes.
pub fn set_condition(object: &mut Object, condition: &Condition, now: &str) {
    let list = conditions_mut(object);
    let index = list.iter().position(|said| text(said, "type") == condition.kind).unwrap_or_else(|| {
        list.push(json!({"type": condition.kind}));
        list.len() - 1
    });
    let Some(said) = list[index].as_object_mut() else { return };
    let stands = said.get("status").is_some_and(|status| status == condition.status)
        && said.get("lastTransitionTime").is_some_and(Value::is_string);
    if !stands {
        said.insert("lastTransitionTime".into(), now.into());
    }
    said.insert("status".into(), condition.status.into());
    for (field, word) in [("reason", condition.reason), ("message", &*condition.message)] {
        match word {
            "" => said.remove(field),
            word => said.insert(field.into(), word.into()),
        };
    }
}

/// Says nothing about this any more.
pub fn remove_condition(object: &mut Object, kind: &str) {
    conditions_mut(object).retain(|said| text(said, "type") != kind);
}

/// What a definition says of itself once it is marked for deletion.
pub fn terminating() -> Condition {
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    Condition::new("Terminating", "True", "InstanceDeletionPending", message)
}

/// What it says while its objects are being deleted.
pub fn deleting_instances() -> Condition {
    let message = "CustomResource deletion is in progress";
    Condition::new("Terminating", "True", "InstanceDeletionInProgress", message)
}

/// What it says when they can't be, and why.
pub fn instances_not_deleted(why: &str) -> Condition {
    let message = format!("could not issue all deletes: {why}");
    Condition::new("Terminating", "True", "InstanceDeletionFailed", message)
}

/// What it says when they are gone, or never were.
pub fn instances_deleted(was_established: bool) -> Condition {
    let (reason, message) = match was_established {
        true => ("InstanceDeletionCompleted", "removed all instances"),
        false => ("NeverEstablished", "resource was never established"),
    };
    Condition::new("Terminating", "False", reason, message)
}

/// What a definition says of schemas that are not structural; `None` when all are.
pub fn non_structural_schema(object: &Object) -> Option<Condition> {
    let spec = Path::of("spec");
    let mut errors = Vec::new();
    if object.at("spec.preserveUnknownFields") == Some(&Value::Bool(true)) {
        let path = spec.field("preserveUnknownFields");
        errors.push(FieldError::invalid(&path, &true.into(), "must be false"));
    }
    let versions = spec.field("versions");
    let list = object.at("spec.versions").and_then(Value::as_array);
    for (index, version) in list.into_iter().flatten().enumerate() {
        let schema = given(version, "schema").and_then(|it| given(it, "openAPIV3Schema"));
        let Some(schema) = schema.map(JsonSchema::parse) else { continue };
        if let Some(why) = first_unsupported(&schema) {
            let name = text(version, "name");
            let message = format!("failed to check validation schema for version {name}: {why}");
            return Some(Condition::new("NonStructuralSchema", "Unknown", "StructuralError", message));
        }
        let version = versions.index(index);
        let path = version.field("schema");
        errors.extend(structural_faults(&schema, &path.field("openAPIV3Schema")));
    }
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let message = match texts.as_slice() {
        [] => return None,
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    Some(Condition::new("NonStructuralSchema", "True", "Violations", message))
}

/// What a definition in a group of the Kubernetes community says about its approval; `None` in other groups.
pub fn approval_condition(object: &Object) -> Option<Condition> {
    let (approval, message) = approval(object)?;
    let (status, reason) = match approval {
        Approval::Approved => ("True", "ApprovedAnnotation"),
        Approval::Bypassed => ("False", "UnapprovedAnnotation"),
        Approval::Invalid => ("False", "InvalidAnnotation"),
        Approval::Missing => ("False", "MissingAnnotation"),
    };
    Some(Condition::new("KubernetesAPIApprovalPolicyConformant", status, reason, message))
}

pub(super) fn find<'a>(object: &'a Object, kind: &str) -> Option<&'a Value> {
    let list = object.at("status.conditions").and_then(Value::as_array)?;
    list.iter().find(|condition| text(condition, "type") == kind)
}

fn conditions_mut(object: &mut Object) -> &mut Vec<Value> {
    let status = as_object(object.0.entry("status").or_insert(Value::Null));
    let list = status.entry("conditions").or_insert(Value::Null);
    if !list.is_array() {
        *list = Value::Array(Vec::new());
    }
    list.as_array_mut().expect("it was just made a list")
}

pub(super) fn as_object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it was just made an object")
}
