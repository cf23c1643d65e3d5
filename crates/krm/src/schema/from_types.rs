//! From Rust types to the schemas of their kinds: plain structural schemas, as a CustomResourceDefinition would have
//! them.

mod alternatives;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// Deeper types are cut off; only types that hold themselves get there.
const DEEPEST: usize = 64;

/// What a schema of a kind may say besides `x-kubernetes-…`.
const KEYWORDS: [&str; 24] = [
    "additionalProperties",
    "anyOf",
    "allOf",
    "default",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "oneOf",
    "pattern",
    "properties",
];

/// The schema of objects that are read into a `T`.
///
/// A field that may be left out is not nullable: a null there is taken for nothing, and goes. Types that hold anything,
/// or themselves, keep what nobody declared. Enums with data become objects that hold one of their variants.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let declared = settings.into_generator().into_root_schema_for::<T>().to_value();
    let mut schema = structural(declared, 0);
    schema.remove("nullable");
    declare_type_and_metadata(&mut schema);
    Value::Object(schema)
}

/// Every object has them, and what is in metadata is not a matter of kinds.
fn declare_type_and_metadata(schema: &mut Map<String, Value>) {
    schema.insert("type".into(), json!("object"));
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("apiVersion".into(), json!({"type": "string"}));
        properties.insert("kind".into(), json!({"type": "string"}));
        properties.insert("metadata".into(), json!({"type": "object"}));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !matches!(name.as_str(), Some("apiVersion" | "kind" | "metadata")));
        if required.is_empty() {
            schema.remove("required");
        }
    }
}

/// A generated schema in structural form.
fn structural(schema: Value, depth: usize) -> Map<String, Value> {
    let Value::Object(mut schema) = schema else { return anything() };
    if schema.contains_key("$ref") || depth > DEEPEST {
        return anything();
    }
    read_type(&mut schema);
    read_values(&mut schema);
    join_description_lines(&mut schema);
    for combination in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = schema.remove(combination) {
            let branches = branches.into_iter().map(|branch| structural(branch, depth + 1)).collect();
            alternatives::merge(&mut schema, combination, branches);
        }
    }
    read_fields(&mut schema, depth);
    read_items(&mut schema, depth);
    read_number(&mut schema);
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    let says_what = ["type", "enum", PRESERVE, "x-kubernetes-int-or-string"];
    if !says_what.iter().any(|keyword| schema.contains_key(*keyword)) {
        schema.insert(PRESERVE.into(), json!(true));
    }
    schema.retain(|keyword, _| {
        KEYWORDS.contains(&keyword.as_str())
            || matches!(keyword.as_str(), "type" | "required")
            || keyword.starts_with("x-kubernetes-")
    });
    schema
}

/// Joins the source lines of a doc comment: `kubectl explain` would keep its line breaks. Blank lines separate paragraphs.
fn join_description_lines(schema: &mut Map<String, Value>) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let paragraphs = description
            .split("\n\n")
            .map(|paragraph| paragraph.split_whitespace().collect::<Vec<&str>>().join(" "));
        *description = paragraphs.collect::<Vec<String>>().join("\n\n");
    }
}

fn anything() -> Map<String, Value> {
    Map::from_iter([(PRESERVE.to_owned(), json!(true))])
}

/// One type, and whether null is another. Null alone is no type a schema may have.
fn read_type(schema: &mut Map<String, Value>) {
    let types = match schema.get_mut("type") {
        Some(Value::Array(types)) => std::mem::take(types),
        Some(Value::String(only)) if only == "null" => vec![json!("null")],
        _ => return,
    };
    schema.remove("type");
    let (nulls, mut types): (Vec<Value>, Vec<Value>) = types.into_iter().partition(|name| name == "null");
    if !nulls.is_empty() {
        schema.insert("nullable".into(), json!(true));
    }
    match types.len() {
        1 => {
            schema.insert("type".into(), types.remove(0));
        }
        2 if types.contains(&json!("string")) && types.contains(&json!("integer")) => {
            schema.insert("x-kubernetes-int-or-string".into(), json!(true));
        }
        _ => {}
    }
}

/// Constants become enums of one; null is said by `nullable`.
fn read_values(schema: &mut Map<String, Value>) {
    if let Some(only) = schema.remove("const") {
        schema.insert("enum".into(), json!([only]));
    }
    let Some(Value::Array(values)) = schema.get_mut("enum") else { return };
    let before = values.len();
    values.retain(|value| !value.is_null());
    let (after, all_texts) = (values.len(), values.iter().all(Value::is_string));
    if after < before {
        schema.insert("nullable".into(), json!(true));
    }
    if after == 0 {
        schema.remove("enum");
    } else if all_texts {
        schema.entry("type").or_insert_with(|| json!("string"));
    }
}

fn read_fields(schema: &mut Map<String, Value>, depth: usize) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (_, property) in properties.iter_mut() {
            let mut inner = structural(property.take(), depth + 1);
            // Where a field may be left out, null says the same.
            inner.remove("nullable");
            *property = Value::Object(inner);
        }
    }
    match schema.remove("additionalProperties") {
        Some(each @ Value::Object(_)) => {
            let each = structural(each, depth + 1);
            schema.insert("additionalProperties".into(), Value::Object(each));
        }
        Some(Value::Bool(true)) => {
            schema.insert(PRESERVE.into(), json!(true));
        }
        _ => {}
    }
}

/// Lists of distinct single values are sets; tuples hold anything.
fn read_items(schema: &mut Map<String, Value>, depth: usize) {
    if schema.get("type") != Some(&json!("array")) {
        return;
    }
    let items = match schema.remove("items") {
        Some(items) if !schema.contains_key("prefixItems") => structural(items, depth + 1),
        _ => anything(),
    };
    let single = |name: &Value| matches!(name.as_str(), Some("string" | "integer" | "number" | "boolean"));
    let distinct = schema.remove("uniqueItems") == Some(json!(true));
    if distinct && items.get("type").is_some_and(single) {
        schema.entry("x-kubernetes-list-type").or_insert_with(|| json!("set"));
    }
    schema.insert("items".into(), Value::Object(items));
}

/// The formats of Rust's whole numbers, as the two that are checked and bounds.
fn read_number(schema: &mut Map<String, Value>) {
    if schema.get("type") != Some(&json!("integer")) {
        return;
    }
    let format = match schema.get("format").and_then(Value::as_str) {
        Some("int8" | "int16" | "int32" | "uint8" | "uint16") => "int32",
        Some("uint32") => {
            schema.entry("maximum").or_insert_with(|| json!(u32::MAX));
            "int64"
        }
        Some("int64" | "int" | "uint64" | "uint") => "int64",
        Some(_) => {
            schema.remove("format");
            return;
        }
        None => return,
    };
    schema.insert("format".into(), json!(format));
}

#[cfg(test)]
mod tests;
