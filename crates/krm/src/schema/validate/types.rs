//! Whether a value has the declared type.

use serde_json::Value;

use super::finding::Finding;
use super::number::{Numeric, is_nearly_whole};
use crate::field::{Fault, Path, quote};
use crate::schema::node::{JsonType, Node};

/// Whether anything is declared about the type.
pub fn applies(node: &Node) -> bool {
    node.kind.is_some() || node.int_or_string || node.format().is_some()
}

/// What is wrong with a null.
pub fn null(node: &Node, path: &Path<'_>) -> Option<Finding> {
    let typed = node.kind.is_some() || node.int_or_string;
    (typed && !node.nullable).then(|| mismatch(path, declared(node), "null"))
}

/// What is wrong with the type of a value that is not null.
///
/// A text or a list passes for any type that is not a number when a format is declared: texts are then held against the
/// format, and lists slip through, as they do in Kubernetes.
pub fn wrong(node: &Node, value: &Value, path: &Path<'_>) -> Option<Finding> {
    let (name, format) = actual(value);
    let takes = |kind| {
        let either = node.int_or_string && matches!(kind, JsonType::Integer | JsonType::String);
        either || node.kind == Some(kind)
    };
    let fits = match value {
        Value::Object(_) => takes(JsonType::Object),
        Value::Array(_) => takes(JsonType::Array),
        Value::String(_) => takes(JsonType::String),
        Value::Bool(_) => takes(JsonType::Boolean),
        Value::Null => true,
        Value::Number(number) => match Numeric::from(number) {
            Numeric::Whole(_) => takes(JsonType::Integer) || takes(JsonType::Number),
            Numeric::Float(float) => {
                takes(JsonType::Number) || takes(JsonType::Integer) && is_nearly_whole(float)
            }
        },
    };
    if fits {
        return None;
    }
    match (node.format(), value) {
        (Some(declared), Value::Number(_) | Value::Bool(_) | Value::Object(_)) => {
            Some(mismatch(path, declared, format))
        }
        (Some(_), _) if !takes(JsonType::Number) && !takes(JsonType::Integer) => None,
        _ => Some(mismatch(path, declared(node), name)),
    }
}

fn mismatch(path: &Path<'_>, declared: &str, actual: &str) -> Finding {
    let said = format!("{path} in body must be of type {declared}: {}", quote(actual));
    Finding::value(Fault::TypeInvalid, path, &Value::from(actual), said)
}

fn declared(node: &Node) -> &'static str {
    match node.kind {
        Some(kind) => kind.name(),
        None if node.int_or_string => "integer,string",
        None => "",
    }
}

/// The type and the format a value has of its own.
fn actual(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
        Value::Number(number) => match Numeric::from(number) {
            Numeric::Whole(_) => ("integer", "int64"),
            Numeric::Float(_) => ("number", "float64"),
        },
    }
}
