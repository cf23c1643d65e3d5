//! From the JSON of a schema to its compiled form.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::format::Format;
use super::node::{Additional, Branches, JsonType, Limits, ListType, Node, Rest};
use super::pattern::Pattern;
use super::prune;

/// Deeper schemas are refused, so that no walk runs out of stack.
const DEEPEST: usize = 128;

/// Why a schema cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Something else than an object stands where a schema is expected.
    #[error("a schema must be an object")]
    NotAnObject,
    /// Schemas are nested deeper than any walk goes.
    #[error("schemas are nested more than {DEEPEST} deep")]
    TooDeep,
    /// A rule in it can't be run.
    #[error("invalid validation rule: {0}")]
    Rule(String),
}

pub(super) fn compile(json: &Value) -> Result<Node, SchemaError> {
    Compiler::default().node(json, 0)
}

#[derive(Default)]
struct Compiler {
    /// The same patterns come again and again in large schemas.
    patterns: HashMap<String, Pattern>,
}

impl Compiler {
    fn node(&mut self, json: &Value, depth: usize) -> Result<Node, SchemaError> {
        if depth > DEEPEST {
            return Err(SchemaError::TooDeep);
        }
        let json = json.as_object().ok_or(SchemaError::NotAnObject)?;
        let below = depth + 1;

        let mut node = Node {
            kind: text(json, "type").and_then(json_type),
            int_or_string: flag(json, "x-kubernetes-int-or-string"),
            nullable: flag(json, "nullable"),
            preserve_unknown: flag(json, "x-kubernetes-preserve-unknown-fields"),
            embedded: flag(json, "x-kubernetes-embedded-resource"),
            list: list_type(json),
            additional: match json.get("additionalProperties") {
                Some(Value::Bool(true)) => Additional::Anything,
                Some(Value::Bool(false)) => Additional::Nothing,
                Some(each @ Value::Object(_)) => Additional::Each(Box::new(self.node(each, below)?)),
                _ => Additional::Unsaid,
            },
            items: match json.get("items") {
                Some(items @ Value::Object(_)) => Some(Box::new(self.node(items, below)?)),
                _ => None,
            },
            default: json.get("default").filter(|value| !value.is_null()).cloned().map(Box::new),
            limits: self.limits(json),
            branches: self.branches(json, below)?,
            rest: rest(json),
            ..Node::default()
        };
        for (name, property) in json.get("properties").and_then(Value::as_object).into_iter().flatten() {
            node.properties.insert(name.clone(), self.node(property, below)?);
        }
        if node.int_or_string {
            node.kind = None;
        }

        node.has_defaults = node.default.is_some() || node.parts().any(|part| part.has_defaults);
        node.has_embedded = node.embedded || node.parts().any(|part| part.has_embedded);
        let unique = matches!(node.list, ListType::Set | ListType::Map);
        node.has_unique_lists = unique || node.parts().any(|part| part.has_unique_lists);
        if let Some(mut default) = node.default.take() {
            prune::prune_value(&node, &mut default);
            node.default = Some(default);
        }
        Ok(node)
    }

    fn limits(&mut self, json: &Map<String, Value>) -> Option<Box<Limits>> {
        let limits = Limits {
            format: format(json),
            maximum: number(json, "maximum"),
            exclusive_maximum: flag(json, "exclusiveMaximum"),
            minimum: number(json, "minimum"),
            exclusive_minimum: flag(json, "exclusiveMinimum"),
            multiple_of: number(json, "multipleOf"),
            max_length: count(json, "maxLength"),
            min_length: count(json, "minLength"),
            pattern: text(json, "pattern").filter(|text| !text.is_empty()).map(|text| self.pattern(text)),
            max_items: count(json, "maxItems"),
            min_items: count(json, "minItems"),
            unique_items: flag(json, "uniqueItems"),
            max_properties: count(json, "maxProperties"),
            min_properties: count(json, "minProperties"),
            required: texts(json, "required"),
            allowed: list(json, "enum").to_vec(),
            allowed_texts: many_texts(list(json, "enum")),
        };
        let says_something = limits.format.is_some()
            || limits.maximum.is_some()
            || limits.minimum.is_some()
            || limits.multiple_of.is_some()
            || limits.max_length.is_some()
            || limits.min_length.is_some()
            || limits.pattern.is_some()
            || limits.max_items.is_some()
            || limits.min_items.is_some()
            || limits.unique_items
            || limits.max_properties.is_some()
            || limits.min_properties.is_some()
            || !limits.required.is_empty()
            || !limits.allowed.is_empty();
        says_something.then(|| Box::new(limits))
    }

    fn pattern(&mut self, text: &str) -> Pattern {
        if let Some(known) = self.patterns.get(text) {
            return known.clone();
        }
        let pattern = Pattern::new(text);
        self.patterns.insert(text.to_owned(), pattern.clone());
        pattern
    }

    fn branches(
        &mut self,
        json: &Map<String, Value>,
        depth: usize,
    ) -> Result<Option<Box<Branches>>, SchemaError> {
        let all_of = self.nodes(list(json, "allOf"), depth)?;
        let any_of = self.nodes(list(json, "anyOf"), depth)?;
        let one_of = self.nodes(list(json, "oneOf"), depth)?;
        let not = match json.get("not") {
            Some(not @ Value::Object(_)) => Some(self.node(not, depth)?),
            _ => None,
        };
        let none = all_of.is_empty() && any_of.is_empty() && one_of.is_empty() && not.is_none();
        Ok((!none).then(|| Box::new(Branches { all_of, any_of, one_of, not })))
    }

    fn nodes(&mut self, list: &[Value], depth: usize) -> Result<Vec<Node>, SchemaError> {
        list.iter().map(|json| self.node(json, depth)).collect()
    }
}

fn rest(json: &Map<String, Value>) -> Option<Box<Rest>> {
    let rest = Rest {
        list_map_keys: texts(json, "x-kubernetes-list-map-keys"),
        map_type: text(json, "x-kubernetes-map-type").map(str::to_owned),
        rules: list(json, "x-kubernetes-validations").to_vec(),
    };
    let empty = rest.list_map_keys.is_empty() && rest.map_type.is_none() && rest.rules.is_empty();
    (!empty).then(|| Box::new(rest))
}

fn json_type(name: &str) -> Option<JsonType> {
    Some(match name {
        "object" => JsonType::Object,
        "array" => JsonType::Array,
        "string" => JsonType::String,
        "integer" => JsonType::Integer,
        "number" => JsonType::Number,
        "boolean" => JsonType::Boolean,
        _ => return None,
    })
}

fn list_type(json: &Map<String, Value>) -> ListType {
    match text(json, "x-kubernetes-list-type") {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map,
        Some("atomic") => ListType::Atomic,
        _ => ListType::Unsaid,
    }
}

/// The format, where it is one that is checked for the declared type.
fn format(json: &Map<String, Value>) -> Option<(Format, String)> {
    let name = text(json, "format")?;
    let kind = text(json, "type").filter(|_| !flag(json, "x-kubernetes-int-or-string"));
    let format = Format::named(name, kind.and_then(json_type))?;
    Some((format, name.to_owned()))
}

/// The texts of an enum that is long enough to be looked up.
fn many_texts(allowed: &[Value]) -> Option<HashSet<String>> {
    let texts = || allowed.iter().filter_map(Value::as_str).map(str::to_owned);
    (allowed.len() > 16).then(|| texts().collect())
}

fn text<'a>(json: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    json.get(name)?.as_str()
}

fn flag(json: &Map<String, Value>, name: &str) -> bool {
    json.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn number(json: &Map<String, Value>, name: &str) -> Option<f64> {
    json.get(name)?.as_f64()
}

fn count(json: &Map<String, Value>, name: &str) -> Option<i64> {
    json.get(name)?.as_i64()
}

fn list<'a>(json: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    json.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts(json: &Map<String, Value>, name: &str) -> Vec<String> {
    list(json, name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
