//! Design: compiles the documents of a namespace as one site, and selects the active revision.

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

/// A site design: the documents of its namespace, compiled and validated together.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Selection of the documents and the active revision. Set by users.
    #[serde(default)]
    pub spec: DesignSpec,
    /// Result of compiling the documents. Set by the design controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DesignStatus>,
}

/// Specification of a design.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DesignSpec {
    /// Labels that documents must have to belong to the design. Unset means all documents of the namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
    /// User-defined kinds (CRDs) whose objects in the namespace are documents of the design too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub kinds: Option<Vec<UserKind>>,
    /// Layers of the documents, the most general first, such as `global`, `type` and `site`. Documents are rendered in this order
    /// before they are compiled. Unset if the documents have no layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub layers: Option<Vec<String>>,
    /// Number of the active revision. The DesignRevision must exist and have no errors, unless `allowErrors` is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revision: Option<i64>,
    /// Whether a revision with errors may be activated. Defaults to false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_errors: Option<bool>,
}

/// A user-defined kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserKind {
    /// API group of the kind. Must not be empty.
    #[schemars(length(min = 1))]
    pub group: String,
    /// Plural name of the resource. Must be namespaced. Must not be empty.
    #[schemars(length(min = 1))]
    pub resource: String,
}

/// Result of compiling a design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DesignStatus {
    /// Generation of the object that the status describes.
    pub observed_generation: Option<i64>,
    /// Conditions: `Compiled`, `Valid` and `Ready`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Option<Vec<Condition>>,
    /// Number of documents in the design.
    pub documents: Option<i64>,
    /// Number of nodes in the compiled design.
    pub nodes: Option<i64>,
    /// Number of errors that validation found.
    pub errors: Option<i64>,
    /// Number of warnings that validation found.
    pub warnings: Option<i64>,
    /// The first 50 findings, errors first. The subresource `findings` has all of them.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub findings: Option<Vec<Finding>>,
    /// Number of the latest DesignRevision of the design.
    pub latest_revision: Option<i64>,
    /// Field managers that own fields of the documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub sources: Option<Vec<String>>,
}

impl DesignSpec {
    /// Whether an object is a document of the design.
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
            .rule(check_active_revision)
    }
}

/// The active revision exists and has no errors, unless `allowErrors` is true.
fn check_active_revision(change: &Change<Design>, view: &mut View<'_>) -> Verdict {
    let Some(design) = change.after() else { return allow() };
    let Some(number) = design.spec.revision else { return allow() };
    if change.before().is_some_and(|before| before.spec.revision == Some(number)) {
        return allow();
    }
    let path = Path::of("spec");
    let refuse = |why: String| Err(FieldError::invalid(&path.field("revision"), &number.into(), why).into());
    let name = DesignRevision::name_of(&design.metadata.name, number);
    let Some(revision) = view.get_in::<DesignRevision>(&design.metadata.namespace, &name) else {
        return refuse(format!("DesignRevision {name} not found"));
    };
    let errors = revision.status.map_or(0, |status| status.verdict.errors);
    if errors > 0 && design.spec.allow_errors != Some(true) {
        return refuse(format!(
            "DesignRevision {name} has {errors} errors; fix them, or set spec.allowErrors to activate it anyway"
        ));
    }
    allow()
}
