//! Puts the events of a parser together into a value.

use std::collections::HashMap;

use saphyr_parser::{ScalarStyle, Tag};
use serde_json::{Map, Value};

use super::scalar::{self, Tagged};
use super::{Yaml, YamlError};
use crate::body::MOST_DEPTH;
use crate::field::quote;
use crate::number;

/// How many bytes aliases may copy, roughly: the bound against documents that unfold without end.
const MOST_COPIED: usize = 16 << 20;

/// What one value takes besides its text, roughly.
const COST_OF_VALUE: usize = 64;

/// How many values, keys among them, a document may have.
const MOST_VALUES: usize = 6_000_000;

/// How many repeated keys are worth telling.
const MOST_DUPLICATES: usize = 100;

/// The lists and maps that are open, and what is known of the document by now.
#[derive(Default)]
pub(super) struct Builder {
    root: Option<Value>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    copied: usize,
    values: usize,
    duplicates: Vec<String>,
}

struct Open {
    content: Content,
    anchor: usize,
    line: usize,
}

enum Content {
    List(Vec<Value>),
    Map(Map<String, Value>, Pending),
}

/// What the next value in a map is.
enum Pending {
    Key,
    ValueOf(String),
    /// What `<<` names: a map, or a list of maps, that gives its entries.
    Merge,
}

struct Anchored {
    value: Value,
    cost: usize,
    depth: usize,
}

impl Builder {
    pub(super) fn finish(self) -> Result<Yaml, YamlError> {
        Ok(Yaml { value: self.root.unwrap_or_default(), duplicates: self.duplicates })
    }

    pub(super) fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        line: usize,
    ) -> Result<(), YamlError> {
        let is_plain = style == ScalarStyle::Plain;
        if text == "<<"
            && is_plain
            && tag.is_none()
            && let Some(Open { content: Content::Map(_, pending @ Pending::Key), .. }) = self.open.last_mut()
        {
            *pending = Pending::Merge;
            return Ok(());
        }
        let wanted = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
        let value = match (tag, wanted.and_then(Tagged::of)) {
            (None, _) if is_plain => scalar::plain(text)?,
            (_, Some(wanted)) => scalar::tagged(text, wanted)?,
            _ if wanted == Some("binary") => {
                return Err(YamlError("yaml: !!binary values are not supported".to_owned()));
            }
            _ => Value::String(text.to_owned()),
        };
        self.complete(value, anchor, line)
    }

    pub(super) fn open_list(&mut self, anchor: usize, line: usize) -> Result<(), YamlError> {
        self.open(Content::List(Vec::new()), anchor, line)
    }

    pub(super) fn open_map(&mut self, anchor: usize, line: usize) -> Result<(), YamlError> {
        self.open(Content::Map(Map::new(), Pending::Key), anchor, line)
    }

    fn open(&mut self, content: Content, anchor: usize, line: usize) -> Result<(), YamlError> {
        if self.open.len() >= MOST_DEPTH {
            return Err(too_deep());
        }
        self.open.push(Open { content, anchor, line });
        Ok(())
    }

    pub(super) fn close(&mut self) -> Result<(), YamlError> {
        let Some(closed) = self.open.pop() else { return Ok(()) };
        let value = match closed.content {
            Content::List(items) => Value::Array(items),
            Content::Map(entries, _) => Value::Object(entries),
        };
        self.complete(value, closed.anchor, closed.line)
    }

    pub(super) fn alias(&mut self, anchor: usize, line: usize) -> Result<(), YamlError> {
        let Some(anchored) = self.anchors.get(&anchor) else {
            return Err(YamlError("yaml: anchor value contains itself".to_owned()));
        };
        if self.open.len() + anchored.depth > MOST_DEPTH {
            return Err(too_deep());
        }
        self.copied = self.copied.saturating_add(anchored.cost);
        if self.copied > MOST_COPIED {
            return Err(YamlError("yaml: document contains excessive aliasing".to_owned()));
        }
        let value = anchored.value.clone();
        self.complete(value, 0, line)
    }

    /// Gives a value to what it stands in.
    fn complete(&mut self, value: Value, anchor: usize, line: usize) -> Result<(), YamlError> {
        self.values += 1;
        if self.values > MOST_VALUES {
            return Err(YamlError(format!("yaml: document contains more than {MOST_VALUES} values")));
        }
        if anchor != 0 {
            let (cost, depth) = extent(&value);
            self.copied = self.copied.saturating_add(cost);
            if self.copied > MOST_COPIED {
                return Err(YamlError("yaml: document contains excessive aliasing".to_owned()));
            }
            self.anchors.insert(anchor, Anchored { value: value.clone(), cost, depth });
        }
        let Some(parent) = self.open.last_mut() else {
            self.root.get_or_insert(value);
            return Ok(());
        };
        match &mut parent.content {
            Content::List(items) => items.push(value),
            Content::Map(entries, pending) => match std::mem::replace(pending, Pending::Key) {
                Pending::Key => *pending = Pending::ValueOf(key(value)?),
                Pending::ValueOf(key) => put(entries, key, value, line, &mut self.duplicates),
                Pending::Merge => {
                    for (key, value) in merged(value)? {
                        put(entries, key, value, line, &mut self.duplicates);
                    }
                }
            },
        }
        Ok(())
    }
}

/// Puts an entry into a map; the last of equal keys counts.
fn put(
    entries: &mut Map<String, Value>,
    key: String,
    value: Value,
    line: usize,
    duplicates: &mut Vec<String>,
) {
    if duplicates.len() < MOST_DUPLICATES && entries.contains_key(&key) {
        duplicates.push(format!("line {line}: key {} already set in map", quote(&key)));
    }
    entries.insert(key, value);
}

/// The entries that `<<` brings, in the order in which they are set: of several maps, the first counts most.
fn merged(value: Value) -> Result<Vec<(String, Value)>, YamlError> {
    let no_map = || YamlError("yaml: map merge requires map or sequence of maps as the value".to_owned());
    match value {
        Value::Object(entries) => Ok(entries.into_iter().collect()),
        Value::Array(maps) => {
            let mut all = Vec::new();
            for map in maps.into_iter().rev() {
                match map {
                    Value::Object(entries) => all.extend(entries),
                    _ => return Err(no_map()),
                }
            }
            Ok(all)
        }
        _ => Err(no_map()),
    }
}

/// A key as JSON has it: text.
fn key(value: Value) -> Result<String, YamlError> {
    match value {
        Value::String(text) => Ok(text),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Number(number) => Ok(number::in_text(&number)),
        Value::Null => Err(YamlError("unsupported map key of type: %!s(<nil>), key: <nil>".to_owned())),
        other => Err(YamlError(format!("yaml: invalid map key: {other}"))),
    }
}

fn too_deep() -> YamlError {
    YamlError(format!("yaml: exceeded max depth of {MOST_DEPTH}"))
}

/// What a value takes, and how many lists and maps stand in one another. Its depth is bounded, since it was built here.
fn extent(value: &Value) -> (usize, usize) {
    let around = |(cost, depth): (usize, usize), (own, inner): (usize, usize)| {
        (cost.saturating_add(own), depth.max(inner + 1))
    };
    match value {
        Value::String(text) => (COST_OF_VALUE + text.len(), 0),
        Value::Array(items) => items.iter().map(extent).fold((COST_OF_VALUE, 1), around),
        Value::Object(entries) => {
            let inner = entries.iter().map(|(key, value)| {
                let (cost, depth) = extent(value);
                (cost + COST_OF_VALUE + key.len(), depth)
            });
            inner.fold((COST_OF_VALUE, 1), around)
        }
        _ => (COST_OF_VALUE, 0),
    }
}
