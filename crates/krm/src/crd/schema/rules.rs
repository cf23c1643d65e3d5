//! Rules in `x-kubernetes-validations`.

use crate::crd::field_path::FieldPath;
use crate::crd::json_schema::{JsonSchema, Rule};
use crate::field::{FieldError, Path};

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks what a rule says besides its expressions.
pub(super) fn check_texts(schema: &JsonSchema<'_>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let list = path.field("x-kubernetes-validations");
    // Only a schema that can be read as a structural one can be asked where a path leads.
    let readable = std::cell::LazyCell::new(|| super::first_unsupported(schema).is_none());
    for (index, rule) in schema.rules.iter().enumerate() {
        let path = list.index(index);
        errors.extend(message(rule, &path));
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(&path.field("messageExpression"), detail));
        }
        if let Some(reason) = rule.reason.filter(|reason| !REASONS.contains(reason)) {
            errors.push(FieldError::not_supported(&path.field("reason"), &reason.into(), &REASONS));
        }
        let field_path = path.field("fieldPath");
        let mut about_path = |detail: &'static str| {
            errors.push(FieldError::invalid_text(&field_path, rule.field_path, detail));
        };
        if rule.field_path.is_empty() {
            continue;
        }
        if rule.field_path.trim().is_empty() {
            about_path("must be non-empty if specified");
        }
        if has_line_break(rule.field_path) {
            about_path("must not contain line breaks");
        }
        if *readable && FieldPath::parse(rule.field_path, schema).is_err() {
            about_path("must be a valid path");
        }
    }
}

fn message(rule: &Rule<'_>, path: &Path<'_>) -> Option<FieldError> {
    let message = path.field("message");
    let trimmed = rule.message.trim();
    if rule.rule.trim().is_empty() {
        Some(FieldError::required(&path.field("rule"), "rule is not specified"))
    } else if !rule.message.is_empty() && trimmed.is_empty() {
        Some(FieldError::invalid_text(&message, rule.message, "must be non-empty if specified"))
    } else if has_line_break(trimmed) {
        Some(FieldError::invalid_text(&message, rule.message, "must not contain line breaks"))
    } else if has_line_break(rule.rule.trim()) && trimmed.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        Some(FieldError::required(&message, detail))
    } else {
        None
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// What all rules of a schema cost together.
#[derive(Debug, Default)]
pub(super) struct Tally {}

impl Tally {
    pub fn new(_schema: &JsonSchema<'_>) -> Tally {
        Tally {}
    }

    pub fn check(
        &mut self,
        _schema: &JsonSchema<'_>,
        _scope: &Scope<'_>,
        _cheap: bool,
        _uncorrelatable: Option<&Path<'_>>,
        _path: &Path<'_>,
    ) -> Vec<FieldError> {
        Vec::new()
    }

    pub fn total_faults(&self, _path: &Path<'_>) -> Vec<FieldError> {
        Vec::new()
    }
}

/// The rules a schema stands under.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'s> {
    _schema: std::marker::PhantomData<&'s ()>,
}

impl<'s> Scope<'s> {
    pub fn root(_schema: &'s JsonSchema<'_>) -> Scope<'s> {
        Scope { _schema: std::marker::PhantomData }
    }
    pub fn values(&self, _schema: &JsonSchema<'_>, _values: &JsonSchema<'_>) -> Scope<'s> {
        *self
    }
    pub fn property(&self, _schema: &JsonSchema<'_>, _name: &str, _property: &JsonSchema<'_>) -> Scope<'s> {
        *self
    }
    pub fn items(&self, _schema: &JsonSchema<'_>, _item: &JsonSchema<'_>) -> Scope<'s> {
        *self
    }
}
