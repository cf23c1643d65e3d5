//! The two forms of what a document holds: as it is written in a file, and as an object has it.

use super::shape::Shape;
use crate::yaml::{Key, Map, Node, Value};

/// The flag among repositories, and where an object has those.
const UNLISTED: &str = "remove_unlisted";
const SOURCES: &str = "sources";

/// As an object has it. What is not of the shape is left out; a document that was accepted loses nothing that counts.
pub(super) fn listed(node: &Node, shape: &Shape) -> Option<Node> {
    let value = match shape {
        Shape::Text => Value::String(node.value.text().filter(|_| !node.value.is_null())?),
        Shape::Whole => Value::Int(whole(&node.value)?),
        Shape::Number => number(&node.value)?,
        Shape::Truth => Value::Bool(truth(&node.value)?),
        Shape::Texts => {
            Value::List(node.value.as_list()?.iter().filter_map(|one| listed(one, &Shape::Text)).collect())
        }
        Shape::Servers => match &node.value {
            Value::List(_) => return listed(node, &Shape::Texts),
            _ => Value::List(split(listed(node, &Shape::Text)?)),
        },
        Shape::TextMap => mapped(node, |one| listed(one, &Shape::Text))?,
        Shape::Labels => mapped(node, |one| {
            let is_empty = one.value.is_null();
            if is_empty { Some(one.clone()) } else { listed(one, &Shape::Text) }
        })?,
        Shape::Pairs => {
            let pair = |(key, one): (&Key, &Node)| {
                let mut pair = Map::new();
                pair.insert("name", one.at.clone(), Node::new(key.to_string(), one.at.clone()));
                pair.insert("value", one.at.clone(), listed(one, &Shape::Text)?);
                Some(Node::new(pair, one.at.clone()))
            };
            Value::List(node.value.as_map()?.iter().filter_map(pair).collect())
        }
        Shape::Fields(fields) => {
            let map = node.value.as_map()?;
            let mut kept = Map::new();
            for (name, shape) in *fields {
                let Some(entry) = map.entry(name) else { continue };
                let (name, one) = match (shape, listed(&entry.value, shape)) {
                    (Shape::Content, Some(one)) if one.value.as_map().is_some() => ("packages", Some(one)),
                    (_, one) => (*name, one),
                };
                if let Some(one) = one {
                    kept.insert(name, entry.key_at.clone(), one);
                }
            }
            kept.into()
        }
        Shape::List(shape) => {
            Value::List(node.value.as_list()?.iter().filter_map(|one| listed(one, shape)).collect())
        }
        Shape::Named(shape) => {
            let member = |(key, one): (&Key, &Node)| named(key, one, shape);
            Value::List(node.value.as_map()?.iter().filter_map(member).collect())
        }
        Shape::Repositories(shape) => {
            let mut sources = node.value.as_map()?.clone();
            let flag = sources.remove(UNLISTED).and_then(|flag| listed(&flag.value, &Shape::Truth));
            let mut repositories = Map::new();
            if let Some(flag) = flag {
                repositories.insert(UNLISTED, flag.at.clone(), flag);
            }
            if !sources.is_empty() {
                let sources = listed(&Node::new(sources, node.at.clone()), &Shape::Named(shape))?;
                repositories.insert(SOURCES, node.at.clone(), sources);
            }
            repositories.into()
        }
        Shape::Content => match &node.value {
            Value::Map(_) => return listed(node, &Shape::Labels),
            _ => return listed(node, &Shape::Text),
        },
    };
    Some(Node { value, at: node.at.clone() })
}

/// A member with its name as one of its fields; one that is left empty takes the member away.
fn named(key: &Key, node: &Node, shape: &Shape) -> Option<Node> {
    let at = node.at.clone();
    let mut member = Map::new();
    let (name, fields) = match &node.value {
        Value::Null => (format!("!{key}"), None),
        _ => (key.to_string(), listed(node, shape)),
    };
    member.insert("name", at.clone(), Node::new(name, at.clone()));
    let fields = fields.map_or_else(Map::new, |fields| match fields.value {
        Value::Map(map) => map,
        _ => Map::new(),
    });
    for (key, entry) in fields {
        member.insert(key, entry.key_at, entry.value);
    }
    Some(Node::new(member, at))
}

fn mapped(node: &Node, form: impl Fn(&Node) -> Option<Node>) -> Option<Value> {
    let mut map = Map::new();
    for (key, entry) in node.value.as_map()?.entries() {
        if let Some(one) = form(&entry.value) {
            map.insert(key.to_string().as_str(), entry.key_at.clone(), one);
        }
    }
    Some(map.into())
}

/// As it is written in a file: lists of members with names become maps again, in their order. What has the form of a file
/// already, and unknown fields stay unchanged, so that validation can report them.
pub(super) fn unlisted(node: Node, shape: &Shape) -> Node {
    let Node { value, at } = node;
    let value = match (shape, value) {
        (Shape::Fields(fields), Value::Map(map)) => unlisted_fields(map, fields).into(),
        (Shape::List(shape), Value::List(items)) => {
            Value::List(items.into_iter().map(|one| unlisted(one, shape)).collect())
        }
        (Shape::Named(shape), Value::Map(map)) => members(map, shape).into(),
        (Shape::Named(shape), Value::List(items)) if items.iter().all(has_name) => {
            let mut map = Map::new();
            for item in items {
                let (name, rest) = without_name(item);
                let member = unlisted(rest, shape);
                map.insert(name.value.text().unwrap_or_default().as_str(), name.at, member);
            }
            map.into()
        }
        (Shape::Pairs, Value::List(items)) if items.iter().all(has_name) => {
            let mut map = Map::new();
            for item in items {
                let at = item.at.clone();
                let (name, rest) = without_name(item);
                let value = rest.get("value").cloned().unwrap_or_else(|| Node::new("", at));
                map.insert(name.value.text().unwrap_or_default().as_str(), name.at, value);
            }
            map.into()
        }
        (Shape::Repositories(shape), Value::Map(map)) => repositories(map, shape).into(),
        (Shape::Servers, Value::List(items)) => joined(items),
        (_, value) => value,
    };
    Node { value, at }
}

fn unlisted_fields(map: Map, fields: &'static [(&'static str, Shape)]) -> Map {
    let has_content = fields.iter().any(|(_, shape)| matches!(shape, Shape::Content));
    let mut kept = Map::new();
    for (key, entry) in map {
        let field = fields.iter().find(|(name, _)| key.as_str() == Some(*name));
        let value = match field {
            Some((_, shape)) => unlisted(entry.value, shape),
            None => entry.value,
        };
        let key = if has_content && key.as_str() == Some("packages") { Key::from("data") } else { key };
        kept.insert(key, entry.key_at, value);
    }
    kept
}

fn members(map: Map, shape: &Shape) -> Map {
    let mut kept = Map::new();
    for (key, entry) in map {
        kept.insert(key, entry.key_at, unlisted(entry.value, shape));
    }
    kept
}

/// The flag goes back among the repositories.
fn repositories(mut map: Map, shape: &'static Shape) -> Map {
    let is_object = map.iter().all(|(key, _)| matches!(key.as_str(), Some(UNLISTED | SOURCES)));
    if !is_object || map.get(SOURCES).is_some_and(|sources| sources.value.as_list().is_none()) {
        return map;
    }
    let sources = map.remove(SOURCES).map(|entry| unlisted(entry.value, &Shape::Named(shape)));
    if let Some(Node { value: Value::Map(sources), .. }) = sources {
        for (name, source) in sources {
            map.insert(name, source.key_at, source.value);
        }
    }
    map
}

/// Servers one by one; a text that would not come back as it was written stays one.
fn split(text: Node) -> Vec<Node> {
    let written = text.value.as_str().unwrap_or_default();
    let is_plain = written.split(',').all(|one| !one.is_empty() && one.trim() == one);
    if !is_plain {
        return vec![text];
    }
    written.split(',').map(|one| Node::new(one, text.at.clone())).collect()
}

/// Drydock knows one text with commas; our own dialect takes both.
fn joined(items: Vec<Node>) -> Value {
    let texts: Option<Vec<&str>> = items.iter().map(|one| one.value.as_str()).collect();
    match texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join(",")) {
        Some(text) => Value::String(text),
        None => Value::List(items),
    }
}

fn has_name(node: &Node) -> bool {
    node.get("name").is_some_and(|name| name.value.text().is_some())
}

fn without_name(node: Node) -> (Node, Node) {
    let at = node.at.clone();
    let mut map = match node.value {
        Value::Map(map) => map,
        _ => Map::new(),
    };
    let name = map.remove("name").map_or_else(|| Node::new("", at.clone()), |entry| entry.value);
    (name, Node::new(map, at))
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Float(number) if number.is_finite() => Some(number.trunc() as i64),
        Value::Bool(flag) => Some(i64::from(*flag)),
        Value::String(text) => {
            let text = text.trim();
            text.parse().ok().or_else(|| {
                text.parse::<f64>()
                    .ok()
                    .filter(|number| number.is_finite())
                    .map(|number| number.trunc() as i64)
            })
        }
        _ => None,
    }
}

/// A number keeps its point: it is printed as it was written.
fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Int(_) => Some(value.clone()),
        Value::Float(number) if number.is_finite() => Some(value.clone()),
        other => whole(other).map(Value::Int),
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Null => None,
        Value::Bool(flag) => Some(*flag),
        Value::Int(number) => Some(*number != 0),
        Value::Float(number) => Some(*number != 0.0),
        Value::String(text) => Some(!text.is_empty()),
        Value::List(items) => Some(!items.is_empty()),
        Value::Map(map) => Some(!map.is_empty()),
    }
}
