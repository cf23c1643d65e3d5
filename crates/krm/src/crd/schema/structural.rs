//! What makes a schema structural: it says, outside of any logic, what every field is.

use super::complete;
use crate::crd::json_schema::JsonSchema;
use crate::field::{FieldError, Path};
use crate::schema::Pattern;

/// Everything that keeps a schema from being structural, in the order of its text.
pub(crate) fn faults(schema: &JsonSchema<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    spine(schema, Level::Root, path, &mut errors);
    complete::check(schema, path, &mut errors);
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// A schema outside of any logic.
fn spine(schema: &JsonSchema<'_>, level: Level, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if schema.kind == "array" && schema.item().is_none() {
        errors.push(FieldError::required(&path.field("items"), "must be specified"));
    }
    if let Some(item) = schema.item() {
        spine(item, Level::Item, &path.field("items"), errors);
    }
    let properties = path.field("properties");
    for (name, property) in &schema.properties {
        spine(property, Level::Field, &properties.key(name), errors);
    }
    if schema.additional_properties.is_some() {
        let path = path.field("additionalProperties");
        if level == Level::Root {
            errors.push(FieldError::forbidden(&path, "must not be used at the root"));
        }
        if let Some(values) = schema.values() {
            spine(values, Level::Field, &path, errors);
        }
    }
    int_or_string(schema, path, errors);
    let any_of_is_known = is_int_or_string(&schema.any_of);
    let first_any_of_is_known = schema.all_of.first().is_some_and(|first| is_int_or_string(&first.any_of));
    logic(schema, any_of_is_known, first_any_of_is_known, path, errors);
    has_type(schema, level, path, errors);
    if schema.embedded && schema.additional_properties.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(FieldError::forbidden(&path.field("additionalProperties"), detail));
    }
    if level == Level::Root && !schema.kind.is_empty() && schema.kind != "object" {
        errors.push(FieldError::invalid_text(&path.field("type"), schema.kind, "must be object at the root"));
    }
    resource_fields(schema, level, path, errors);
    if schema.embedded && schema.preserve_unknown != Some(true) && schema.properties.is_empty() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(&properties, detail));
    }
}

fn int_or_string(schema: &JsonSchema<'_>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let detail = "must be false if x-kubernetes-int-or-string is true";
    let others = [
        ("x-kubernetes-preserve-unknown-fields", schema.preserve_unknown == Some(true)),
        ("x-kubernetes-embedded-resource", schema.embedded),
    ];
    for (field, is_set) in others {
        if schema.int_or_string && is_set {
            errors.push(FieldError::invalid(&path.field(field), &true.into(), detail));
        }
    }
}

fn has_type(schema: &JsonSchema<'_>, level: Level, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let path = path.field("type");
    if schema.embedded && schema.kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(match schema.kind {
            "" => FieldError::required(&path, detail),
            kind => FieldError::invalid_text(&path, kind, detail),
        });
        return;
    }
    if schema.kind.is_empty() && !schema.int_or_string && schema.preserve_unknown != Some(true) {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(&path, detail));
    }
}

/// `apiVersion`, `kind` and `metadata` are known anyway, and may be told of only so far.
fn resource_fields(schema: &JsonSchema<'_>, level: Level, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let is_resource = level == Level::Root || schema.embedded;
    let properties = path.field("properties");
    for field in ["kind", "apiVersion"] {
        if let Some(property) = schema.property(field).filter(|it| is_resource && it.kind != "string") {
            let path = properties.key(field);
            errors.push(FieldError::invalid_text(&path.field("type"), property.kind, "must be string"));
        }
    }
    let Some(metadata) = schema.property("metadata") else { return };
    let path = properties.key("metadata");
    if is_resource && metadata.kind != "object" {
        errors.push(FieldError::invalid_text(&path.field("type"), metadata.kind, "must be object"));
    }
    if level == Level::Root && !restricts_names_only(metadata) {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly \
                      specified";
        errors.push(FieldError::forbidden(&path, detail));
    }
}

fn restricts_names_only(metadata: &JsonSchema<'_>) -> bool {
    let names_only = metadata.properties.iter().all(|(name, _)| matches!(*name, "name" | "generateName"));
    let rest = JsonSchema { kind: "", default: None, properties: Vec::new(), ..metadata.clone() };
    names_only && rest == JsonSchema::default()
}

/// The two alternatives that `x-kubernetes-int-or-string` may be spelled out with.
fn is_int_or_string(alternatives: &[JsonSchema<'_>]) -> bool {
    let just = |schema: &JsonSchema<'_>, kind| *schema == JsonSchema { kind, ..JsonSchema::default() };
    matches!(alternatives, [first, second] if just(first, "integer") && just(second, "string"))
}

/// The schemas in `anyOf`, `allOf`, `oneOf` and `not`.
fn logic(
    schema: &JsonSchema<'_>,
    any_of_is_known: bool,
    first_any_of_is_known: bool,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if !any_of_is_known {
        let path = path.field("anyOf");
        for (index, nested) in schema.any_of.iter().enumerate() {
            inside_logic(nested, false, &path.index(index), errors);
        }
    }
    let all_of = path.field("allOf");
    for (index, nested) in schema.all_of.iter().enumerate() {
        inside_logic(nested, first_any_of_is_known && index == 0, &all_of.index(index), errors);
    }
    let one_of = path.field("oneOf");
    for (index, nested) in schema.one_of.iter().enumerate() {
        inside_logic(nested, false, &one_of.index(index), errors);
    }
    if let Some(nested) = &schema.not {
        inside_logic(nested, false, &path.field("not"), errors);
    }
    if !schema.pattern.is_empty()
        && let Err(fault) = Pattern::new(schema.pattern).program()
    {
        let detail = format!("must be a valid regular expression, but isn't: {fault}");
        errors.push(FieldError::invalid_text(&path.field("pattern"), schema.pattern, detail));
    }
}

/// A schema inside of logic: it may judge values, and say nothing about what they are.
fn inside_logic(
    schema: &JsonSchema<'_>,
    any_of_is_known: bool,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    logic(schema, any_of_is_known, false, path, errors);
    if let Some(item) = schema.item() {
        inside_logic(item, false, &path.field("items"), errors);
    }
    let properties = path.field("properties");
    for (name, property) in &schema.properties {
        inside_logic(property, false, &properties.key(name), errors);
    }
    let adds = schema.additional_properties.as_ref().is_some_and(|it| it.allowed);
    let structure = [
        (!schema.kind.is_empty(), "type", "must be empty to be structural"),
        (adds, "additionalProperties", "must be undefined to be structural"),
        (schema.default.is_some(), "default", "must be undefined to be structural"),
        (!schema.title.is_empty(), "title", "must be empty to be structural"),
        (!schema.description.is_empty(), "description", "must be empty to be structural"),
        (schema.nullable, "nullable", "must be false to be structural"),
        (
            schema.preserve_unknown == Some(true),
            "x-kubernetes-preserve-unknown-fields",
            "must be false to be structural",
        ),
        (schema.embedded, "x-kubernetes-embedded-resource", "must be false to be structural"),
        (schema.int_or_string, "x-kubernetes-int-or-string", "must be false to be structural"),
        (!schema.list_map_keys.is_empty(), "x-kubernetes-list-map-keys", "must be empty to be structural"),
        (schema.list_type.is_some(), "x-kubernetes-list-type", "must be undefined to be structural"),
        (schema.map_type.is_some(), "x-kubernetes-map-type", "must be undefined to be structural"),
        (!schema.rules.is_empty(), "x-kubernetes-validations", "must be empty to be structural"),
    ];
    for (is_set, field, detail) in structure {
        if is_set {
            errors.push(FieldError::forbidden(&path.field(field), detail));
        }
    }
    if schema.property("metadata").is_some() {
        let detail = "must not be specified in a nested context";
        errors.push(FieldError::forbidden(&properties.key("metadata"), detail));
    }
}
