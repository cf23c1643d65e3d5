//! Puts the events of a parser together into nodes.

use std::collections::HashMap;

use saphyr_parser::{ScalarStyle, Tag};

use super::{Stream, Warning, YamlError};
use crate::yaml::{
    Key, Map, Node, Position, Value,
    extent::{Extent, MAX_DEPTH},
    scalar, text,
};

/// How many bytes anchors and aliases of one stream may copy, roughly: the cap against documents that unfold
/// without end.
const MAX_COPIED: usize = 64 << 20;

/// The documents read so far and the lists and maps still open.
#[derive(Default)]
pub(super) struct Builder {
    stream: Stream,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    copied: usize,
}

struct Open {
    at: Position,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { own: Map, merged: Vec<Map>, pending: Option<Pending> },
}

/// A key that waits for its value.
enum Pending {
    Key(Key, Position),
    /// `<<`: the maps that follow give their entries to this one.
    Merge,
}

struct Anchored {
    node: Node,
    cost: usize,
    height: usize,
}

impl Builder {
    pub(super) fn finish(self) -> Stream {
        self.stream
    }

    /// Anchors end with their document.
    pub(super) fn forget_anchors(&mut self) {
        self.anchors.clear();
    }

    pub(super) fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        at: Position,
    ) -> Result<(), YamlError> {
        if text == "<<" && style == ScalarStyle::Plain && tag.is_none() && self.take_merge_key() {
            return Ok(());
        }
        // YAML 1.2 lets a key be nothing at all; PyYAML did not, and it is always a slip.
        if text.is_empty() && style == ScalarStyle::Plain && tag.is_none() && self.awaits_key() {
            return Err(refuse(at, "a key is missing before the colon"));
        }
        let value = match (tag, style) {
            (Some(tag), _) => tagged(text, style, tag, &at)?,
            (None, ScalarStyle::Plain) => scalar::plain(text),
            (None, _) => Value::String(text.to_owned()),
        };
        self.complete(Node { value, at }, anchor)
    }

    pub(super) fn open_list(
        &mut self,
        anchor: usize,
        tag: Option<&Tag>,
        at: Position,
    ) -> Result<(), YamlError> {
        self.open(Open { at, anchor, content: Content::List(Vec::new()) }, tag, "seq")
    }

    pub(super) fn open_map(
        &mut self,
        anchor: usize,
        tag: Option<&Tag>,
        at: Position,
    ) -> Result<(), YamlError> {
        let content = Content::Map { own: Map::new(), merged: Vec::new(), pending: None };
        self.open(Open { at, anchor, content }, tag, "map")
    }

    pub(super) fn close(&mut self) -> Result<(), YamlError> {
        let Some(closed) = self.open.pop() else { return Ok(()) };
        let value = match closed.content {
            Content::List(items) => Value::List(items),
            Content::Map { own, merged, .. } => Value::Map(with_merged(own, merged)),
        };
        self.complete(Node { value, at: closed.at }, closed.anchor)
    }

    /// The node an anchor stands for, told to be where the alias is.
    pub(super) fn alias(&mut self, anchor: usize, at: Position) -> Result<(), YamlError> {
        let Some(anchored) = self.anchors.get(&anchor) else {
            return Err(refuse(at, "an alias to a value that holds the alias itself"));
        };
        if self.open.len() + anchored.height > MAX_DEPTH {
            return Err(too_deep(at));
        }
        self.copied = self.copied.saturating_add(anchored.cost);
        if self.copied > MAX_COPIED {
            return Err(unfolds_too_far(at));
        }
        let value = anchored.node.value.clone();
        self.complete(Node { value, at }, 0)
    }

    fn open(&mut self, open: Open, tag: Option<&Tag>, expected: &str) -> Result<(), YamlError> {
        if let Some(tag) = tag
            && core_name(tag) != Some(expected)
        {
            return Err(refuse(open.at, format!("unknown tag {tag}")));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(open.at));
        }
        if self.awaits_key() {
            return Err(refuse(open.at, "a key must be a scalar, found a list or a map"));
        }
        self.open.push(open);
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { content: Content::Map { pending: None, .. }, .. }))
    }

    fn take_merge_key(&mut self) -> bool {
        let Some(Open { content: Content::Map { pending: pending @ None, .. }, .. }) = self.open.last_mut()
        else {
            return false;
        };
        *pending = Some(Pending::Merge);
        true
    }

    fn complete(&mut self, node: Node, anchor: usize) -> Result<(), YamlError> {
        if anchor != 0 {
            self.keep(anchor, &node)?;
        }
        let Some(parent) = self.open.last_mut() else {
            self.stream.documents.push(node);
            return Ok(());
        };
        match &mut parent.content {
            Content::List(items) => items.push(node),
            Content::Map { own, merged, pending } => match pending.take() {
                None => *pending = Some(Pending::Key(key(&node)?, node.at)),
                Some(Pending::Merge) => merged.extend(maps_of(node)?),
                Some(Pending::Key(key, at)) => {
                    let name = key.to_string();
                    if let Some(earlier) = own.insert(key, at.clone(), node) {
                        let line = earlier.key_at.line;
                        let message =
                            format!("duplicate key {name}, first on line {line}; the last value is used");
                        self.stream.warnings.push(Warning { at, message });
                    }
                }
            },
        }
        Ok(())
    }

    fn keep(&mut self, anchor: usize, node: &Node) -> Result<(), YamlError> {
        let Extent { cost, height } = node.extent();
        self.copied = self.copied.saturating_add(cost);
        if self.copied > MAX_COPIED {
            return Err(unfolds_too_far(node.at.clone()));
        }
        self.anchors.insert(anchor, Anchored { node: node.clone(), cost, height });
        Ok(())
    }
}

fn key(node: &Node) -> Result<Key, YamlError> {
    match &node.value {
        Value::Null => Ok(Key::Null),
        Value::Bool(flag) => Ok(Key::Bool(*flag)),
        Value::Int(number) => Ok(Key::Int(*number)),
        Value::Float(number) => Ok(Key::Float(text::float(*number))),
        Value::String(text) => Ok(Key::String(text.clone())),
        Value::List(_) | Value::Map(_) => {
            Err(refuse(node.at.clone(), "a key must be a scalar, found a list or a map"))
        }
    }
}

/// What stands under `<<`: one map, or a list of maps of which the earlier wins.
fn maps_of(node: Node) -> Result<Vec<Map>, YamlError> {
    let at = node.at;
    let wrong = |at: Position| refuse(at, "what is merged with << must be a map or a list of maps");
    match node.value {
        Value::Map(map) => Ok(vec![map]),
        Value::List(items) => items
            .into_iter()
            .rev()
            .map(|item| match item.value {
                Value::Map(map) => Ok(map),
                _ => Err(wrong(item.at)),
            })
            .collect(),
        _ => Err(wrong(at)),
    }
}

/// Merged entries come first in the order, a map's own entries count.
fn with_merged(own: Map, merged: Vec<Map>) -> Map {
    if merged.is_empty() {
        return own;
    }
    let mut whole = Map::new();
    for (key, entry) in merged.into_iter().chain([own]).flatten() {
        whole.insert(key, entry.key_at, entry.value);
    }
    whole
}

fn tagged(text: &str, style: ScalarStyle, tag: &Tag, at: &Position) -> Result<Value, YamlError> {
    let Some(name) = core_name(tag) else {
        return Err(refuse(at.clone(), format!("unknown tag {tag}")));
    };
    let value = match name {
        "" | "str" | "timestamp" => Some(Value::from(text)),
        "null" => scalar::null(text).then_some(Value::Null),
        "bool" => scalar::boolean(text).map(Value::Bool),
        "int" => scalar::integer(text),
        "float" => scalar::float(text).or_else(|| text.parse().ok()).map(Value::Float),
        _ => return Err(refuse(at.clone(), format!("unknown tag {tag}"))),
    };
    let quoted = if style == ScalarStyle::Plain { "" } else { "quoted " };
    value.ok_or_else(|| refuse(at.clone(), format!("the {quoted}value {text:?} is not a valid {name}")))
}

/// `str` of `!!str`, nothing for tags of other makers. The lone `!` means text.
fn core_name(tag: &Tag) -> Option<&str> {
    match (tag.handle.as_str(), tag.suffix.as_str()) {
        ("tag:yaml.org,2002:", name) => Some(name),
        ("", "!") | ("!", "") => Some(""),
        ("", whole) => whole.strip_prefix("tag:yaml.org,2002:"),
        _ => None,
    }
}

fn refuse(at: Position, message: impl Into<String>) -> YamlError {
    YamlError { at, message: message.into() }
}

fn too_deep(at: Position) -> YamlError {
    refuse(at, format!("nested deeper than {MAX_DEPTH} levels"))
}

fn unfolds_too_far(at: Position) -> YamlError {
    refuse(at, format!("anchors and aliases copy more than {} MiB", MAX_COPIED >> 20))
}
