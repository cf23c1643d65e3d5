//! Columns that `kubectl get` prints.

use super::subresources::simple_json_path;
use crate::crd::spec::Column;
use crate::field::{FieldError, Path};

const KINDS: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

pub(super) fn validate(columns: &[Column<'_>], path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        check(column, &path.index(index), &mut errors);
    }
    errors
}

fn check(column: &Column<'_>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if column.name.is_empty() {
        errors.push(FieldError::required(&path.field("name"), ""));
    }
    let one_of = |allowed: &[&str]| format!("must be one of {}", allowed.join(","));
    if column.kind.is_empty() {
        errors.push(FieldError::required(&path.field("type"), one_of(&KINDS)));
    } else if !KINDS.contains(&column.kind) {
        errors.push(FieldError::invalid_text(&path.field("type"), column.kind, one_of(&KINDS)));
    }
    if !column.format.is_empty() && !FORMATS.contains(&column.format) {
        errors.push(FieldError::invalid_text(&path.field("format"), column.format, one_of(&FORMATS)));
    }
    if column.json_path.is_empty() {
        errors.push(FieldError::required(&path.field("JSONPath"), ""));
    } else {
        errors.extend(simple_json_path(column.json_path, &path.field("JSONPath")));
    }
}
