//! Validation of owner references.

use std::collections::HashSet;

use serde_json::Value;

use super::MOST_ERRORS;
use crate::Object;
use crate::field::{FieldError, Path, quote};
use crate::names;

/// Each error about one more controller shows all the references, so their number is bounded.
const MOST_CONTROLLERS_TOLD: usize = 8;

/// Drops owners that are named more than once, every field the same; the uids of those that were.
pub fn drop_duplicate_owners(object: &mut Object) -> Vec<String> {
    let metadata = object.0.get_mut("metadata");
    let owners = metadata.and_then(|metadata| metadata.get_mut("ownerReferences")?.as_array_mut());
    let Some(owners) = owners else { return Vec::new() };
    let mut duplicates = Vec::new();
    let mut kept: Vec<Value> = Vec::with_capacity(owners.len());
    let mut seen = HashSet::new();
    for owner in std::mem::take(owners) {
        let uid = text(&owner, "uid").to_owned();
        match !seen.insert(uid.clone()) && kept.contains(&owner) {
            true => duplicates.push(uid),
            false => kept.push(owner),
        }
    }
    *owners = kept;
    duplicates
}

/// What is said of them; `later` where they came out of a patch.
pub fn duplicate_owners_warning(duplicates: &[String], later: bool) -> Option<String> {
    let after = if later { " after mutating admission happens" } else { "" };
    (!duplicates.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries{after}; API server dedups owner references in 1.20+, and \
             may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            duplicates.join(", ")
        )
    })
}

pub(super) fn validate_owners(owners: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let mut first_controller: Option<String> = None;
    let mut others_told = 0;
    for owner in owners {
        if errors.len() >= MOST_ERRORS {
            return;
        }
        // Kubernetes does not say which of them it is.
        validate_owner(owner, path, errors);
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
    if group_version.is_none_or(|(_, version)| version.is_empty()) {
        let detail = "version must not be empty";
        errors.push(FieldError::invalid_text(&path.field("apiVersion"), api_version, detail));
    }
    for field in ["kind", "name", "uid"] {
        if text(owner, field).is_empty() {
            errors.push(FieldError::invalid_text(&path.field(field), "", "must not be empty"));
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
