//! DesignRevision: the documents of a design at one moment, never to change.

use std::collections::BTreeMap;

use design::document::Document;
use design::object::documents_of;
use krm::Object;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, History, Metadata, Planes, Resource, Verdict, View, allow, refuse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Design;
use crate::drawn::Drawn;
use crate::verdict::{self, Verdict as Told};

/// The documents of a design at one moment.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DesignRevision {
    /// What every object has.
    pub metadata: Metadata,
    /// The documents.
    pub spec: DesignRevisionSpec,
    /// What they come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DesignRevisionStatus>,
}

/// The documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignRevisionSpec {
    /// The design, in the same namespace.
    #[schemars(length(min = 1))]
    pub design: String,
    /// Its number among the revisions of the design.
    #[schemars(range(min = 1))]
    pub number: i64,
    /// Why it was made.
    pub message: Option<String>,
    /// The documents; secrets are named, not held.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub documents: Vec<KeptDocument>,
}

/// A document as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptDocument {
    /// Its kind.
    pub kind: String,
    /// The name of its object.
    pub name: String,
    /// The labels of its object.
    pub labels: Option<BTreeMap<String, String>>,
    /// What it said.
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub spec: Value,
}

/// What the documents come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignRevisionStatus {
    /// In numbers and words.
    #[serde(flatten)]
    pub verdict: Told,
    /// Whether they compile, and may be used.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Option<Vec<verdict::Condition>>,
}

impl DesignRevisionSpec {
    /// The documents, as they are compiled.
    pub fn documents(&self) -> Vec<Document> {
        let objects: Vec<Value> = self.documents.iter().map(KeptDocument::object).collect();
        documents_of(&objects, &|_, _| None)
    }
}

impl KeptDocument {
    fn object(&self) -> Value {
        json!({
            "apiVersion": format!("{}/{}", super::GROUP, super::VERSION),
            "kind": self.kind,
            "metadata": {"name": self.name, "labels": self.labels},
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
            .prepare(look_at_it_once)
            .validate(never_changes)
            .rule(stays_while_it_is_in_force)
    }
}

/// What is in it never changes, so neither does what it comes to: that is found out when it is made.
fn look_at_it_once(new: &mut Object, old: Option<&Object>) {
    if let Some(old) = old {
        let kept = old.get("status").cloned();
        new.set("status", kept);
        return;
    }
    let Some(revision) = DesignRevision::read(new) else { return };
    let drawn = Drawn::of(revision.spec.documents());
    let told = Told::of(&drawn);
    let mut status = serde_json::to_value(&told).unwrap_or_default();
    // The moment is that of the object, which says it itself.
    let conditions = verdict::written(&verdict::conditions(&drawn, &told), new, "1970-01-01T00:00:00Z");
    status["conditions"] = conditions;
    new.set("status", Some(status));
}

/// A revision is named after its design and number, and stays what it is.
fn never_changes(change: &Change<DesignRevision>) -> Vec<FieldError> {
    let Some(revision) = change.after() else { return Vec::new() };
    let spec = &revision.spec;
    let name = DesignRevision::name_of(&spec.design, spec.number);
    if revision.metadata.name != name {
        let path = Path::of("metadata");
        let why = format!("revision {} of {} is called {name}", spec.number, spec.design);
        return vec![FieldError::invalid_text(&path.field("name"), &revision.metadata.name, why)];
    }
    match change.before() {
        Some(before) if before.spec != *spec => {
            let why = "a revision never changes; make another one";
            vec![FieldError::forbidden(&Path::of("spec"), why)]
        }
        _ => Vec::new(),
    }
}

/// What is in force is not taken away.
fn stays_while_it_is_in_force(change: &Change<DesignRevision>, view: &mut View<'_>) -> Verdict {
    let (Some(revision), None) = (change.before(), change.after()) else { return allow() };
    let design = view.get_in::<Design>(&revision.metadata.namespace, &revision.spec.design);
    match design.filter(|design| design.spec.revision == Some(revision.spec.number)) {
        Some(design) => refuse(format!(
            "revision {} is in force in Design {}; put another one in force first",
            revision.spec.number, design.metadata.name
        )),
        None => allow(),
    }
}
