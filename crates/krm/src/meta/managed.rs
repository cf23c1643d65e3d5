//! Validation of `managedFields`.

use serde_json::Value;

use super::MOST_ERRORS;
use crate::field::{FieldError, Path, is_printable};

const MOST_IN_MANAGER: usize = 128;
const MOST_IN_SUBRESOURCE: usize = 256;

/// What is wrong with the name of a field manager, in a query or in an object.
pub fn validate_field_manager(name: &str, path: &Path<'_>) -> Vec<FieldError> {
    if name.len() > MOST_IN_MANAGER {
        // Its characters are not looked at: every error about one would repeat the whole name.
        return vec![FieldError::too_long(path, MOST_IN_MANAGER)];
    }
    let hidden = name.char_indices().filter(|(_, c)| !is_printable(*c));
    let error = |(at, c): (usize, char)| {
        let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(c));
        FieldError::invalid_text(path, name, detail)
    };
    hidden.map(error).collect()
}

pub(super) fn validate_managed_fields(entries: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    for (index, entry) in entries.iter().enumerate() {
        if errors.len() >= MOST_ERRORS {
            return;
        }
        let path = path.index(index);
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or("");
        let operation = text("operation");
        if !matches!(operation, "Apply" | "Update") {
            let detail = "must be `Apply` or `Update`";
            errors.push(FieldError::invalid_text(&path.field("operation"), operation, detail));
        }
        let fields_type = text("fieldsType");
        if !matches!(fields_type, "" | "FieldsV1") {
            let detail = "must be `FieldsV1`";
            errors.push(FieldError::invalid_text(&path.field("fieldsType"), fields_type, detail));
        }
        errors.extend(validate_field_manager(text("manager"), &path.field("manager")));
        if text("subresource").len() > MOST_IN_SUBRESOURCE {
            errors.push(FieldError::too_long(&path.field("subresource"), MOST_IN_SUBRESOURCE));
        }
    }
}
