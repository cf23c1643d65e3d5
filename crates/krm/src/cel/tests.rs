//! Rules on small schemas.

mod costs;
mod hostile;
mod judging;
mod libraries;
mod refused;

use serde_json::{Value, json};

use super::{Rules, Scope};
use crate::FieldError;
use crate::crd::JsonSchema;

fn with_rule(schema: &Value, rule: &str) -> Value {
    with_rules(schema, json!([{ "rule": rule }]))
}

fn with_rules(schema: &Value, rules: Value) -> Value {
    let mut schema = schema.clone();
    schema["x-kubernetes-validations"] = rules;
    schema
}

/// Why a rule cannot run, if it cannot.
fn fault(schema: &Value, rule: &str) -> Option<String> {
    let schema = with_rule(schema, rule);
    let schema = JsonSchema::parse(&schema);
    Scope::part(&schema).compile(&schema).unwrap().remove(0).fault
}

/// What the rules of a schema say.
fn judge(schema: &Value, new: &Value, old: Option<&Value>) -> Vec<String> {
    Rules::of_part(schema, false).check_part(new, old).iter().map(FieldError::to_string).collect()
}

/// What a rule gives for a value: whether it holds, or why it gives nothing.
fn evaluate(schema: &Value, value: &Value, rule: &str) -> Result<bool, String> {
    let errors = judge(&with_rule(schema, rule), value, None);
    match errors.as_slice() {
        [] => Ok(true),
        [one] if one.ends_with(&format!("failed rule: {rule}")) => Ok(false),
        _ => Err(errors.join("\n")),
    }
}

#[track_caller]
fn assert_holds(schema: &Value, value: &Value, rules: &[&str]) {
    for rule in rules {
        assert_eq!(evaluate(schema, value, rule), Ok(true), "{rule}");
    }
}
