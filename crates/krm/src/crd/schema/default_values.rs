//! Defaults have to be values that the schema takes.

use serde_json::{Map, Value, json};

use crate::cel::Rules;
use crate::field::{FieldError, Path};
use crate::schema::Schema;

/// Everything that is wrong with the defaults of a structural schema.
pub(super) fn faults(schema: &Value, pruned: bool, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    // The root is a resource, and its default has to be one, too.
    let mut root = schema.clone();
    if let Some(fields) = root.as_object_mut() {
        fields.insert("x-kubernetes-embedded-resource".into(), true.into());
    }
    let place = SchemaContext { resource: &root, way: &Way::Start, is_resource: true, inside_meta: false };
    visit(&root, place, pruned, path, &mut errors);
    errors
}

/// Whether some default holds fields that are not in the schema.
pub(super) fn any_is_unpruned(schema: &Value) -> bool {
    let here = schema.get("default").is_some_and(|default| has_unknown_fields(schema, default));
    let below = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let elements = ["items", "additionalProperties"].into_iter().filter_map(|field| schema.get(field));
    here || below.chain(elements).filter(|it| it.is_object()).any(any_is_unpruned)
}

/// Where a schema stands in the resource around it.
#[derive(Clone, Copy)]
struct SchemaContext<'p> {
    /// The schema of that resource.
    resource: &'p Value,
    way: &'p Way<'p>,
    is_resource: bool,
    /// In its type or its metadata.
    inside_meta: bool,
}

/// How to get from a resource to a value in it.
enum Way<'w> {
    Start,
    Field(&'w Way<'w>, &'w str),
    Item(&'w Way<'w>),
}

impl Way<'_> {
    /// A resource with a value in the place that this leads to.
    fn around(&self, value: Value) -> Value {
        match self {
            Way::Start => value,
            Way::Field(way, name) => way.around(json!({*name: value})),
            Way::Item(way) => way.around(json!([value])),
        }
    }
}

fn visit(
    schema: &Value,
    place: SchemaContext<'_>,
    pruned: bool,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let place = if embedded {
        SchemaContext { resource: schema, way: &Way::Start, is_resource: true, inside_meta: false }
    } else {
        place
    };
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        errors.extend(judge(schema, default, place, pruned, &path.field("default")));
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        let below = SchemaContext { way: &Way::Item(place.way), is_resource: false, ..place };
        visit(items, below, pruned, &path.field("items"), errors);
    }
    let properties = path.field("properties");
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let of_resource = place.is_resource && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
        let below = SchemaContext {
            way: &Way::Field(place.way, name),
            is_resource: false,
            inside_meta: place.inside_meta || of_resource,
            ..place
        };
        visit(property, below, pruned, &properties.key(name), errors);
    }
}

/// What is wrong with one default: of several kinds of faults, the first.
fn judge(
    schema: &Value,
    default: &Value,
    place: SchemaContext<'_>,
    pruned: bool,
    path: &Path<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let Ok(compiled) = Schema::parse(schema) else { return errors };
    if place.inside_meta {
        if let Some(fault) = metadata_fault(default, place) {
            let detail = format!("must result in valid metadata: {fault}");
            return vec![FieldError::invalid(path, default, detail)];
        }
    } else {
        if pruned && has_unknown_fields(schema, default) {
            errors.push(FieldError::invalid(path, default, "must not have unknown fields"));
        }
        let mut coerced = default.clone();
        if let Err(error) = compiled.coerce_embedded(&mut coerced) {
            errors.push(below(path, error));
            return errors;
        }
        let faults = compiled.validate_embedded(default);
        if !faults.is_empty() {
            errors.extend(faults.into_iter().map(|error| below(path, error)));
            return errors;
        }
    }
    let faults = compiled.validate_shape(default, None);
    if !faults.is_empty() {
        // A value inside of a default is told of by a field below it, whatever it stands in.
        errors.extend(faults.into_iter().map(|error| field_below(path, error)));
        return errors;
    }
    let rules = Rules::of_part(schema, place.is_resource);
    for old in [Some(default), None] {
        let faults = rules.check_part(default, old);
        if !faults.is_empty() {
            errors.extend(faults.into_iter().map(|error| below(path, error)));
            break;
        }
    }
    errors
}

/// What is wrong with the type and metadata of a resource in which nothing else but this default is given.
fn metadata_fault(default: &Value, place: SchemaContext<'_>) -> Option<String> {
    let mut object = place.way.around(default.clone());
    if let Some(map) = object.as_object_mut() {
        map.entry("kind").or_insert_with(|| "Validation".into());
        map.entry("apiVersion").or_insert_with(|| "validation/v1".into());
    }
    let mut schema = place.resource.clone();
    if let Some(map) = schema.as_object_mut() {
        map.insert("x-kubernetes-embedded-resource".into(), true.into());
    }
    let schema = Schema::parse(&schema).ok()?;
    if let Err(error) = schema.coerce_embedded(&mut object) {
        return Some(error.to_string());
    }
    let faults: Vec<String> = schema.validate_embedded(&object).iter().map(ToString::to_string).collect();
    match faults.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

fn has_unknown_fields(schema: &Value, default: &Value) -> bool {
    let Ok(schema) = Schema::parse(schema) else { return false };
    !schema.unknown_fields(default).is_empty()
}

/// An error about something in a value that stands at a path.
fn below(path: &Path<'_>, mut error: FieldError) -> FieldError {
    error.field = match error.field.chars().next() {
        None => path.to_string(),
        Some('[') => format!("{path}{}", error.field),
        Some(_) => format!("{path}.{}", error.field),
    };
    error
}

fn field_below(path: &Path<'_>, mut error: FieldError) -> FieldError {
    error.field = if error.field.is_empty() { path.to_string() } else { format!("{path}.{}", error.field) };
    error
}

fn flag(schema: &Value, field: &str) -> bool {
    schema.get(field).and_then(Value::as_bool).unwrap_or(false)
}

#[cfg(test)]
mod tests;
