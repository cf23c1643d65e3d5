//! What kubectl applied on the client's side before it applied on the server's, kept in an annotation.

use serde_json::{Map, Value};

use super::compare::compare;
use super::fields::fields_of;
use super::set::FieldSet;
use super::types::Type;
use super::validate::{Duplicates, validate};
use crate::encode::to_json_text;
use crate::object::Object;

/// The manager whose applies carry on what was applied on the client's side.
pub(super) const MANAGER: &str = "kubectl";

/// The annotation with what was applied last.
pub const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// All annotations of an object together may have so many bytes.
const MOST_BYTES: usize = 256 << 10;

/// The fields that the client applied last and that are still as it left them: whoever else owns them owns them only
/// because there was no better way to write it down.
pub(super) fn unchanged_since(ty: &Type, live: &Object, api_version: &str) -> Option<FieldSet> {
    let text = live.annotation(ANNOTATION).filter(|text| !text.is_empty())?;
    let last = Object::from_value(serde_json::from_str(text).ok()?)?;
    if last.api_version() != api_version {
        return None;
    }
    validate(ty, live, Duplicates::Refused).ok()?;
    validate(ty, &last, Duplicates::Refused).ok()?;
    let change = compare(ty, &last, live);
    let mut fields = fields_of(ty, &last);
    for changed in [change.modified, change.added, change.removed] {
        fields.subtract(&changed);
    }
    Some(fields)
}

/// Brings the annotation, if the object has one, up to date with what was applied.
pub(super) fn refresh(object: &mut Object, applied: &Object) {
    if object.annotation(ANNOTATION).is_none_or(str::is_empty) {
        return;
    }
    let text = written(applied);
    let Some(Value::Object(annotations)) = object.metadata_mut().get_mut("annotations") else { return };
    annotations.insert(ANNOTATION.to_owned(), Value::String(text));
    let bytes: usize =
        annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if bytes > MOST_BYTES {
        annotations.remove(ANNOTATION);
    }
}

/// What was applied, without the annotation itself, on a line of its own.
fn written(applied: &Object) -> String {
    let mut applied = applied.clone();
    if let Some(Value::Object(metadata)) = applied.0.get_mut("metadata") {
        let keep = match metadata.get_mut("annotations") {
            Some(Value::Object(annotations)) if annotations.values().all(Value::is_string) => {
                annotations.remove(ANNOTATION);
                true
            }
            _ => false,
        };
        if !keep {
            Map::remove(metadata, "annotations");
        }
    }
    let mut text = to_json_text(&applied.into_value());
    text.push('\n');
    text
}
