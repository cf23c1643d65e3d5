//! ConfigMap: configuration as keys and values.

use std::sync::Arc;

use krm::field::{FieldError, Path};
use krm::kind::{Kind, RawChange, Scope};
use krm::meta::OBJECT_META;
use krm::names;
use krm::object::Object;
use krm::shape::{Field, Outline, STRING, STRING_MAP, Shape, Struct};
use krm::table::{Column, Columns};
use serde_json::{Map, Value};

use super::columns::{age, column};
use super::declare::{self, MOST_ERRORS};

const ABOUT_DATA: &str = "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' \
    or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap \
    with the keys in the BinaryData field, this is enforced during validation process.";

/// The most bytes that all values may have.
pub const MOST_BYTES: usize = 1 << 20;

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "ConfigMap",
    type_name: "v1.ConfigMap",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::if_absent("immutable", Shape::Flag),
        Field::if_empty("data", STRING_MAP),
        Field::if_empty("binaryData", Shape::Map("map[string][]uint8", &Shape::Bytes)),
    ],
});

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "ConfigMap holds configuration data for applications to consume.")
        .says(
            "data",
            "Configuration data as UTF-8 strings. Keys must consist of alphanumeric characters, '-', '_' or '.', and must not be in binaryData as well.",
        )
        .says("binaryData", "Configuration data as base64-encoded bytes. Keys must consist of alphanumeric characters, '-', '_' or '.', and must not be in data as well.")
        .says("immutable", "If true, data and binaryData cannot be updated, and the field cannot be unset. Defaults to false.");
    let mut kind = declare::core("", "ConfigMap", "configmaps", Scope::Namespaced, &SHAPE, &outline);
    kind.names.short = vec!["cm".into()];
    kind.versions[0].columns = Columns::new(vec![
        Column::name(),
        column("Data", ABOUT_DATA, |object, _| {
            let keys = |field: &str| object.get(field).and_then(Value::as_object).map_or(0, Map::len);
            (keys("data") + keys("binaryData")).into()
        }),
        age(),
    ]);
    kind.validations.push(Arc::new(|change| {
        let Some(new) = change.new else { return Vec::new() };
        let mut errors = unchanged(change, new, &["data", "binaryData"]);
        errors.extend(validate(new));
        errors
    }));
    kind
}

fn validate(object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    let (texts, bytes) = (entries(object, "data"), entries(object, "binaryData"));
    let path = Path::of("data");
    for (key, value) in texts {
        size += value.as_str().map_or(0, str::len);
        if errors.len() >= MOST_ERRORS {
            continue;
        }
        errors.extend(key_faults(key, &path));
        if bytes.contains_key(key) {
            let detail = "duplicate of key present in binaryData";
            errors.push(FieldError::invalid_text(&path.key(key), key, detail));
        }
    }
    for (key, value) in bytes {
        size += decoded_size(value);
        if errors.len() < MOST_ERRORS {
            errors.extend(key_faults(key, &Path::of("binaryData")));
        }
    }
    if size > MOST_BYTES {
        errors.push(FieldError::too_long(&Path::ROOT.key(""), MOST_BYTES));
    }
    errors
}

/// What is wrong with a key, which may become the name of a file.
pub fn key_faults(key: &str, path: &Path<'_>) -> Vec<FieldError> {
    let faults = names::config_map_key(key).into_iter();
    faults.map(|fault| FieldError::invalid_text(&path.key(key), key, fault)).collect()
}

/// What was declared immutable stays, and stays declared so.
pub fn unchanged(change: &RawChange<'_>, new: &Object, fields: &[&str]) -> Vec<FieldError> {
    let is_immutable = |object: &Object| object.get("immutable").and_then(Value::as_bool).unwrap_or(false);
    let Some(old) = change.old.filter(|old| is_immutable(old)) else { return Vec::new() };
    let forbidden =
        |field: &&str| FieldError::forbidden(&Path::of(field), "field is immutable when `immutable` is set");
    let mut errors = Vec::new();
    if !is_immutable(new) {
        errors.push(forbidden(&"immutable"));
    }
    errors.extend(fields.iter().filter(|field| new.get(field) != old.get(field)).map(forbidden));
    errors
}

/// The entries of a map of an object.
pub fn entries<'a>(object: &'a Object, field: &str) -> &'a Map<String, Value> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    object.get(field).and_then(Value::as_object).unwrap_or(&NONE)
}

/// How many bytes a value in base64 stands for.
pub fn decoded_size(value: &Value) -> usize {
    let text = value.as_str().unwrap_or("");
    text.len() / 4 * 3 - text.bytes().rev().take(2).filter(|sign| *sign == b'=').count()
}
