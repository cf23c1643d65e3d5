//! Lists that are sets or maps, and objects that are taken apart or not.

use std::collections::BTreeSet;

use super::Demands;
use crate::crd::go_text;
use crate::crd::json_schema::{Items, JsonSchema};
use crate::field::{FieldError, Path};

/// Checks `x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and `x-kubernetes-map-type`.
pub(super) fn check(
    schema: &JsonSchema<'_>,
    demands: Demands,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if let Some(map_type) = schema.map_type {
        has_type(schema, "object", "x-kubernetes-map-type", path, errors);
        word(map_type, &["atomic", "granular"], &path.field("x-kubernetes-map-type"), errors);
    }
    if schema.list_type.is_some() && schema.kind != "array" {
        has_type(schema, "array", "x-kubernetes-list-type", path, errors);
    } else if demands.atomic_sets && is_set_of_granular_items(schema) {
        set_of_granular_items(schema, path, errors);
    }
    let list_path = path.field("x-kubernetes-list-type");
    if let Some(list_type) = schema.list_type {
        word(list_type, &["atomic", "set", "map"], &list_path, errors);
    }
    if !schema.list_map_keys.is_empty() && schema.list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match schema.list_type {
            None => FieldError::required(&list_path, detail),
            Some(other) => FieldError::invalid_text(&list_path, other, detail),
        });
    }
    if schema.list_type == Some("map") {
        map_like(schema, path, errors);
    }
    if demands.sound_map_keys {
        errors.extend(unsound_keys(schema, path));
    }
}

/// Whether this is a set of items that are merged field by field, which no set can hold.
pub(super) fn is_set_of_granular_items(schema: &JsonSchema<'_>) -> bool {
    let granular = |item: &JsonSchema<'_>| match item.kind {
        "array" => item.list_type.is_some_and(|it| it != "atomic"),
        "object" => item.map_type != Some("atomic"),
        _ => false,
    };
    schema.list_type == Some("set") && schema.item().is_some_and(granular)
}

/// Items and keys of sets and map-like lists that may be missing.
pub(super) fn unsound_keys(schema: &JsonSchema<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (Some(item), Some(list_type @ ("set" | "map"))) = (schema.item(), schema.list_type) else {
        return errors;
    };
    let items = path.field("items");
    if item.nullable {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(&items.field("nullable"), detail));
    }
    if list_type != "map" {
        return errors;
    }
    let properties = items.field("properties");
    let required: BTreeSet<&str> = item.required.iter().copied().collect();
    for key in &schema.list_map_keys {
        let Some(property) = item.property(key) else { continue };
        let path = properties.key(key);
        if !required.contains(key) && property.default.is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a \
                          required property";
            errors.push(FieldError::required(&path.field("default"), detail));
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(&path.field("nullable"), detail));
        }
    }
    errors
}

fn has_type(
    schema: &JsonSchema<'_>,
    wanted: &str,
    extension: &str,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if schema.kind == wanted {
        return;
    }
    let detail = format!("must be {wanted} if {extension} is specified");
    errors.push(match schema.kind {
        "" => FieldError::required(&path.field("type"), detail),
        other => FieldError::invalid_text(&path.field("type"), other, detail),
    });
}

fn word(word: &str, allowed: &[&str], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if !allowed.contains(&word) {
        errors.push(FieldError::not_supported(path, &word.into(), allowed));
    }
}

fn set_of_granular_items(schema: &JsonSchema<'_>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(item) = schema.item() else { return };
    let items = path.field("items");
    let field = if item.kind == "array" { "x-kubernetes-list-type" } else { "x-kubernetes-map-type" };
    // The list type is shown in both cases: Kubernetes means the map type in the second.
    let shown = item.list_type.map_or("null".to_owned(), go_text::text);
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    errors.push(FieldError::invalid_shown(&items.field(field), shown, detail));
}

fn map_like(schema: &JsonSchema<'_>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let keys_path = path.field("x-kubernetes-list-map-keys");
    let items_path = path.field("items");
    if schema.list_map_keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(&keys_path, detail));
    }
    let item = match &schema.items {
        None => {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            errors.push(FieldError::required(&items_path, detail));
            return;
        }
        Some(each @ Items::Each(_)) => {
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            errors.push(FieldError::invalid_shown(&items_path, go_text::items(each), detail));
            return;
        }
        Some(Items::One(item)) => item,
    };
    if item.kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid_text(&items_path.field("type"), item.kind, detail));
        return;
    }
    let properties = items_path.field("properties");
    let mut seen = BTreeSet::new();
    let about_keys = |detail: &'static str, errors: &mut Vec<FieldError>| {
        let shown = go_text::texts(&schema.list_map_keys);
        errors.push(FieldError::invalid_shown(&keys_path, shown, detail));
    };
    for key in &schema.list_map_keys {
        match item.property(key) {
            None => about_keys("entries must all be names of item properties", errors),
            Some(property) if matches!(property.kind, "array" | "object") => {
                // The type of the items is shown, not that of the key.
                let path = properties.key(key);
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.push(FieldError::invalid_text(&path.field("type"), item.kind, detail));
            }
            Some(_) => {}
        }
        if !seen.insert(key) {
            about_keys("must not contain duplicate entries", errors);
        }
    }
}
