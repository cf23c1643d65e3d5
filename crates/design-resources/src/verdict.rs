//! The status of a design: counts, conditions and the first findings.

use design::compile::Outcome;
use design::validate::Severity;
use krm::{Object, condition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compiled_design::CompiledDesign;

/// Maximum number of findings in the status. The subresource `findings` has all of them.
const MAX_FINDINGS: usize = 50;

/// A finding of the validation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Code of the validator, such as `GP2003`.
    pub code: String,
    /// Severity: `Error` or `Warning`.
    pub severity: String,
    /// Message that names the problem.
    pub message: String,
    /// Affected documents, as `Kind/name`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub documents: Vec<String>,
}

/// A condition of a design or revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Type of the condition: `Compiled`, `Valid` or `Ready`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Status of the condition: `True`, `False` or `Unknown`.
    #[schemars(extend("enum" = ["True", "False", "Unknown"]))]
    pub status: String,
    /// Generation of the object that the condition describes.
    pub observed_generation: Option<i64>,
    /// Time when `status` last changed.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// Machine-readable reason in CamelCase.
    pub reason: String,
    /// Human-readable message that explains the status.
    pub message: String,
}

/// Counts and findings of a compiled design.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Number of documents in the design.
    pub documents: i64,
    /// Number of nodes in the compiled design.
    pub nodes: i64,
    /// Number of errors that validation found.
    pub errors: i64,
    /// Number of warnings that validation found.
    pub warnings: i64,
    /// The first 50 findings, errors first.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub findings: Vec<Finding>,
}

impl Summary {
    /// Summarizes a compiled design.
    pub fn of(result: &CompiledDesign) -> Summary {
        let mut told: Vec<&design::validate::Diagnostic> = result.diagnostics().iter().collect();
        let count = |severity| told.iter().filter(|one| one.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        told.sort_by_key(|one| std::cmp::Reverse(one.severity));
        let findings = told.iter().filter(|one| one.severity > Severity::Info).take(MAX_FINDINGS);
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        Summary {
            documents: number(result.documents.len()),
            nodes: number(result.compiled.site().map_or(0, |site| site.nodes.len())),
            errors: number(errors),
            warnings: number(warnings),
            findings: findings
                .map(|one| Finding {
                    code: one.code.to_owned(),
                    severity: one.severity.as_str().to_owned(),
                    message: one.message.clone(),
                    documents: one.documents.clone(),
                })
                .collect(),
        }
    }
}

/// The conditions of a compiled design.
pub(crate) fn conditions(result: &CompiledDesign, verdict: &Summary) -> Vec<condition::Finding> {
    let nodes = verdict.nodes;
    let compiled = match &result.compiled.outcome {
        _ if !result.problems.is_empty() => (false, "SubstitutionFailed", result.problems[0].message.clone()),
        Outcome::Site(_) => (true, "Compiled", format!("{nodes} nodes")),
        Outcome::Unreadable => (false, "Unreadable", "a document cannot be parsed".to_owned()),
        Outcome::Refused(refusals) => {
            (false, "Refused", refusals.first().map_or_else(String::new, ToString::to_string))
        }
    };
    let (errors, warnings) = (verdict.errors, verdict.warnings);
    let valid = match errors {
        0 => (true, "NoErrors", format!("{warnings} warnings")),
        _ => (false, "Errors", format!("{errors} errors, {warnings} warnings")),
    };
    let ready = if compiled.0 { valid.clone() } else { compiled.clone() };
    [("Compiled", compiled), ("Valid", valid), ("Ready", ready)]
        .map(|(kind, (holds, reason, message))| condition::Finding { kind, holds, reason, message })
        .into()
}

/// Conditions as JSON. Unchanged ones keep their transition time.
pub(crate) fn written(findings: &[condition::Finding], object: &Object, now: &str) -> Value {
    let before = object.at("status.conditions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    findings.iter().map(|finding| finding.after(before, Some(object.generation()), now)).collect()
}
