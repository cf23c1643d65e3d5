//! What is told of a design in its status: counts, conditions, and the first of what was found.

use design::compile::Outcome;
use design::validate::Severity;
use krm::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::drawn::Drawn;

/// More findings than this are counted, and told by the question `findings`.
const MOST_FINDINGS: usize = 50;

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The code of what says it.
    pub code: String,
    /// `Error` or `Warning`.
    pub severity: String,
    /// What it is.
    pub message: String,
    /// The documents concerned, as `Kind/name`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub documents: Vec<String>,
}

/// One thing that is observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds.
    #[schemars(extend("enum" = ["True", "False", "Unknown"]))]
    pub status: String,
    /// The generation of the object that was looked at.
    pub observed_generation: Option<i64>,
    /// When `status` changed last.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// Why, in a word.
    pub reason: String,
    /// Why, for people.
    pub message: String,
}

/// What documents come to, in numbers and words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// How many documents there are.
    pub documents: i64,
    /// How many nodes they come to.
    pub nodes: i64,
    /// How many errors were found.
    pub errors: i64,
    /// How many warnings were found.
    pub warnings: i64,
    /// The first of them, errors before warnings.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// What is to be said of documents.
    pub fn of(drawn: &Drawn) -> Verdict {
        let mut told = drawn.told();
        let count = |severity| told.iter().filter(|one| one.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        told.sort_by_key(|one| std::cmp::Reverse(one.severity));
        let findings = told.iter().filter(|one| one.severity > Severity::Info).take(MOST_FINDINGS);
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        Verdict {
            documents: number(drawn.documents.len()),
            nodes: number(drawn.compiled.site().map_or(0, |site| site.nodes.len())),
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

/// A condition before anybody knows since when it holds.
pub(crate) struct Holds {
    kind: &'static str,
    holds: bool,
    reason: &'static str,
    message: String,
}

/// Whether documents compile, and whether they may be used.
pub(crate) fn conditions(drawn: &Drawn, verdict: &Verdict) -> Vec<Holds> {
    let nodes = verdict.nodes;
    let compiled = match &drawn.compiled.outcome {
        _ if !drawn.problems.is_empty() => (false, "SubstitutionFailed", drawn.problems[0].message.clone()),
        Outcome::Site(_) => (true, "Compiled", format!("{nodes} nodes")),
        Outcome::Unreadable => (false, "Unreadable", "a document cannot be read".to_owned()),
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
        .map(|(kind, (holds, reason, message))| Holds { kind, holds, reason, message })
        .into()
}

/// Conditions as an object has them; what has not changed keeps its time.
pub(crate) fn written(holds: &[Holds], object: &Object, now: &str) -> Value {
    let before = object.at("status.conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let one = |holds: &Holds| {
        let status = if holds.holds { "True" } else { "False" };
        let was = before.iter().find(|was| was["type"] == holds.kind && was["status"] == status);
        let since = was.map_or_else(|| json!(now), |was| was["lastTransitionTime"].clone());
        json!({
            "type": holds.kind,
            "status": status,
            "observedGeneration": object.generation(),
            "lastTransitionTime": since,
            "reason": holds.reason,
            "message": holds.message,
        })
    };
    holds.iter().map(one).collect()
}
