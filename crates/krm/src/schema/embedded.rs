//! Whole objects inside objects: their type and metadata are held to the rules of all objects.

use serde_json::Value;

use super::node::Node;
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
    let mut errors = Vec::new();
    validate_value(root, object, &Path::ROOT, &mut errors);
    errors
}

fn validate_value(node: &Node, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if !node.has_embedded {
        return;
    }
    match value {
        Value::Object(map) => {
            if node.embedded {
                check_api_version(map.get("apiVersion"), &path.field("apiVersion"), errors);
                check_kind(map.get("kind"), &path.field("kind"), errors);
                if let Some(metadata) = map.get("metadata") {
                    check_metadata(metadata, &path.field("metadata"), errors);
                }
            }
            for (key, value) in map {
                match (node.properties.get(key), node.field(key)) {
                    (Some(node), _) => validate_value(node, value, &path.field(key), errors),
                    (None, Some(node)) => validate_value(node, value, &path.key(key), errors),
                    (None, None) => {}
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = &node.items else { return };
            for (index, item) in list.iter().enumerate() {
                validate_value(items, item, &path.index(index), errors);
            }
        }
        _ => {}
    }
}

fn check_api_version(value: Option<&Value>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(text) = required_text(value, path, errors) else { return };
    if names::group_version(text).is_none() {
        let detail = format!("unexpected GroupVersion string: {text}");
        errors.push(FieldError::invalid_text(path, text, detail));
    }
}

fn check_kind(value: Option<&Value>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(text) = required_text(value, path, errors) else { return };
    let faults = names::dns1035_label(&text.to_lowercase());
    if !faults.is_empty() {
        let detail = format!("may have mixed case, but should otherwise match: {}", faults.join(","));
        errors.push(FieldError::invalid_text(path, text, detail));
    }
}

fn check_metadata(value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let mut metadata = value.clone();
    match (meta::coerce(&mut metadata, path, &mut Vec::new()), metadata) {
        (Err(why), _) => errors.push(FieldError::invalid(path, value, why)),
        (Ok(()), Value::Object(metadata)) => errors.extend(meta::validate_embedded(&metadata, path)),
        (Ok(()), _) => {}
    }
}

fn required_text<'a>(
    value: Option<&'a Value>,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) -> Option<&'a str> {
    let error = match value {
        None => FieldError::required(path, ""),
        Some(Value::String(text)) if text.is_empty() => {
            FieldError::invalid_text(path, text, "must not be empty")
        }
        Some(Value::String(text)) => return Some(text),
        Some(other) => FieldError::invalid(path, other, "must be a string"),
    };
    errors.push(error);
    None
}
