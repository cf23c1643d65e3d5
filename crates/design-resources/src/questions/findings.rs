//! `findings`: all findings of a design.

use design::validate::Severity;
use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde_json::{Value, json};

use super::{design_of, shown};
use crate::compiled_design;

/// Answers `…/designs/<name>/findings?at=`.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let result = compiled_design::at(&design, asked.option("at").unwrap_or("documents"), look)?;
    let told = result.diagnostics();
    let count = |severity| told.iter().filter(|one| one.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let findings: Vec<Value> = told.iter().map(design::validate::Diagnostic::to_json).collect();
    shown(asked, json!({ "errors": errors, "warnings": warnings, "findings": findings }), || {
        let lines: String = told.iter().map(|one| format!("{one}\n")).collect();
        format!("{lines}{errors} errors, {warnings} warnings\n")
    })
}
