//! Reading typed fields out of a map, collecting every problem on the way.

use std::{fmt, sync::Arc};

use super::{DocumentRef, Fault, Field, Origin, Problem, Set, Texts};
use crate::{
    document::Envelope,
    yaml::{Key, Map, Node, Position, Value},
};

/// The reading of one document: who it is, how strictly it is read, what was found wrong.
pub(super) struct Reading {
    document: Arc<DocumentRef>,
    envelope: Envelope,
    problems: Vec<Problem>,
}

impl Reading {
    pub(super) fn new(document: Arc<DocumentRef>, envelope: Envelope) -> Self {
        Self { document, envelope, problems: Vec::new() }
    }

    pub(super) fn document(&self) -> Arc<DocumentRef> {
        Arc::clone(&self.document)
    }

    /// Documents of the legacy envelope were never checked against a schema: they are read as far as they make sense.
    pub(super) fn is_strict(&self) -> bool {
        self.envelope != Envelope::Legacy
    }

    /// Documents of our own dialect may say more than the original's.
    pub(super) fn is_extended(&self) -> bool {
        self.envelope == Envelope::Native
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// Notes that the document has not the shape of its kind.
    pub(super) fn misshaped(&mut self, at: &Position, path: &str, message: String) {
        let fault = if self.is_strict() { Fault::Shape } else { Fault::Value };
        self.note(fault, at, path, message);
    }

    /// Notes that the document says something that cannot be.
    pub(super) fn invalid(&mut self, at: &Position, path: &str, message: String) {
        self.note(Fault::Value, at, path, message);
    }

    /// Notes that something required is not there.
    pub(super) fn missing(&mut self, at: &Position, path: &str, message: String) {
        self.note(Fault::Missing, at, path, message);
    }

    /// Notes that something has no effect.
    pub(super) fn ignored(&mut self, at: &Position, path: &str, message: String) {
        self.note(Fault::Ignored, at, path, message);
    }

    fn note(&mut self, fault: Fault, at: &Position, path: &str, message: String) {
        self.problems.push(Problem { fault, at: at.clone(), path: path.to_owned(), message });
    }

    pub(super) fn set<T>(&self, value: T, at: &Position) -> Set<T> {
        Set { value, by: Origin { document: self.document(), at: at.clone() } }
    }

    fn expected(&mut self, what: &str, node: &Node, path: &dyn fmt::Display) {
        self.misshaped(&node.at, &path.to_string(), format!("expected {what}, found {}", node.value.kind()));
    }

    /// The text of a scalar: only text where a schema asks for it, else any scalar as Python would print it.
    pub(super) fn text(&mut self, node: &Node, path: &dyn fmt::Display) -> Field<String> {
        if self.is_strict() && node.value.as_str().is_none() {
            self.expected("a string", node, path);
            return None;
        }
        self.coerced(node, path)
    }

    /// The text of any scalar; `true` becomes `True`.
    pub(super) fn coerced(&mut self, node: &Node, path: &dyn fmt::Display) -> Field<String> {
        match node.value.text().filter(|_| !node.value.is_null()) {
            Some(text) => Some(self.set(text, &node.at)),
            None => {
                let message = format!("expected a string or a number, found {}", node.value.kind());
                self.invalid(&node.at, &path.to_string(), message);
                None
            }
        }
    }

    fn integer(&mut self, node: &Node, path: &dyn fmt::Display) -> Field<i64> {
        let number = match &node.value {
            Value::Int(number) => Some(*number),
            Value::Float(number) if number.is_finite() => Some(number.trunc() as i64),
            Value::String(text) if !self.is_strict() => text.trim().parse().ok(),
            Value::Bool(flag) if !self.is_strict() => Some(i64::from(*flag)),
            _ => None,
        };
        if number.is_none() {
            self.expected("a number", node, path);
        }
        number.map(|number| self.set(number, &node.at))
    }
}

/// The path of a field of a section.
pub(super) struct PathTo<'p> {
    section: &'p str,
    key: &'p str,
}

impl fmt::Display for PathTo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.section.is_empty() {
            write!(f, "{}.", self.section)?;
        }
        f.write_str(self.key)
    }
}

/// A map of a document with its place and path.
#[derive(Clone)]
pub(super) struct Section<'d> {
    pub(super) map: &'d Map,
    pub(super) at: Position,
    pub(super) path: String,
}

impl<'d> Section<'d> {
    pub(super) fn of(reading: &mut Reading, node: &'d Node, path: impl Into<String>) -> Option<Self> {
        let path = path.into();
        match node.value.as_map() {
            Some(map) => Some(Self { map, at: node.at.clone(), path }),
            None => {
                reading.expected("a map", node, &path);
                None
            }
        }
    }

    pub(super) fn path_of(&self, key: &str) -> String {
        self.path_to(key).to_string()
    }

    /// The path of a field, put together only when something is wrong there.
    pub(super) fn path_to<'p>(&'p self, key: &'p str) -> PathTo<'p> {
        PathTo { section: &self.path, key }
    }

    /// Refuses all fields but these; one problem lists all unknown ones.
    pub(super) fn only(&self, reading: &mut Reading, known: &[&str]) {
        let is_known = |key: &Key| key.as_str().is_some_and(|key| known.contains(&key));
        let mut strangers = self.map.entries().filter(|(key, _)| !is_known(key)).peekable();
        let Some(first) = strangers.peek().map(|(_, entry)| entry.key_at.clone()) else { return };
        let names: Vec<String> = strangers.map(|(key, _)| format!("`{key}`")).collect();
        let message = format!("unknown field {}; known fields are {}", names.join(", "), known.join(", "));
        if reading.is_strict() {
            reading.misshaped(&first, &self.path, message);
        } else {
            reading.ignored(&first, &self.path, message);
        }
    }

    /// The node of a field; null is a mistake in a strict document and the same as nothing in a legacy one.
    pub(super) fn node(&self, reading: &mut Reading, key: &str) -> Option<&'d Node> {
        let node = self.map.get(key)?;
        if !node.value.is_null() {
            return Some(node);
        }
        if reading.is_strict() {
            reading.expected("a value", node, &self.path_of(key));
        }
        None
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&'d Key, &'d Position, &'d Node)> {
        self.map.entries().map(|(key, entry)| (key, &entry.key_at, &entry.value))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    pub(super) fn section(&self, reading: &mut Reading, key: &str) -> Option<Section<'d>> {
        let node = self.node(reading, key)?;
        Section::of(reading, node, self.path_of(key))
    }

    pub(super) fn text(&self, reading: &mut Reading, key: &str) -> Field<String> {
        let node = self.node(reading, key)?;
        reading.text(node, &self.path_to(key))
    }

    /// A text out of a few; another is a mistake of shape. A non-string is reported twice, as it has neither the type nor
    /// one of the values.
    pub(super) fn one_of(&self, reading: &mut Reading, key: &str, choices: &[&str]) -> Field<String> {
        let Some(text) = self.text(reading, key) else {
            if let Some(node) = self.map.get(key).filter(|_| reading.is_strict()) {
                reading.misshaped(
                    &node.at,
                    &self.path_of(key),
                    format!("it is not one of {}", choices.join(", ")),
                );
            }
            return None;
        };
        if choices.contains(&text.value.as_str()) {
            return Some(text);
        }
        let found = if text.by.at.file.is_secret() { "it".to_owned() } else { format!("`{}`", text.value) };
        let message = format!("{found} is not one of {}", choices.join(", "));
        reading.misshaped(&text.by.at, &self.path_of(key), message);
        None
    }

    pub(super) fn integer(&self, reading: &mut Reading, key: &str) -> Field<i64> {
        let node = self.node(reading, key)?;
        reading.integer(node, &self.path_to(key))
    }

    /// A number, as it is printed.
    pub(super) fn number_text(&self, reading: &mut Reading, key: &str) -> Field<String> {
        self.integer(reading, key)?;
        reading.coerced(self.map.get(key)?, &self.path_to(key))
    }

    pub(super) fn flag(&self, reading: &mut Reading, key: &str) -> Field<bool> {
        let node = self.node(reading, key)?;
        match node.value.as_bool() {
            Some(flag) => Some(reading.set(flag, &node.at)),
            None => {
                reading.expected("true or false", node, &self.path_of(key));
                None
            }
        }
    }

    /// The nodes of a list, each with its path.
    pub(super) fn list(&self, reading: &mut Reading, key: &str) -> Option<Vec<(String, &'d Node)>> {
        let node = self.node(reading, key)?;
        let path = self.path_of(key);
        match node.value.as_list() {
            Some(items) => {
                Some(items.iter().enumerate().map(|(i, item)| (format!("{path}[{i}]"), item)).collect())
            }
            None => {
                reading.expected("a list", node, &path);
                None
            }
        }
    }

    pub(super) fn texts(&self, reading: &mut Reading, key: &str) -> Option<Vec<Set<String>>> {
        let list = self.list(reading, key)?;
        Some(list.into_iter().filter_map(|(path, item)| reading.text(item, &path)).collect())
    }

    /// The maps of a list.
    pub(super) fn sections(&self, reading: &mut Reading, key: &str) -> Option<Vec<Section<'d>>> {
        let list = self.list(reading, key)?;
        Some(list.into_iter().filter_map(|(path, item)| Section::of(reading, item, path)).collect())
    }

    /// The things of a map from names to things, in order. A number is a name like any other.
    pub(super) fn things(&self, reading: &mut Reading) -> Vec<(Set<String>, &'d Node)> {
        let mut things = Vec::new();
        for (key, at, node) in self.entries() {
            match key {
                Key::Null => reading.invalid(at, &self.path, "a name is missing".to_owned()),
                named => things.push((reading.set(named.to_string(), at), node)),
            }
        }
        things
    }

    /// The members of a map of texts, in order. Keys must be text.
    pub(super) fn members(&self, reading: &mut Reading) -> Vec<(Set<String>, &'d Node)> {
        let mut members = Vec::new();
        for (key, at, node) in self.entries() {
            match key.as_str() {
                Some(name) => members.push((reading.set(name.to_owned(), at), node)),
                None => {
                    let message = format!("the key `{key}` must be a string; quote it");
                    reading.invalid(at, &self.path, message);
                }
            }
        }
        members
    }

    /// A map from names to maps.
    pub(super) fn named_sections(&self, reading: &mut Reading, key: &str) -> Vec<(Set<String>, Section<'d>)> {
        let Some(section) = self.section(reading, key) else { return Vec::new() };
        let members = section.things(reading);
        let mut sections = Vec::new();
        for (name, node) in members {
            let path = section.path_of(&name.value);
            if let Some(inner) = Section::of(reading, node, path) {
                sections.push((name, inner));
            }
        }
        sections
    }

    /// A map of texts; `read` says how strictly its values are taken.
    pub(super) fn text_map(
        &self,
        reading: &mut Reading,
        key: &str,
        read: fn(&mut Reading, &Node, &dyn fmt::Display) -> Field<String>,
    ) -> Option<Texts> {
        let section = self.section(reading, key)?;
        Some(section.as_texts(reading, &[], read))
    }

    /// All fields but `except` as texts.
    pub(super) fn as_texts(
        &self,
        reading: &mut Reading,
        except: &[&str],
        read: fn(&mut Reading, &Node, &dyn fmt::Display) -> Field<String>,
    ) -> Texts {
        let members = self.members(reading);
        let mut texts = Texts::new();
        for (name, node) in members {
            if except.contains(&name.value.as_str()) {
                continue;
            }
            if let Some(text) = read(reading, node, &self.path_to(&name.value)) {
                texts.insert(name.value, text);
            }
        }
        texts
    }
}
