//! Namespace: a scope for names of objects, deleted with its content.
//!
//! What keeps a namespace from going is in `spec.finalizers`, and is taken off through the subresource `finalize` alone.

use std::sync::Arc;

use krm::field::{FieldError, Path};
use krm::kind::{Kind, RawChange, Scope, Subresource};
use krm::meta::OBJECT_META;
use krm::names;
use krm::object::Object;
use krm::shape::{Field, Outline, STRING, Shape, Struct};
use krm::table::{Column, Columns};
use serde_json::{Map, Value, json};

use super::columns::{age, column, text};
use super::declare::{self, MOST_ERRORS};

/// The label that every namespace carries its own name in.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// What every namespace begins with: it goes when its content is gone.
const KUBERNETES: &str = "kubernetes";
const STANDARD_FINALIZERS: [&str; 3] = [KUBERNETES, "orphan", "foregroundDeletion"];

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "Namespace",
    type_name: "v1.Namespace",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("spec", Shape::Struct(&SPEC)),
        Field::always("status", Shape::Struct(&STATUS)),
    ],
});

static SPEC: Struct = Struct {
    name: "NamespaceSpec",
    type_name: "v1.NamespaceSpec",
    fields: &[Field::if_empty(
        "finalizers",
        Shape::List("[]v1.FinalizerName", &Shape::Text("v1.FinalizerName")),
    )],
};

static STATUS: Struct = Struct {
    name: "NamespaceStatus",
    type_name: "v1.NamespaceStatus",
    fields: &[
        Field::if_empty("phase", Shape::Text("v1.NamespacePhase")),
        Field::if_empty("conditions", Shape::List("[]v1.NamespaceCondition", &Shape::Struct(&CONDITION))),
    ],
};

static CONDITION: Struct = Struct {
    name: "NamespaceCondition",
    type_name: "v1.NamespaceCondition",
    fields: &[
        Field::always("type", Shape::Text("v1.NamespaceConditionType")),
        Field::always("status", Shape::Text("v1.ConditionStatus")),
        Field::always("lastTransitionTime", Shape::Time),
        Field::if_empty("reason", STRING),
        Field::if_empty("message", STRING),
    ],
};

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "Namespace provides a scope for names of namespaced objects.")
        .says("spec", "Desired behaviour of the namespace.")
        .says(
            "spec.finalizers",
            "Finalizers that must be empty before the namespace is removed from storage.",
        )
        .says("status", "Observed state of the namespace.")
        .says("status.phase", "Lifecycle phase: Active, or Terminating while the namespace is being deleted.")
        .says("status.conditions", "Progress of the deletion of the namespace's content.")
        .says(
            "status.conditions[].lastTransitionTime",
            "Last time the condition changed from one status to another.",
        )
        .keyed("status.conditions", "type")
        .merged("status.conditions", "type")
        .requires("status.conditions[]", &["type", "status"]);
    let mut kind = declare::core("", "Namespace", "namespaces", Scope::Cluster, &SHAPE, &outline);
    kind.names.short = vec!["ns".into()];
    kind.verbs = vec!["create", "delete", "get", "list", "patch", "update", "watch"];
    kind.name_rule = names::name_is_dns_label;
    kind.shows_deleted = true;
    let version = &mut kind.versions[0];
    version.subresources = vec![Subresource::Status];
    version.selectable = vec!["status.phase".into()];
    version.columns = Columns::new(vec![
        Column::name(),
        column("Status", "The status of the namespace", |object, _| text(object, "/status/phase").into()),
        age(),
    ]);
    kind.complete.push(Arc::new(label));
    kind.prepare.push(Arc::new(prepare));
    kind.validations.push(Arc::new(validate));
    kind.mark = Some(Arc::new(mark));
    kind
}

/// A namespace that is being deleted says so in its phase, and stays until it is empty.
fn mark(object: &mut Object, now: &str) {
    object.set_meta("deletionTimestamp", Some(now.into()));
    let status = object.0.entry("status").or_insert_with(|| json!({}));
    if let Some(status) = status.as_object_mut() {
        status.insert("phase".into(), "Terminating".into());
    }
}

/// Puts the name among the labels, as soon as there is one.
fn label(object: &mut Object) {
    let name = object.name().to_owned();
    if name.is_empty() {
        return;
    }
    let labels = object.metadata_mut().entry("labels").or_insert(Value::Null);
    if !labels.is_object() {
        *labels = Value::Object(Map::new());
    }
    labels[NAME_LABEL] = name.into();
}

fn prepare(new: &mut Object, old: Option<&Object>, subresource: &str) {
    label(new);
    let Some(old) = old else {
        new.set("status", Some(json!({"phase": "Active"})));
        let mut finalizers = finalizers(new);
        if !finalizers.contains(&KUBERNETES) {
            finalizers.push(KUBERNETES);
        }
        let finalizers = json!(finalizers);
        new.set("spec", Some(json!({"finalizers": finalizers})));
        return;
    };
    match subresource {
        "status" => new.set("spec", old.get("spec").cloned()),
        "finalize" => new.set("status", old.get("status").cloned()),
        _ => {
            new.set("spec", old.get("spec").cloned());
            new.set("status", old.get("status").cloned());
        }
    }
}

fn validate(change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(new) = change.new else { return Vec::new() };
    match change.subresource {
        "status" => phase_fault(new).into_iter().collect(),
        subresource => {
            let spec = Path::of("spec");
            let path = spec.field("finalizers");
            let mut errors = Vec::new();
            for (index, name) in finalizers(new).into_iter().enumerate().take(MOST_ERRORS) {
                match subresource {
                    "finalize" => finalizer_faults(name, &path.index(index), &mut errors),
                    _ => finalizer_faults(name, &path, &mut errors),
                }
            }
            errors
        }
    }
}

fn finalizers(object: &Object) -> Vec<&str> {
    let list = object.at("spec.finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn finalizer_faults(name: &str, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let faults = names::qualified_name(name).into_iter();
    errors.extend(faults.map(|fault| FieldError::invalid_text(path, name, fault)));
    if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.push(FieldError::invalid_text(path, name, detail));
    }
}

fn phase_fault(object: &Object) -> Option<FieldError> {
    let phase = object.at("status.phase").and_then(Value::as_str).unwrap_or("");
    let detail = match (object.is_deleting(), phase) {
        (false, "Active") | (true, "Terminating") => return None,
        (false, _) => "may only be 'Active' if `deletionTimestamp` is empty",
        (true, _) => "may only be 'Terminating' if `deletionTimestamp` is not empty",
    };
    let status = Path::of("status");
    Some(FieldError::invalid_text(&status.field("Phase"), phase, detail))
}
