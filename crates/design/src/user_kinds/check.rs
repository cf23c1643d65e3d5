//! Validates a value against a JSON schema (draft 4).

use regex::Regex;

use crate::yaml::{Map, Node, Position, Value};

/// One mistake.
pub(super) struct Mistake {
    /// Where.
    pub(super) at: Position,
    /// The path in the document.
    pub(super) path: String,
    /// What is wrong.
    pub(super) message: String,
}

/// How deep references may lead: schemas may refer in circles.
const DEPTH: usize = 64;

/// Everything that is wrong with a value.
pub(super) fn check(value: &Node, schema: &Node) -> Vec<Mistake> {
    let mut checking = Checking { root: schema, mistakes: Vec::new() };
    checking.value(value, schema, "data", 0);
    checking.mistakes
}

struct Checking<'s> {
    root: &'s Node,
    mistakes: Vec<Mistake>,
}

impl<'s> Checking<'s> {
    fn note(&mut self, at: &Node, path: &str, message: String) {
        self.mistakes.push(Mistake { at: at.at.clone(), path: path.to_owned(), message });
    }

    fn value(&mut self, value: &Node, schema: &'s Node, path: &str, depth: usize) {
        let Some(words) = schema.value.as_map().filter(|_| depth < DEPTH) else { return };
        if let Some(reference) = text(words, "$ref") {
            if let Some(target) = self.referred(reference) {
                self.value(value, target, path, depth + 1);
            }
            return;
        }
        if let Some(kinds) = words.get("type") {
            let names = one_or_more(kinds);
            if !names.iter().any(|name| is_of(&value.value, name)) {
                let message = format!("expected {}, found {}", names.join(" or "), value.value.kind());
                self.note(value, path, message);
                return;
            }
        }
        let choices = words.get("enum").and_then(|choices| choices.value.as_list());
        if let Some(choices) = choices.filter(|choices| !choices.contains(value)) {
            let choices: Vec<String> = choices.iter().filter_map(|one| one.value.text()).collect();
            self.note(value, path, format!("must be one of {}", choices.join(", ")));
        }
        match &value.value {
            Value::String(text) => self.text(value, text, words, path),
            Value::Int(number) => self.number(value, *number as f64, words, path),
            Value::Float(number) => self.number(value, *number, words, path),
            Value::List(items) => self.list(value, items, words, path, depth),
            Value::Map(map) => self.map(value, map, words, path, depth),
            Value::Null | Value::Bool(_) => {}
        }
        self.joined(value, words, path, depth);
    }

    fn text(&mut self, at: &Node, text: &str, words: &Map, path: &str) {
        let count = text.chars().count() as f64;
        if number(words, "minLength").is_some_and(|least| count < least) {
            self.note(at, path, "is too short".to_owned());
        }
        if number(words, "maxLength").is_some_and(|most| count > most) {
            self.note(at, path, "is too long".to_owned());
        }
        let Some(pattern) = self::text(words, "pattern") else { return };
        // A pattern that only other engines know holds nobody to anything.
        if Regex::new(pattern).is_ok_and(|pattern| !pattern.is_match(text)) {
            self.note(at, path, format!("must match {pattern}"));
        }
    }

    fn number(&mut self, at: &Node, value: f64, words: &Map, path: &str) {
        let is_exclusive = |word: &str| words.get(word).and_then(|node| node.value.as_bool()) == Some(true);
        let is_below = |least: &f64| value < *least || (value == *least && is_exclusive("exclusiveMinimum"));
        if let Some(least) = number(words, "minimum").filter(is_below) {
            self.note(at, path, format!("must be at least {least}"));
        }
        let is_above = |most: &f64| value > *most || (value == *most && is_exclusive("exclusiveMaximum"));
        if let Some(most) = number(words, "maximum").filter(is_above) {
            self.note(at, path, format!("must be at most {most}"));
        }
    }

    fn list(&mut self, at: &Node, items: &[Node], words: &'s Map, path: &str, depth: usize) {
        let count = items.len() as f64;
        if number(words, "minItems").is_some_and(|least| count < least) {
            self.note(at, path, "has too few entries".to_owned());
        }
        if number(words, "maxItems").is_some_and(|most| count > most) {
            self.note(at, path, "has too many entries".to_owned());
        }
        let Some(schema) = words.get("items") else { return };
        for (i, item) in items.iter().enumerate() {
            let own = match schema.value.as_list() {
                Some(by_place) => by_place.get(i),
                None => Some(schema),
            };
            if let Some(own) = own {
                self.value(item, own, &format!("{path}[{i}]"), depth + 1);
            }
        }
    }

    fn map(&mut self, at: &Node, map: &Map, words: &'s Map, path: &str, depth: usize) {
        let required = words.get("required").and_then(|node| node.value.as_list()).unwrap_or_default();
        for name in
            required.iter().filter_map(|node| node.value.as_str()).filter(|name| !map.contains_key(name))
        {
            self.note(at, path, format!("`{name}` is required"));
        }
        let properties = words.get("properties").and_then(|node| node.value.as_map());
        let patterns = words.get("patternProperties").and_then(|node| node.value.as_map());
        let others = words.get("additionalProperties");
        for (key, value) in map.iter() {
            let key = key.to_string();
            let path = format!("{path}.{key}");
            let mut is_known = false;
            if let Some(schema) = properties.and_then(|properties| properties.get(&key)) {
                is_known = true;
                self.value(value, schema, &path, depth + 1);
            }
            for (pattern, schema) in patterns.into_iter().flat_map(Map::iter) {
                if Regex::new(&pattern.to_string()).is_ok_and(|pattern| pattern.is_match(&key)) {
                    is_known = true;
                    self.value(value, schema, &path, depth + 1);
                }
            }
            match others.filter(|_| !is_known).map(|others| (others, &others.value)) {
                Some((_, Value::Bool(false))) => self.note(value, &path, "unknown field".to_owned()),
                Some((schema, Value::Map(_))) => self.value(value, schema, &path, depth + 1),
                _ => {}
            }
        }
    }

    /// `allOf`, `anyOf`, `oneOf` and `not`.
    fn joined(&mut self, value: &Node, words: &'s Map, path: &str, depth: usize) {
        let list = |word: &str| words.get(word).and_then(|node| node.value.as_list());
        for schema in list("allOf").into_iter().flatten() {
            self.value(value, schema, path, depth + 1);
        }
        if let Some(any) = list("anyOf").filter(|any| !any.iter().any(|one| self.holds(value, one, depth))) {
            self.note(value, path, format!("matches none of {} schemas", any.len()));
        }
        if let Some(one_of) = list("oneOf") {
            let fitting = one_of.iter().filter(|one| self.holds(value, one, depth)).count();
            if fitting != 1 {
                self.note(
                    value,
                    path,
                    format!("must match exactly one of {} schemas, but matches {fitting}", one_of.len()),
                );
            }
        }
        if words.get("not").is_some_and(|schema| self.holds(value, schema, depth)) {
            self.note(value, path, "has a shape that it must not have".to_owned());
        }
    }

    fn holds(&self, value: &Node, schema: &'s Node, depth: usize) -> bool {
        let mut inner = Checking { root: self.root, mistakes: Vec::new() };
        inner.value(value, schema, "", depth + 1);
        inner.mistakes.is_empty()
    }

    /// What a reference within the schema leads to; others lead nowhere.
    fn referred(&self, reference: &str) -> Option<&'s Node> {
        let mut node = self.root;
        for part in reference.strip_prefix('#')?.split('/').filter(|part| !part.is_empty()) {
            node = node.get(&part.replace("~1", "/").replace("~0", "~"))?;
        }
        Some(node)
    }
}

fn one_or_more(node: &Node) -> Vec<&str> {
    match node.value.as_list() {
        Some(items) => items.iter().filter_map(|item| item.value.as_str()).collect(),
        None => node.value.as_str().into_iter().collect(),
    }
}

/// A kind of value that there is not holds nobody to anything.
fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.as_bool().is_some(),
        "integer" => value.as_int().is_some(),
        "number" => matches!(value, Value::Int(_) | Value::Float(_)),
        "string" => value.as_str().is_some(),
        "array" => value.as_list().is_some(),
        "object" => value.as_map().is_some(),
        _ => true,
    }
}

fn text<'m>(words: &'m Map, word: &str) -> Option<&'m str> {
    words.get(word)?.value.as_str()
}

fn number(words: &Map, word: &str) -> Option<f64> {
    match words.get(word)?.value {
        Value::Int(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
}
