//! Names of field managers.

use std::borrow::Cow;

use serde_json::Value;

use super::managers::declared_entries;
use crate::field::{Fault, FieldError, Path};
use crate::object::Object;

/// A name may have so many bytes.
const LONGEST_NAME: usize = 128;
/// The name of a subresource may have so many bytes.
const LONGEST_SUBRESOURCE: usize = 256;

/// The manager a write is by: the one it names, or else its client.
pub fn manager_of<'a>(field_manager: &'a str, user_agent: &'a str) -> Cow<'a, str> {
    if !field_manager.is_empty() {
        return field_manager.into();
    }
    let client = user_agent.split('/').next().unwrap_or("");
    if client.len() <= LONGEST_NAME && client.chars().all(is_printable) {
        return client.into();
    }
    let mut name = String::new();
    for c in client.chars().filter(|c| is_printable(*c)) {
        if name.len() + c.len_utf8() > LONGEST_NAME {
            break;
        }
        name.push(c);
    }
    name.into()
}

/// What is wrong with the name of a field manager.
pub fn check_manager(name: &str, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if name.len() > LONGEST_NAME {
        errors.push(FieldError::too_long(path, LONGEST_NAME));
    }
    for (at, c) in name.char_indices().filter(|(_, c)| !is_printable(*c)) {
        let detail = format!("invalid character U+{:04X} (at position {at})", c as u32);
        errors.push(FieldError::invalid_text(path, name, detail));
    }
    errors
}

/// What is wrong with the `managedFields` that an object is about to be stored with.
pub fn check_managed_fields(object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let metadata = Path::of("metadata");
    let list = metadata.field("managedFields");
    for (at, entry) in declared_entries(object).unwrap_or(&[]).iter().enumerate() {
        let path = list.index(at);
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or("");
        if !matches!(text("operation"), "Apply" | "Update") {
            let (path, detail) = (path.field("operation"), "must be `Apply` or `Update`");
            errors.push(FieldError::invalid_text(&path, text("operation"), detail));
        }
        if !matches!(text("fieldsType"), "" | "FieldsV1") {
            let path = path.field("fieldsType");
            errors.push(FieldError::invalid_text(&path, text("fieldsType"), "must be `FieldsV1`"));
        }
        errors.extend(check_manager(text("manager"), &path.field("manager")));
        if text("subresource").len() > LONGEST_SUBRESOURCE {
            let path = path.field("subresource");
            let detail = format!("may not be more than {LONGEST_SUBRESOURCE} bytes");
            errors.push(FieldError::new(Fault::TooLong, &path, detail));
        }
    }
    errors
}

/// Whether a character is a letter, a mark, a number, punctuation, a symbol, or a space.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    // Behind a letter, marks are shown as they are; what cannot be shown is escaped.
    let mut text = String::from("a");
    text.push(c);
    text.escape_debug().nth(1) != Some('\\')
}
