//! Validation: the findings of validating a revision of a design for a provisioner.

use krm::kind::{Declaration, History, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What validating a revision of a design found, together with what its provisioner can't do. Created by tasks with the
/// action `validate_design`, under the name of the task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// The findings. Immutable.
    pub spec: ValidationSpec,
}

/// The findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationSpec {
    /// Name of the Design.
    #[schemars(length(min = 1, max = 253))]
    pub design: String,
    /// Number of the DesignRevision.
    #[schemars(range(min = 1))]
    pub revision: i64,
    /// Name of the Provisioner whose abilities were checked, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub provisioner: Option<String>,
    /// Whether there are no errors.
    pub valid: bool,
    /// Number of errors.
    #[schemars(range(min = 0))]
    pub errors: i64,
    /// Number of warnings.
    #[schemars(range(min = 0))]
    pub warnings: i64,
    /// The findings, errors first, at most 1000.
    #[serde(default)]
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "atomic"))]
    pub findings: Vec<ValidationFinding>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationFinding {
    /// Code of the rule, such as `GP1001` or `DRIVER`.
    #[schemars(length(max = 32))]
    pub code: String,
    /// `Error` or `Warning`.
    #[schemars(length(max = 16))]
    pub level: String,
    /// What is wrong.
    #[schemars(length(max = 4096))]
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 4096))]
    pub advice: String,
    /// Documents that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub documents: Vec<String>,
}

impl Resource for Validation {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Validation";
    const PLURAL: &'static str = "validations";

    fn declare() -> Declaration<Validation> {
        Declaration::namespaced()
            .planes(Planes::Root)
            .categories(&["orchestration"])
            .history(History::Spec)
            .selects(&["spec.design"])
            .prints("Design", "string", ".spec.design")
            .prints("Revision", "integer", ".spec.revision")
            .prints("Valid", "boolean", ".spec.valid")
            .prints("Errors", "integer", ".spec.errors")
            .prints("Warnings", "integer", ".spec.warnings")
            .prints_age()
    }
}
