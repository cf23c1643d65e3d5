//! Statuses and messages as the original printed them.

use serde_json::{Value, json};

use crate::{
    compile::{Compiled, Outcome},
    document::Envelope,
    model::{self, DocumentRef},
    validate::{Finding, Severity},
};

pub(super) fn format(envelope: Envelope) -> &'static str {
    match envelope {
        Envelope::Deckhand | Envelope::Native => "deckhand",
        Envelope::Legacy => "yaml",
    }
}

/// Each reader of the original had its own spelling of failure.
fn failure(envelope: Envelope) -> &'static str {
    match envelope {
        Envelope::Deckhand | Envelope::Native => "failure",
        Envelope::Legacy => "Failure",
    }
}

pub(super) fn ingest_status(compiled: &Compiled) -> &'static str {
    if compiled.design.is_whole() { "Success" } else { failure(compiled.design.envelope()) }
}

pub(super) fn status(compiled: &Compiled) -> &'static str {
    match (&compiled.outcome, &compiled.report) {
        (Outcome::Unreadable, _) => failure(compiled.design.envelope()),
        (Outcome::Refused(_), _) => "failure",
        (Outcome::Site(_), Some(report)) if report.drydock_findings().any(Finding::is_error) => "Failure",
        (Outcome::Site(_), _) => "Success",
    }
}

pub(super) fn error_count(compiled: &Compiled, messages: &[Value]) -> usize {
    let told = messages.iter().filter(|message| message["error"] == json!(true)).count();
    match &compiled.outcome {
        Outcome::Refused(refusals) => refusals.len(),
        Outcome::Unreadable | Outcome::Site(_) => told,
    }
}

pub(super) fn of(compiled: &Compiled) -> Vec<Value> {
    if matches!(compiled.outcome, Outcome::Refused(_)) {
        return Vec::new();
    }
    let read = compiled.design.outcomes.iter().flat_map(|outcome| match outcome.envelope {
        Envelope::Deckhand | Envelope::Native => reading_problems(outcome),
        Envelope::Legacy => vec![legacy(outcome)],
    });
    let found = compiled.report.iter().flat_map(|report| report.drydock_findings().map(finding));
    read.chain(found).collect()
}

/// One message per mistake of shape; without any, one for all that cannot be.
fn reading_problems(outcome: &model::Outcome) -> Vec<Value> {
    let documents = [outcome.document.as_ref()];
    let shape: Vec<Value> = outcome
        .shape_problems()
        .map(|problem| {
            let message = format!("{}:v1 schema validation error: {problem}", outcome.document.kind);
            message_of("DD001", Severity::Error, &message, "", &documents)
        })
        .collect();
    if !shape.is_empty() || outcome.is_accepted() {
        return shape;
    }
    let message = format!("Error processing document: {}", told(outcome));
    vec![message_of("DD000", Severity::Error, &message, "", &documents)]
}

pub(super) fn unparsable(why: &str) -> Value {
    message_of("DD000", Severity::Error, &format!("Error parsing YAML: {why}"), "", &[])
}

fn legacy(outcome: &model::Outcome) -> Value {
    let message = if outcome.is_accepted() {
        format!("Successfully processed Drydock document type {}.", outcome.document.kind)
    } else {
        format!("Error processing document: {}", told(outcome))
    };
    json!({
        "context": outcome.document.name,
        "context_type": "document",
        "error": !outcome.is_accepted(),
        "extra": {},
        "message": message,
    })
}

fn told(outcome: &model::Outcome) -> String {
    let refusing = outcome.problems.iter().filter(|problem| problem.fault.refuses());
    refusing.map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn finding(finding: &Finding) -> Value {
    let documents: Vec<&DocumentRef> = finding.documents.iter().map(AsRef::as_ref).collect();
    let message = format!("{}: {}", finding.validator.title, finding.message);
    let name = finding.validator.drydock_id.unwrap_or(finding.validator.code);
    message_of(name, finding.severity, &message, &finding.advice, &documents)
}

/// Documents of the legacy envelope have no schema to be named by, and the original did not name them.
fn message_of(
    name: &str,
    severity: Severity,
    message: &str,
    advice: &str,
    documents: &[&DocumentRef],
) -> Value {
    let named = documents.iter().filter_map(|document| {
        document.schema.as_ref().map(|schema| json!({ "schema": schema, "name": document.name }))
    });
    json!({
        "kind": "ValidationMessage",
        "name": name,
        "level": severity.as_str(),
        "error": severity == Severity::Error,
        "message": message,
        "diagnostic": advice,
        "documents": named.collect::<Vec<Value>>(),
    })
}
