//! Design: the documents of a namespace as one site, and which revision of them is in force.

use std::collections::BTreeMap;

use krm::Object;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Planes, Resource, Verdict, View, allow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::DesignRevision;
use crate::questions;
use crate::verdict::{Condition, Finding};

/// A site: documents that are compiled together.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is made of.
    #[serde(default)]
    pub spec: DesignSpec,
    /// What it comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DesignStatus>,
}

/// What a design is made of.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DesignSpec {
    /// Labels of the documents that make it; all of the namespace unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
    /// Kinds that users defined, whose objects in the namespace are documents of it as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub kinds: Option<Vec<UserKind>>,
    /// The revision that is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revision: Option<i64>,
    /// Whether a revision with errors may be put in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_errors: Option<bool>,
}

/// A kind that users defined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserKind {
    /// Its group.
    #[schemars(length(min = 1))]
    pub group: String,
    /// Its plural.
    #[schemars(length(min = 1))]
    pub resource: String,
}

/// What a design comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DesignStatus {
    /// The generation that was looked at.
    pub observed_generation: Option<i64>,
    /// Whether it compiles, and may be used.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Option<Vec<Condition>>,
    /// How many documents there are.
    pub documents: Option<i64>,
    /// How many nodes they come to.
    pub nodes: Option<i64>,
    /// How many errors were found.
    pub errors: Option<i64>,
    /// How many warnings were found.
    pub warnings: Option<i64>,
    /// The first of them.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub findings: Option<Vec<Finding>>,
    /// The newest revision there is.
    pub latest_revision: Option<i64>,
    /// Those who own fields of the documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub sources: Option<Vec<String>>,
}

impl DesignSpec {
    /// Whether an object is one of its documents.
    pub fn takes(&self, object: &Object) -> bool {
        let labels = object.meta("labels").and_then(Value::as_object);
        self.match_labels.iter().flatten().all(|(key, value)| {
            labels.and_then(|labels| labels.get(key)).and_then(Value::as_str) == Some(value.as_str())
        })
    }
}

impl Resource for Design {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Design";
    const PLURAL: &'static str = "designs";

    fn declare() -> Declaration<Design> {
        Declaration::namespaced()
            .planes(Planes::Root)
            .categories(&["design"])
            .status()
            .prints("Documents", "integer", ".status.documents")
            .prints("Nodes", "integer", ".status.nodes")
            .prints("Errors", "integer", ".status.errors")
            .prints("Warnings", "integer", ".status.warnings")
            .prints("Revision", "integer", ".spec.revision")
            .prints("Latest", "integer", ".status.latestRevision")
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
            .prints_wide("Sources", "string", ".status.sources[*]")
            .prints_wide("Reason", "string", r#".status.conditions[?(@.type=="Ready")].reason"#)
            .prints_age()
            .answers("effective", "EffectiveDesign", questions::effective::answer)
            .answers("nodes", "DesignNodes", questions::nodes::answer)
            .answers("findings", "DesignFindings", questions::findings::answer)
            .answers("compiled", "CompiledDesign", questions::compiled::answer)
            .answers("diff", "DesignDiff", questions::diff::answer)
            .answers_about("reach", "DesignReach", questions::reach::answer)
            .rule(puts_a_revision_in_force_that_is_there)
    }
}

/// What is put in force is there, and has no errors unless that is said to be well.
fn puts_a_revision_in_force_that_is_there(change: &Change<Design>, view: &mut View<'_>) -> Verdict {
    let Some(design) = change.after() else { return allow() };
    let Some(number) = design.spec.revision else { return allow() };
    if change.before().is_some_and(|before| before.spec.revision == Some(number)) {
        return allow();
    }
    let path = Path::of("spec");
    let refuse = |why: String| Err(FieldError::invalid(&path.field("revision"), &number.into(), why).into());
    let name = DesignRevision::name_of(&design.metadata.name, number);
    let Some(revision) = view.get_in::<DesignRevision>(&design.metadata.namespace, &name) else {
        return refuse(format!("there is no DesignRevision {name}"));
    };
    let errors = revision.status.map_or(0, |status| status.verdict.errors);
    if errors > 0 && design.spec.allow_errors != Some(true) {
        return refuse(format!(
            "DesignRevision {name} has {errors} errors; mend them, or say spec.allowErrors if it has to be"
        ));
    }
    allow()
}
