//! Validation of selectable fields.

use std::collections::BTreeSet;

use crate::crd::field_path::FieldPath;
use crate::crd::json_schema::JsonSchema;
use crate::field::{Fault, FieldError, Path};

/// How many there may be.
pub(super) const MOST: usize = 8;

pub(super) fn validate(
    fields: &[&str],
    schema: &JsonSchema<'_>,
    too_many_is_fine: bool,
    path: &Path<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, json_path) in fields.iter().enumerate() {
        let at = path.index(index);
        let path = at.field("jsonPath");
        if json_path.is_empty() {
            errors.push(FieldError::required(&path, ""));
            continue;
        }
        let found = match FieldPath::without_brackets(json_path, schema) {
            Ok(found) => found,
            Err(why) => {
                let detail = format!("is an invalid path: {why}");
                errors.push(FieldError::invalid_text(&path, json_path, detail));
                continue;
            }
        };
        if found.root == "metadata" {
            let detail = "must not point to fields in metadata";
            errors.push(FieldError::invalid_text(&path, json_path, detail));
        }
        if !found.schema.is_some_and(|it| matches!(it.kind, "string" | "boolean" | "integer")) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and \
                          strings with formats are allowed.";
            errors.push(FieldError::invalid_text(&path, json_path, detail));
        }
        if !seen.insert(found.text) {
            errors.push(FieldError::with(Fault::Duplicate, &path, &(*json_path).into(), ""));
        }
    }
    if seen.len() > MOST && !too_many_is_fine {
        errors.push(FieldError::too_many(path, seen.len(), MOST));
    }
    errors
}
