//! The schema of a kind as clients get it.
//!
//! In 3.0 it is what was declared. 2.0 can't say all of that: what it has no words for is left out, and with it whatever
//! would make clients refuse objects that are fine.

use serde_json::{Map, Value, json};

use super::definitions::OBJECT_META;
use super::form::Form;

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

const COMBINATIONS: [&str; 4] = ["allOf", "anyOf", "oneOf", "not"];

/// What a schema may say besides its parts and `x-kubernetes-…`.
const KEYWORDS: [&str; 22] = [
    "default",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
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
    "pattern",
    "title",
    "type",
    "uniqueItems",
];

const ABOUT_API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object. Servers should convert \
    recognized schemas to the latest internal value, and may reject unrecognized values. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const ABOUT_KIND: &str = "Kind is a string value representing the REST resource this object represents. Servers may infer this \
    from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const ABOUT_METADATA: &str = "Standard object's metadata. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The schema of whole objects, with the fields that all objects have.
pub fn of_objects(declared: &Value, form: Form) -> Value {
    let keeps_all = is_true(declared, PRESERVE);
    if form == Form::V2 && keeps_all {
        // With any field declared, clients would refuse all others.
        return json!({ "type": "object" });
    }
    let mut schema = published(declared, form);
    schema["type"] = "object".into();
    add_fields(&mut schema, &type_fields());
    schema["properties"]["metadata"] = form.refer_saying(OBJECT_META, ABOUT_METADATA);
    schema
}

/// The schema of whole objects of Kubernetes' own kinds, with the fields that all objects have.
pub fn of_go_type(published: &Value, form: Form) -> Value {
    let mut schema = form.translate(published);
    add_fields(&mut schema, &type_fields());
    let metadata = json!({ "$ref": OBJECT_META, "description": ABOUT_METADATA, "default": {} });
    schema["properties"]["metadata"] = form.translate(&metadata);
    schema
}

/// The fields that say what an object is.
pub fn type_fields() -> [(&'static str, Value); 2] {
    let text = |about: &str| json!({ "description": about, "type": "string" });
    [("apiVersion", text(ABOUT_API_VERSION)), ("kind", text(ABOUT_KIND))]
}

/// Adds fields to those that a schema declares.
pub fn add_fields(schema: &mut Value, fields: &[(&str, Value)]) {
    if schema.get("properties").is_none_or(|properties| !properties.is_object()) {
        schema["properties"] = json!({});
    }
    for (name, field) in fields {
        schema["properties"][*name] = field.clone();
    }
}

fn is_true(schema: &Value, keyword: &str) -> bool {
    schema.get(keyword).and_then(Value::as_bool).unwrap_or(false)
}

fn published(declared: &Value, form: Form) -> Value {
    let Some(declared) = declared.as_object() else { return json!({}) };
    let mut schema = Map::new();
    for (keyword, value) in declared.iter().filter(|(keyword, value)| says_something(keyword, value)) {
        let value = match (keyword.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                fields.iter().map(|(name, field)| (name.clone(), published(field, form))).collect()
            }
            ("items" | "additionalProperties", Value::Object(_)) => published(value, form),
            ("additionalProperties" | "required", _) => value.clone(),
            (keyword, _) if COMBINATIONS.contains(&keyword) => value.clone(),
            (keyword, _) if KEYWORDS.contains(&keyword) || keyword.starts_with("x-kubernetes-") => {
                value.clone()
            }
            _ => continue,
        };
        schema.insert(keyword.clone(), value);
    }
    match form {
        Form::V3 => unfold_int_or_string(&mut schema),
        Form::V2 => reduce(&mut schema, declared),
    }
    let mut schema = Value::Object(schema);
    if is_true(&schema, EMBEDDED) && !(form == Form::V2 && is_true(&schema, PRESERVE)) {
        embed(&mut schema, form);
    }
    schema
}

/// Whether it is said at all: what is empty or off might as well not be there.
fn says_something(keyword: &str, value: &Value) -> bool {
    match value {
        Value::Null => false,
        _ if matches!(keyword, "default" | "example") => true,
        Value::Bool(is_on) => *is_on,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// Says in common words what `x-kubernetes-int-or-string` means.
fn unfold_int_or_string(schema: &mut Map<String, Value>) {
    if schema.get(INT_OR_STRING) != Some(&json!(true)) {
        return;
    }
    let either = json!([{ "type": "integer" }, { "type": "string" }]);
    let first = schema.get("allOf").and_then(|all| all.get(0)).and_then(|first| first.get("anyOf"));
    if schema.get("anyOf") == Some(&either) || first == Some(&either) {
        return;
    }
    if !schema.contains_key("anyOf") {
        schema.insert("anyOf".into(), either);
        return;
    }
    let all = schema.entry("allOf").or_insert_with(|| json!([]));
    if let Some(all) = all.as_array_mut() {
        all.insert(0, json!({ "anyOf": either }));
    }
}

/// Leaves out what 2.0 has no words for.
fn reduce(schema: &mut Map<String, Value>, declared: &Map<String, Value>) {
    for combination in COMBINATIONS {
        schema.remove(combination);
    }
    let nullable = schema.remove("nullable").is_some();
    let keeps_all = schema.get(PRESERVE) == Some(&json!(true));
    if nullable || keeps_all {
        schema.remove("items");
        schema.remove("properties");
    }
    let has_type = |schema: &Map<String, Value>, name: &str| schema.get("type") == Some(&json!(name));
    let shapeless = has_type(schema, "array") && !schema.contains_key("items");
    if nullable || shapeless || (keeps_all && has_type(schema, "object")) {
        schema.remove("type");
    }
    // A field that may be null can't be asked for.
    let may_be_null = |field: &Value| is_true(field, "nullable");
    if declared.get("additionalProperties").is_some_and(may_be_null) {
        schema.remove("required");
    }
    let fields = declared.get("properties");
    let field = |name: &Value| fields.and_then(|fields| fields.get(name.as_str()?));
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !field(name).is_some_and(may_be_null));
        if required.is_empty() {
            schema.remove("required");
        }
    }
}

/// An object within an object has the fields that all objects have.
fn embed(schema: &mut Value, form: Form) {
    add_fields(schema, &type_fields());
    schema["properties"]["metadata"] = form.refer_saying(OBJECT_META, ABOUT_METADATA);
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    for field in ["kind", "apiVersion"] {
        if !required.iter().any(|name| name == field) {
            required.push(field.into());
        }
    }
    schema["required"] = required.into();
}
