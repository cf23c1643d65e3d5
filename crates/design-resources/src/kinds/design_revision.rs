//! DesignRevision: an immutable snapshot of the documents of a design.

use std::collections::BTreeMap;
use std::sync::Arc;

use design::object::documents_of;
use krm::Object;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, History, Metadata, Planes, Resource, Verdict, View, allow, refuse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Design;
use crate::compiled_design::{CompiledDesign, State};
use crate::verdict::{self, Summary};

/// An immutable snapshot of the documents of a design. It cannot be deleted while it is the active revision.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DesignRevision {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// The documents of the snapshot. Immutable.
    pub spec: DesignRevisionSpec,
    /// Result of compiling the documents, computed once on creation; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DesignRevisionStatus>,
}

/// Specification of a revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignRevisionSpec {
    /// Name of the Design, in the same namespace. Must not be empty.
    #[schemars(length(min = 1))]
    pub design: String,
    /// Number of the revision within the design. The object must be named `<design>-<number>`.
    #[schemars(range(min = 1))]
    pub number: i64,
    /// Message that describes the revision. Free text, found by search.
    pub message: Option<String>,
    /// Layers of the documents, the most general first, as in the Design.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub layers: Option<Vec<String>>,
    /// The documents. Secrets are referenced, not included.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub documents: Vec<RevisionDocument>,
}

/// A document of a revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionDocument {
    /// Kind of the document's object.
    pub kind: String,
    /// Name of the document's object.
    pub name: String,
    /// Labels of the document's object.
    pub labels: Option<BTreeMap<String, String>>,
    /// Where each source had the document from: annotations of the document's object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins: Option<BTreeMap<String, String>>,
    /// Spec of the document's object.
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub spec: Value,
}

/// Result of compiling a revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignRevisionStatus {
    /// Counts and findings of the compiled documents.
    #[serde(flatten)]
    pub verdict: Summary,
    /// Conditions: `Compiled`, `Valid` and `Ready`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Option<Vec<verdict::Condition>>,
}

impl DesignRevisionSpec {
    /// The documents, ready to compile.
    pub fn state(&self) -> State {
        let objects: Vec<Value> = self.documents.iter().map(RevisionDocument::object).collect();
        State {
            documents: documents_of(&objects, &|_, _| None).into_iter().map(Arc::new).collect(),
            layers: self.layers.clone().unwrap_or_default(),
        }
    }
}

impl RevisionDocument {
    fn object(&self) -> Value {
        json!({
            "apiVersion": format!("{}/{}", super::GROUP, super::VERSION),
            "kind": self.kind,
            "metadata": {"name": self.name, "labels": self.labels, "annotations": self.origins},
            "spec": self.spec,
        })
    }
}

impl DesignRevision {
    /// The name of a revision's object.
    pub fn name_of(design: &str, number: i64) -> String {
        format!("{design}-{number}")
    }

    /// A revision out of its object.
    pub fn read(object: &Object) -> Option<DesignRevision> {
        DesignRevision::deserialize(&Value::Object(object.0.clone())).ok()
    }
}

impl Resource for DesignRevision {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "DesignRevision";
    const PLURAL: &'static str = "designrevisions";

    fn declare() -> Declaration<DesignRevision> {
        Declaration::namespaced()
            .planes(Planes::Root)
            .categories(&["design"])
            .history(History::Spec)
            .status()
            .selects(&["spec.design"])
            .searches(&["spec.message"])
            .prints("Design", "string", ".spec.design")
            .prints("Number", "integer", ".spec.number")
            .prints("Nodes", "integer", ".status.nodes")
            .prints("Errors", "integer", ".status.errors")
            .prints("Warnings", "integer", ".status.warnings")
            .prints("Message", "string", ".spec.message")
            .prints_age()
            .prepare(compute_status_once)
            .validate(validate_immutable)
            .rule(check_not_active)
    }
}

/// Computes the status on creation. The content is immutable, so the status is too.
fn compute_status_once(new: &mut Object, old: Option<&Object>) {
    if let Some(old) = old {
        let kept = old.get("status").cloned();
        new.set("status", kept);
        return;
    }
    let Some(revision) = DesignRevision::read(new) else { return };
    let result = CompiledDesign::of(revision.spec.state());
    let told = Summary::of(&result);
    let mut status = serde_json::to_value(&told).unwrap_or_default();
    // The creation timestamp of the object has the actual time.
    let conditions = verdict::written(&verdict::conditions(&result, &told), new, "1970-01-01T00:00:00Z");
    status["conditions"] = conditions;
    new.set("status", Some(status));
}

/// A revision is named `<design>-<number>`, and its spec is immutable.
fn validate_immutable(change: &Change<DesignRevision>) -> Vec<FieldError> {
    let Some(revision) = change.after() else { return Vec::new() };
    let spec = &revision.spec;
    let name = DesignRevision::name_of(&spec.design, spec.number);
    if revision.metadata.name != name {
        let path = Path::of("metadata");
        let why = format!("revision {} of {} must be named {name}", spec.number, spec.design);
        return vec![FieldError::invalid_text(&path.field("name"), &revision.metadata.name, why)];
    }
    match change.before() {
        Some(before) if before.spec != *spec => {
            let why = "a revision is immutable; create a new one";
            vec![FieldError::forbidden(&Path::of("spec"), why)]
        }
        Some(_) => Vec::new(),
        None => {
            let path = Path::of("spec");
            let documents = path.field("documents");
            let of_one = |(index, one): (usize, &RevisionDocument)| {
                super::readable::secrets_of(&one.kind, &one.spec, &documents.index(index).field("spec"))
            };
            spec.documents.iter().enumerate().flat_map(of_one).collect()
        }
    }
}

/// The active revision cannot be deleted.
fn check_not_active(change: &Change<DesignRevision>, view: &mut View<'_>) -> Verdict {
    let (Some(revision), None) = (change.before(), change.after()) else { return allow() };
    let design = view.get_in::<Design>(&revision.metadata.namespace, &revision.spec.design);
    match design.filter(|design| design.spec.revision == Some(revision.spec.number)) {
        Some(design) => refuse(format!(
            "revision {} is the active revision of Design {}; activate another one first",
            revision.spec.number, design.metadata.name
        )),
        None => allow(),
    }
}
