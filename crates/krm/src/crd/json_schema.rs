//! An OpenAPI v3 schema as a CustomResourceDefinition may write it, read into fields once.

use serde_json::{Map, Value};

/// How deep schemas may nest; what lies deeper is not read. A request that deep is refused when it is decoded.
pub const MAX_DEPTH: usize = 128;

/// One schema, and all below it. Texts and values stay where they were read from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JsonSchema<'a> {
    /// `id`, which is not supported.
    pub id: &'a str,
    /// `$schema`, which is not supported.
    pub dialect: &'a str,
    /// `$ref`, which is not supported.
    pub reference: Option<&'a str>,
    /// `description`.
    pub description: &'a str,
    /// `type`; empty when it is not given.
    pub kind: &'a str,
    /// `nullable`.
    pub nullable: bool,
    /// `format`.
    pub format: &'a str,
    /// `title`.
    pub title: &'a str,
    /// `default`.
    pub default: Option<&'a Value>,
    /// `maximum`.
    pub maximum: Option<&'a Value>,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: bool,
    /// `minimum`.
    pub minimum: Option<&'a Value>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: bool,
    /// `maxLength`.
    pub max_length: Option<i64>,
    /// `minLength`.
    pub min_length: Option<i64>,
    /// `pattern`.
    pub pattern: &'a str,
    /// `maxItems`.
    pub max_items: Option<i64>,
    /// `minItems`.
    pub min_items: Option<i64>,
    /// `uniqueItems`.
    pub unique_items: bool,
    /// `multipleOf`.
    pub multiple_of: Option<&'a Value>,
    /// `enum`.
    pub allowed: &'a [Value],
    /// `maxProperties`.
    pub max_properties: Option<i64>,
    /// `minProperties`.
    pub min_properties: Option<i64>,
    /// `required`.
    pub required: Vec<&'a str>,
    /// `items`.
    pub items: Option<Items<'a>>,
    /// `allOf`.
    pub all_of: Vec<JsonSchema<'a>>,
    /// `oneOf`.
    pub one_of: Vec<JsonSchema<'a>>,
    /// `anyOf`.
    pub any_of: Vec<JsonSchema<'a>>,
    /// `not`.
    pub not: Option<Box<JsonSchema<'a>>>,
    /// `properties`, in the order of their names.
    pub properties: Vec<(&'a str, JsonSchema<'a>)>,
    /// `additionalProperties`.
    pub additional_properties: Option<Additional<'a>>,
    /// `patternProperties`, which is not supported.
    pub pattern_properties: Vec<(&'a str, JsonSchema<'a>)>,
    /// `dependencies`, which is not supported.
    pub dependencies: Vec<(&'a str, Dependency<'a>)>,
    /// `additionalItems`, which is not supported.
    pub additional_items: Option<Additional<'a>>,
    /// `definitions`, which is not supported.
    pub definitions: Vec<(&'a str, JsonSchema<'a>)>,
    /// `externalDocs`.
    pub external_docs: Option<&'a Map<String, Value>>,
    /// `example`.
    pub example: Option<&'a Value>,
    /// `x-kubernetes-preserve-unknown-fields`.
    pub preserve_unknown: Option<bool>,
    /// `x-kubernetes-embedded-resource`.
    pub embedded: bool,
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `x-kubernetes-list-map-keys`.
    pub list_map_keys: Vec<&'a str>,
    /// `x-kubernetes-list-type`.
    pub list_type: Option<&'a str>,
    /// `x-kubernetes-map-type`.
    pub map_type: Option<&'a str>,
    /// `x-kubernetes-validations`.
    pub rules: Vec<Rule<'a>>,
}

/// `items`: one schema for all, or, which is not supported, one for each place.
#[derive(Debug, Clone, PartialEq)]
pub enum Items<'a> {
    /// One for all.
    One(Box<JsonSchema<'a>>),
    /// One for each place.
    Each(Vec<JsonSchema<'a>>),
}

/// `additionalProperties`: a schema, or whether there may be any.
#[derive(Debug, Clone, PartialEq)]
pub struct Additional<'a> {
    /// Whether there may be any.
    pub allowed: bool,
    /// What they look like.
    pub schema: Option<Box<JsonSchema<'a>>>,
}

/// One of the `dependencies`: a schema, or names of properties.
#[derive(Debug, Clone, PartialEq)]
pub enum Dependency<'a> {
    /// What has to hold as well.
    Schema(Box<JsonSchema<'a>>),
    /// What has to be there as well.
    Properties(Vec<&'a str>),
}

/// One of the `x-kubernetes-validations`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rule<'a> {
    /// What has to be true.
    pub rule: &'a str,
    /// What is said when it is not.
    pub message: &'a str,
    /// What is said, worked out.
    pub message_expression: &'a str,
    /// The reason of the cause.
    pub reason: Option<&'a str>,
    /// The field the cause names.
    pub field_path: &'a str,
    /// Whether the rule also runs when there is no old value.
    pub optional_old_self: Option<bool>,
}

impl<'a> JsonSchema<'a> {
    /// Reads a schema. What has the wrong type counts as not given.
    pub fn parse(value: &'a Value) -> JsonSchema<'a> {
        read(value, MAX_DEPTH)
    }

    /// The schema of a property.
    pub fn property(&self, name: &str) -> Option<&JsonSchema<'a>> {
        let found = self.properties.binary_search_by(|(key, _)| (*key).cmp(name)).ok()?;
        Some(&self.properties[found].1)
    }

    /// The schema of all items, where there is one.
    pub fn item(&self) -> Option<&JsonSchema<'a>> {
        match self.items.as_ref()? {
            Items::One(schema) => Some(schema),
            Items::Each(_) => None,
        }
    }

    /// The schema of properties that are not named.
    pub fn values(&self) -> Option<&JsonSchema<'a>> {
        self.additional_properties.as_ref()?.schema.as_deref()
    }

    /// Whether anything in this schema, or below it, is as `test` says.
    pub fn has(&self, test: &mut dyn FnMut(&JsonSchema<'a>) -> bool) -> bool {
        test(self) || self.children().any(|child| child.has(test))
    }

    /// Every schema right below this one.
    pub fn children(&self) -> impl Iterator<Item = &JsonSchema<'a>> {
        let items: &[JsonSchema<'a>] = match &self.items {
            Some(Items::One(schema)) => std::slice::from_ref(schema),
            Some(Items::Each(schemas)) => schemas,
            None => &[],
        };
        let dependencies = self.dependencies.iter().filter_map(|(_, dependency)| match dependency {
            Dependency::Schema(schema) => Some(&**schema),
            Dependency::Properties(_) => None,
        });
        items
            .iter()
            .chain(&self.all_of)
            .chain(&self.any_of)
            .chain(&self.one_of)
            .chain(self.not.as_deref())
            .chain(self.properties.iter().map(|(_, schema)| schema))
            .chain(self.values())
            .chain(self.pattern_properties.iter().map(|(_, schema)| schema))
            .chain(self.additional_items.as_ref().and_then(|items| items.schema.as_deref()))
            .chain(self.definitions.iter().map(|(_, schema)| schema))
            .chain(dependencies)
    }
}

fn read(value: &Value, depth: usize) -> JsonSchema<'_> {
    let mut schema = JsonSchema::default();
    let (Some(map), Some(below)) = (value.as_object(), depth.checked_sub(1)) else { return schema };
    for (key, value) in map {
        set(&mut schema, key, value, below);
    }
    schema
}

fn set<'a>(schema: &mut JsonSchema<'a>, key: &str, value: &'a Value, depth: usize) {
    if value.is_null() {
        return;
    }
    match key {
        "id" => schema.id = text(value),
        "$schema" => schema.dialect = text(value),
        "$ref" => schema.reference = value.as_str(),
        "description" => schema.description = text(value),
        "type" => schema.kind = text(value),
        "nullable" => schema.nullable = flag(value),
        "format" => schema.format = text(value),
        "title" => schema.title = text(value),
        "default" => schema.default = Some(value),
        "maximum" => schema.maximum = Some(value),
        "exclusiveMaximum" => schema.exclusive_maximum = flag(value),
        "minimum" => schema.minimum = Some(value),
        "exclusiveMinimum" => schema.exclusive_minimum = flag(value),
        "maxLength" => schema.max_length = value.as_i64(),
        "minLength" => schema.min_length = value.as_i64(),
        "pattern" => schema.pattern = text(value),
        "maxItems" => schema.max_items = value.as_i64(),
        "minItems" => schema.min_items = value.as_i64(),
        "uniqueItems" => schema.unique_items = flag(value),
        "multipleOf" => schema.multiple_of = Some(value),
        "enum" => schema.allowed = list(value),
        "maxProperties" => schema.max_properties = value.as_i64(),
        "minProperties" => schema.min_properties = value.as_i64(),
        "required" => schema.required = texts(value),
        "items" => schema.items = items(value, depth),
        "allOf" => schema.all_of = schemas(value, depth),
        "oneOf" => schema.one_of = schemas(value, depth),
        "anyOf" => schema.any_of = schemas(value, depth),
        "not" => schema.not = Some(Box::new(read(value, depth))),
        "properties" => schema.properties = named(value, depth),
        "additionalProperties" => schema.additional_properties = additional(value, depth),
        "patternProperties" => schema.pattern_properties = named(value, depth),
        "dependencies" => schema.dependencies = dependencies(value, depth),
        "additionalItems" => schema.additional_items = additional(value, depth),
        "definitions" => schema.definitions = named(value, depth),
        "externalDocs" => schema.external_docs = value.as_object(),
        "example" => schema.example = Some(value),
        "x-kubernetes-preserve-unknown-fields" => schema.preserve_unknown = value.as_bool(),
        "x-kubernetes-embedded-resource" => schema.embedded = flag(value),
        "x-kubernetes-int-or-string" => schema.int_or_string = flag(value),
        "x-kubernetes-list-map-keys" => schema.list_map_keys = texts(value),
        "x-kubernetes-list-type" => schema.list_type = value.as_str(),
        "x-kubernetes-map-type" => schema.map_type = value.as_str(),
        "x-kubernetes-validations" => schema.rules = list(value).iter().map(rule).collect(),
        _ => {}
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn flag(value: &Value) -> bool {
    value.as_bool().unwrap_or(false)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn texts(value: &Value) -> Vec<&str> {
    list(value).iter().map(text).collect()
}

fn schemas(value: &Value, depth: usize) -> Vec<JsonSchema<'_>> {
    list(value).iter().map(|value| read(value, depth)).collect()
}

fn named(value: &Value, depth: usize) -> Vec<(&str, JsonSchema<'_>)> {
    let map = value.as_object().into_iter().flatten();
    map.map(|(name, value)| (name.as_str(), read(value, depth))).collect()
}

fn items(value: &Value, depth: usize) -> Option<Items<'_>> {
    match value {
        Value::Object(_) => Some(Items::One(Box::new(read(value, depth)))),
        Value::Array(_) => Some(Items::Each(schemas(value, depth))),
        _ => None,
    }
}

fn additional(value: &Value, depth: usize) -> Option<Additional<'_>> {
    match value {
        Value::Bool(allowed) => Some(Additional { allowed: *allowed, schema: None }),
        Value::Object(_) => Some(Additional { allowed: true, schema: Some(Box::new(read(value, depth))) }),
        _ => None,
    }
}

fn dependencies<'a>(value: &'a Value, depth: usize) -> Vec<(&'a str, Dependency<'a>)> {
    let map = value.as_object().into_iter().flatten();
    let dependency = |value: &'a Value| match value {
        Value::Object(_) => Dependency::Schema(Box::new(read(value, depth))),
        _ => Dependency::Properties(texts(value)),
    };
    map.map(|(name, value)| (name.as_str(), dependency(value))).collect()
}

fn rule(value: &Value) -> Rule<'_> {
    let at = |field: &str| value.get(field).map_or("", text);
    Rule {
        rule: at("rule"),
        message: at("message"),
        message_expression: at("messageExpression"),
        reason: value.get("reason").and_then(Value::as_str),
        field_path: at("fieldPath"),
        optional_old_self: value.get("optionalOldSelf").and_then(Value::as_bool),
    }
}
