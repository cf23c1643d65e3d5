//! Validation of owner references.

use serde_json::Value;

use super::MOST_ERRORS;
use crate::field::{FieldError, Path, quote};
use crate::names;

/// Each error about one more controller shows all the references, so their number is bounded.
const MOST_CONTROLLERS_TOLD: usize = 8;

pub(super) fn validate_owners(owners: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let mut first_controller: Option<String> = None;
    let mut others_told = 0;
    for (index, owner) in owners.iter().enumerate() {
        if errors.len() >= MOST_ERRORS {
            return;
        }
        validate_owner(owner, &path.index(index), errors);
        if !owner.get("controller").and_then(Value::as_bool).unwrap_or(false) {
            continue;
        }
        let this = format!("{}/{}", text(owner, "kind"), text(owner, "name"));
        match &first_controller {
            Some(_) if others_told == MOST_CONTROLLERS_TOLD => {}
            Some(first) => {
                others_told += 1;
                let shown: Vec<String> = owners.iter().map(show).collect();
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                errors.push(FieldError::invalid_shown(path, format!("[{}]", shown.join(",")), detail));
            }
            None => first_controller = Some(this),
        }
    }
}

fn validate_owner(owner: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let api_version = text(owner, "apiVersion");
    let group_version = names::group_version(api_version);
    if api_version.is_empty() {
        errors.push(FieldError::required(&path.field("apiVersion"), "must not be empty"));
    } else if group_version.is_none_or(|(_, version)| version.is_empty()) {
        let detail = "must be <group>/<version> or <version>";
        errors.push(FieldError::invalid_text(&path.field("apiVersion"), api_version, detail));
    }
    for field in ["kind", "name", "uid"] {
        if text(owner, field).is_empty() {
            errors.push(FieldError::required(&path.field(field), "must not be empty"));
        }
    }
    // Events come and go in masses; nothing may live by them.
    if group_version == Some(("", "v1")) && text(owner, "kind") == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(FieldError::invalid_shown(path, show(owner), detail));
    }
}

/// A reference with its fields in the order in which Kubernetes writes them.
fn show(owner: &Value) -> String {
    let mut shown: Vec<String> = ["apiVersion", "kind", "name", "uid"]
        .iter()
        .map(|field| format!("{}:{}", quote(field), Value::from(text(owner, field))))
        .collect();
    for field in ["controller", "blockOwnerDeletion"] {
        if let Some(flag) = owner.get(field).and_then(Value::as_bool) {
            shown.push(format!("{}:{flag}", quote(field)));
        }
    }
    format!("{{{}}}", shown.join(","))
}

fn text<'a>(owner: &'a Value, field: &str) -> &'a str {
    owner.get(field).and_then(Value::as_str).unwrap_or("")
}
