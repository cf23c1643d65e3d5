//! Whole objects inside objects: their type and metadata are held to the rules of all objects.

use serde_json::Value;

use super::node::Node;
use super::report::Report;
use crate::field::{FieldError, Path};
use crate::{meta, names};

/// Reads the type and metadata of every embedded object; returns the unknown fields, sorted.
pub(super) fn coerce(root: &Node, object: &mut Value) -> Result<Vec<String>, FieldError> {
    let mut unknown = Vec::new();
    coerce_value(root, object, &Path::ROOT, &mut unknown)?;
    unknown.sort_unstable();
    Ok(unknown)
}

fn coerce_value(
    node: &Node,
    value: &mut Value,
    path: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), FieldError> {
    if !node.has_embedded {
        return Ok(());
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if node.embedded {
                    coerce_field(key, value, path, unknown)?;
                }
                match (node.properties.get(key), node.field(key)) {
                    (Some(node), _) => coerce_value(node, value, &path.field(key), unknown)?,
                    (None, Some(node)) => coerce_value(node, value, &path.key(key), unknown)?,
                    (None, None) => {}
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = &node.items else { return Ok(()) };
            for (index, item) in list.iter_mut().enumerate() {
                coerce_value(items, item, &path.index(index), unknown)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_field(
    key: &str,
    value: &mut Value,
    path: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), FieldError> {
    match key {
        "apiVersion" | "kind" if !value.is_string() => {
            Err(FieldError::invalid(&path.field(key), value, "must be a string"))
        }
        "metadata" => {
            let path = path.field(key);
            let given = value.clone();
            meta::coerce(value, &path, unknown).map_err(|why| FieldError::invalid(&path, &given, why))
        }
        _ => Ok(()),
    }
}

/// Everything that is wrong with the type and metadata of embedded objects.
pub(super) fn validate(root: &Node, object: &Value) -> Vec<FieldError> {
    let mut report = Report::default();
    validate_value(root, object, &Path::ROOT, &mut report);
    report.into_errors()
}

fn validate_value(node: &Node, value: &Value, path: &Path<'_>, report: &mut Report) {
    if !node.has_embedded || report.is_full() {
        return;
    }
    match value {
        Value::Object(map) => {
            if node.embedded {
                check_api_version(map.get("apiVersion"), &path.field("apiVersion"), report);
                check_kind(map.get("kind"), &path.field("kind"), report);
                if let Some(metadata) = map.get("metadata") {
                    check_metadata(metadata, &path.field("metadata"), report);
                }
            }
            for (key, value) in map {
                match (node.properties.get(key), node.field(key)) {
                    (Some(node), _) => validate_value(node, value, &path.field(key), report),
                    (None, Some(node)) => validate_value(node, value, &path.key(key), report),
                    (None, None) => {}
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = &node.items else { return };
            for (index, item) in list.iter().enumerate() {
                validate_value(items, item, &path.index(index), report);
            }
        }
        _ => {}
    }
}

fn check_api_version(value: Option<&Value>, path: &Path<'_>, report: &mut Report) {
    let Some(text) = required_text(value, path, report) else { return };
    if names::group_version(text).is_none() {
        let detail = format!("unexpected GroupVersion string: {text}");
        report.add(FieldError::invalid_text(path, text, detail));
    }
}

fn check_kind(value: Option<&Value>, path: &Path<'_>, report: &mut Report) {
    let Some(text) = required_text(value, path, report) else { return };
    let faults = names::dns1035_label(&text.to_lowercase());
    if !faults.is_empty() {
        let detail = format!("may have mixed case, but should otherwise match: {}", faults.join(","));
        report.add(FieldError::invalid_text(path, text, detail));
    }
}

fn check_metadata(value: &Value, path: &Path<'_>, report: &mut Report) {
    let mut metadata = value.clone();
    match (meta::coerce(&mut metadata, path, &mut Vec::new()), metadata) {
        (Err(why), _) => report.add(FieldError::invalid(path, value, why)),
        (Ok(()), Value::Object(metadata)) => {
            meta::validate_embedded(&metadata, path).into_iter().for_each(|error| report.add(error));
        }
        (Ok(()), _) => {}
    }
}

fn required_text<'a>(value: Option<&'a Value>, path: &Path<'_>, report: &mut Report) -> Option<&'a str> {
    let error = match value {
        None => FieldError::required(path, ""),
        Some(Value::String(text)) if text.is_empty() => {
            FieldError::invalid_text(path, text, "must not be empty")
        }
        Some(Value::String(text)) => return Some(text),
        Some(other) => FieldError::invalid(path, other, "must be a string"),
    };
    report.add(error);
    None
}
