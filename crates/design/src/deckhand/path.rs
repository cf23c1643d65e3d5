//! The paths of actions and substitutions: `.a.b[0].c`, `$.a`, `a.b`, `.'a.b'`, `.['a.b']`; `.` and `$` are
//! the root.

use std::fmt;

use crate::yaml::{Map, Node, Value};

/// The largest index a path may name: a list is filled up to it when it is written.
const MAX_INDEX: usize = 9_999;

/// How many steps a path may have: each may make another map or list within the one before.
const MAX_STEPS: usize = 64;

/// A way from the root of a document's data to one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    segments: Vec<Segment>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Key(String),
    Index(usize),
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Path {
    /// The path a text means, or why it means none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let refuse = |reason: &str| format!("invalid path {text:?}: {reason}");
        let mut segments = Vec::new();
        let mut rest = text.strip_prefix('$').unwrap_or(text);
        if text.is_empty() {
            return Err(refuse("it is empty"));
        }
        if rest == "." {
            rest = "";
        }
        while !rest.is_empty() {
            if segments.len() == MAX_STEPS {
                return Err(refuse(&format!("it has more than {MAX_STEPS} steps")));
            }
            let (segment, after) = segment(rest).map_err(|reason| refuse(&reason))?;
            segments.push(segment);
            rest = after;
        }
        Ok(Self { segments, text: text.to_owned() })
    }

    /// The path of an action, which may name the data itself first: `.data.a` is `.a`.
    pub(super) fn parse_in_action(text: &str) -> Result<Self, String> {
        let inside = text.strip_prefix('$').unwrap_or(text).strip_prefix(".data");
        match inside {
            Some("") => Self::parse("."),
            Some(rest) if rest.starts_with(['.', '[']) => Self::parse(rest),
            _ => Self::parse(text),
        }
    }

    pub(super) fn get<'a>(&self, root: &'a Node) -> Option<&'a Node> {
        self.segments.iter().try_fold(root, |node, segment| match (segment, &node.value) {
            (Segment::Key(key), Value::Map(map)) => map.get(key),
            (Segment::Index(index), Value::List(items)) => items.get(*index),
            _ => None,
        })
    }

    pub(super) fn get_mut<'a>(&self, root: &'a mut Node) -> Option<&'a mut Node> {
        self.segments.iter().try_fold(root, |node, segment| match (segment, &mut node.value) {
            (Segment::Key(key), Value::Map(map)) => map.get_mut(key),
            (Segment::Index(index), Value::List(items)) => items.get_mut(*index),
            _ => None,
        })
    }

    /// Puts a value at the path. What is missing on the way is made: maps for keys, lists filled with empty
    /// maps for indices. What is there and of another kind is not overwritten; it is named in the refusal.
    pub(super) fn set(&self, root: &mut Node, value: Node) -> Result<(), String> {
        let mut node = root;
        for segment in &self.segments {
            node = match segment {
                Segment::Key(key) => self.step_into_key(node, key, &value)?,
                Segment::Index(index) => self.step_into_index(node, *index, &value)?,
            };
        }
        *node = value;
        Ok(())
    }

    /// Takes out what is at the path and says whether anything was. The root becomes an empty map.
    pub(super) fn remove(&self, root: &mut Node) -> bool {
        let Some((last, parents)) = self.segments.split_last() else {
            root.value = Value::Map(Map::new());
            return true;
        };
        let parent = Self { segments: parents.to_vec(), text: String::new() };
        match (last, parent.get_mut(root).map(|node| &mut node.value)) {
            (Segment::Key(key), Some(Value::Map(map))) => map.remove(key).is_some(),
            (Segment::Index(index), Some(Value::List(items))) if *index < items.len() => {
                items.remove(*index);
                true
            }
            _ => false,
        }
    }

    fn step_into_key<'a>(&self, node: &'a mut Node, key: &str, value: &Node) -> Result<&'a mut Node, String> {
        if node.value.is_null() {
            node.value = Value::Map(Map::new());
        }
        let found = node.value.kind();
        let Value::Map(map) = &mut node.value else {
            return Err(format!("{self} needs a map to hold {key:?}, but there is {found} ({})", node.at));
        };
        if !map.contains_key(key) {
            map.insert(key, value.at.clone(), Node::new(Value::Null, value.at.clone()));
        }
        map.get_mut(key).ok_or_else(|| format!("{self} cannot be created"))
    }

    fn step_into_index<'a>(
        &self,
        node: &'a mut Node,
        index: usize,
        value: &Node,
    ) -> Result<&'a mut Node, String> {
        if node.value.is_null() {
            node.value = Value::List(Vec::new());
        }
        let found = node.value.kind();
        let Value::List(items) = &mut node.value else {
            return Err(format!("{self} needs a list to hold [{index}], but there is {found} ({})", node.at));
        };
        if items.len() <= index {
            items.resize_with(index, || Node::new(Map::new(), value.at.clone()));
            items.push(Node::new(Value::Null, value.at.clone()));
        }
        items.get_mut(index).ok_or_else(|| format!("{self} cannot be created"))
    }
}

/// The first segment of what is left of a path, and what comes after it.
fn segment(rest: &str) -> Result<(Segment, &str), String> {
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    if let Some(inside) = rest.strip_prefix('[') {
        return bracketed(inside);
    }
    if rest.starts_with(['\'', '"']) {
        let (key, after) = quoted(rest)?;
        return Ok((Segment::Key(key.to_owned()), after));
    }
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (key, after) = rest.split_at(end);
    match key {
        "" => Err("a key is missing".to_owned()),
        "*" => Err("wildcards are not supported".to_owned()),
        _ => Ok((Segment::Key(key.to_owned()), after)),
    }
}

fn bracketed(inside: &str) -> Result<(Segment, &str), String> {
    if inside.starts_with(['\'', '"']) {
        let (key, after) = quoted(inside)?;
        let after = after.strip_prefix(']').ok_or("a ] is missing")?;
        return Ok((Segment::Key(key.to_owned()), after));
    }
    let (index, after) = inside.split_once(']').ok_or("a ] is missing")?;
    match index.parse::<usize>() {
        Ok(index) if index <= MAX_INDEX => Ok((Segment::Index(index), after)),
        Ok(_) => Err(format!("indices end at {MAX_INDEX}")),
        Err(_) => Err(format!("{index:?} is not an index")),
    }
}

/// The text between quotes of either kind, and what comes after.
fn quoted(rest: &str) -> Result<(&str, &str), String> {
    let mut characters = rest.chars();
    let quote = characters.next().ok_or("a key is missing")?;
    characters.as_str().split_once(quote).ok_or_else(|| format!("a {quote} is missing"))
}

#[cfg(test)]
mod tests;
