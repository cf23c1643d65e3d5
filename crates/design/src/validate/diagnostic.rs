//! All diagnostics of a design, from parsing to the validators, each with code, position and advice.

use std::{collections::HashMap, fmt};

use super::{Severity, VALIDATORS};
use crate::{
    compile::{Compiled, Outcome},
    inherit::Refusal,
    model::{DocumentRef, Fault, Problem},
    yaml::Position,
};

/// One thing to say of a design.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The code of what says it; it never changes.
    pub code: &'static str,
    /// The id the original gave it.
    pub drydock_id: Option<&'static str>,
    /// How bad it is.
    pub severity: Severity,
    /// Message that names the problem.
    pub message: String,
    /// What to do about it.
    pub advice: String,
    /// The line to look at first.
    pub at: Option<Position>,
    /// The documents concerned, as `Kind/name`.
    pub documents: Vec<String>,
}

impl Diagnostic {
    /// For programs.
    pub fn to_json(&self) -> serde_json::Value {
        let at = self.at.as_ref().filter(|at| at.line > 0);
        serde_json::json!({
            "code": self.code,
            "drydockId": self.drydock_id,
            "severity": self.severity.as_str(),
            "message": self.message,
            "advice": self.advice,
            "file": at.map(|at| &**at.file),
            "line": at.map(|at| at.line),
            "column": at.map(|at| at.column),
            "documents": self.documents,
        })
    }
}

/// `file:line:column: severity[CODE]: message (documents)`, and advice on a line of its own.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at.as_ref().filter(|at| at.line > 0) {
            write!(f, "{at}: ")?;
        }
        write!(f, "{}[{}]: {}", self.severity.as_str().to_ascii_lowercase(), self.code, self.message)?;
        if !self.documents.is_empty() {
            write!(f, " ({})", self.documents.join(", "))?;
        }
        if !self.advice.is_empty() {
            write!(f, "\n    {}", self.advice)?;
        }
        Ok(())
    }
}

/// A code and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code.
    pub code: &'static str,
    /// What it stands for.
    pub title: &'static str,
}

const SHAPE: Code = Code { code: "GP0001", title: "Document Schema" };
const VALUE: Code = Code { code: "GP0002", title: "Invalid Values" };
const IGNORED: Code = Code { code: "GP0003", title: "Fields Without Effect" };
const UNKNOWN_HOST_PROFILE: Code = Code { code: "GP0101", title: "Unknown Host Profile" };
const UNKNOWN_HARDWARE_PROFILE: Code = Code { code: "GP0102", title: "Unknown Hardware Profile" };
const NO_HARDWARE_PROFILE: Code = Code { code: "GP0103", title: "No Hardware Profile" };
const PROFILE_CYCLE: Code = Code { code: "GP0104", title: "Cyclic Host Profiles" };
/// Diagnostic by [`crate::user_kinds`], which looks at all documents and not only at a design.
const USER_KINDS: Code = Code { code: "GP6002", title: "Documents of User-Defined Kinds" };
const DUPLICATE_NAME: Code = Code { code: "GP0105", title: "Duplicate Names" };

/// All codes, in order: those of the reading, those that refuse a design, those of the validators.
pub fn codes() -> Vec<Code> {
    let mut codes = vec![
        SHAPE,
        VALUE,
        IGNORED,
        UNKNOWN_HOST_PROFILE,
        UNKNOWN_HARDWARE_PROFILE,
        NO_HARDWARE_PROFILE,
        PROFILE_CYCLE,
        DUPLICATE_NAME,
    ];
    codes.extend(VALIDATORS.iter().map(|one| Code { code: one.code, title: one.title }));
    codes.push(USER_KINDS);
    codes.sort_by_key(|code| code.code);
    codes
}

/// Everything there is to say, in the order it was found. Validators speak only if they were asked.
pub fn diagnose(compiled: &Compiled) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    let outcomes = &compiled.design.outcomes;
    for outcome in outcomes {
        told.extend(outcome.problems.iter().map(|problem| of_problem(problem, &outcome.document)));
    }
    let places: HashMap<&DocumentRef, &Position> =
        outcomes.iter().map(|outcome| (outcome.document.as_ref(), &outcome.at)).collect();
    if let Outcome::Refused(refusals) = &compiled.outcome {
        let named: HashMap<String, &Position> =
            places.iter().map(|(document, at)| (document.to_string(), *at)).collect();
        told.extend(refusals.iter().map(|refusal| of_refusal(refusal, &named)));
    }
    let findings = compiled.report.iter().flat_map(|report| report.findings());
    told.extend(findings.filter(|finding| finding.severity > Severity::Info).map(|finding| {
        Diagnostic {
            code: finding.validator.code,
            drydock_id: finding.validator.drydock_id,
            severity: finding.severity,
            message: finding.message.clone(),
            advice: finding.advice.clone(),
            at: finding
                .documents
                .first()
                .and_then(|document| places.get(document.as_ref()))
                .map(|at| (*at).clone()),
            documents: finding.documents.iter().map(ToString::to_string).collect(),
        }
    }));
    told
}

fn of_problem(problem: &Problem, document: &DocumentRef) -> Diagnostic {
    let (code, drydock_id, severity) = match problem.fault {
        Fault::Shape => (SHAPE, Some("DD001"), Severity::Error),
        Fault::Value | Fault::Missing => (VALUE, Some("DD000"), Severity::Error),
        Fault::Ignored => (IGNORED, None, Severity::Warning),
    };
    let message = match problem.path.as_str() {
        "" => problem.message.clone(),
        path => format!("{path}: {}", problem.message),
    };
    Diagnostic {
        code: code.code,
        drydock_id,
        severity,
        message,
        advice: String::new(),
        at: Some(problem.at.clone()),
        documents: vec![document.to_string()],
    }
}

fn of_refusal(refusal: &Refusal, places: &HashMap<String, &Position>) -> Diagnostic {
    let (code, advice) = match refusal {
        Refusal::UnknownHostProfile { .. } => {
            (UNKNOWN_HOST_PROFILE, "Define the profile or correct the name.")
        }
        Refusal::UnknownHardwareProfile { .. } => {
            (UNKNOWN_HARDWARE_PROFILE, "Define the profile or correct the name.")
        }
        Refusal::NoHardwareProfile { .. } => {
            (NO_HARDWARE_PROFILE, "Set `hardware_profile` on the node or on a profile it inherits from.")
        }
        Refusal::ProfileCycle { .. } => {
            (PROFILE_CYCLE, "Remove one `host_profile` reference to break the cycle.")
        }
        Refusal::DuplicateName { .. } => (DUPLICATE_NAME, "Rename or remove one of the two."),
    };
    let documents = refusal.about();
    let at = match refusal {
        Refusal::UnknownHostProfile { at, .. } | Refusal::UnknownHardwareProfile { at, .. } => {
            Some(at.at.clone())
        }
        _ => documents.first().and_then(|document| places.get(document)).map(|at| (*at).clone()),
    };
    Diagnostic {
        code: code.code,
        drydock_id: None,
        severity: Severity::Error,
        message: refusal.to_string(),
        advice: advice.to_owned(),
        at,
        documents,
    }
}
