//! Fields that Drydock's schemas do not check, only its models: any scalar is a string, and errors are value errors.

use super::{
    Field, Set, Texts,
    section::{Reading, Section},
};
use crate::yaml::{Node, Value};

impl<'d> Section<'d> {
    /// What no schema ever checked: any scalar is taken as text, null is nothing, and the rest is a mistake of value.
    pub(super) fn loose_text(&self, reading: &mut Reading, key: &str) -> Field<String> {
        let node = self.map.get(key).filter(|node| !node.value.is_null())?;
        reading.coerced(node, &self.path_to(key))
    }

    /// The same, where nothing is a mistake of value as well.
    pub(super) fn needed_text(&self, reading: &mut Reading, key: &str) -> Field<String> {
        if self.map.get(key).is_none_or(|node| node.value.is_null()) {
            reading.invalid(&self.at, &self.path, format!("`{key}` is required"));
        }
        self.loose_text(reading, key)
    }

    /// A list that no schema ever checked.
    pub(super) fn loose_texts(&self, reading: &mut Reading, key: &str) -> Option<Vec<Set<String>>> {
        let node = self.map.get(key).filter(|node| !node.value.is_null())?;
        let path = self.path_of(key);
        let Some(items) = node.value.as_list() else {
            reading.invalid(&node.at, &path, format!("expected a list, found {}", node.value.kind()));
            return None;
        };
        Some(items.iter().filter_map(|item| reading.coerced(item, &path)).collect())
    }

    /// A whole number that no schema ever checked; a number in quotes is one.
    pub(super) fn loose_integer(&self, reading: &mut Reading, key: &str) -> Field<i64> {
        let written = self.loose_text(reading, key)?;
        match whole(&written.value) {
            Some(number) => Some(written.map(|_| number)),
            None => {
                let message = format!("expected a number, found `{}`", written.value);
                reading.invalid(&written.by.at, &self.path_of(key), message);
                None
            }
        }
    }

    /// A yes or no that no schema ever checked: what is empty, zero or nothing is no, anything else yes.
    pub(super) fn truth(&self, reading: &mut Reading, key: &str) -> Field<bool> {
        let node = self.map.get(key).filter(|node| !node.value.is_null())?;
        let truth = match &node.value {
            Value::Null => false,
            Value::Bool(flag) => *flag,
            Value::Int(number) => *number != 0,
            Value::Float(number) => *number != 0.0,
            Value::String(text) => !text.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Map(map) => !map.is_empty(),
        };
        Some(reading.set(truth, &node.at))
    }

    /// The node of a field as it was written, null included.
    pub(super) fn raw(&self, key: &str) -> Option<&'d Node> {
        self.map.get(key)
    }

    /// A map that no schema ever checked.
    pub(super) fn loose(reading: &mut Reading, node: &'d Node, path: impl Into<String>) -> Option<Self> {
        let path = path.into();
        if let Some(map) = node.value.as_map() {
            return Some(Self { map, at: node.at.clone(), path });
        }
        reading.invalid(&node.at, &path, format!("expected a map, found {}", node.value.kind()));
        None
    }

    /// A map of texts whose values no schema checked. That it is a map was told elsewhere.
    pub(super) fn loose_text_map(&self, reading: &mut Reading, key: &str) -> Option<Texts> {
        let node = self.map.get(key)?;
        let section = Self { map: node.value.as_map()?, at: node.at.clone(), path: self.path_of(key) };
        Some(section.as_texts(reading, &[], Reading::coerced))
    }
}

/// A whole number, read as Python's `int()` reads what YAML gave it.
fn whole(text: &str) -> Option<i64> {
    match text {
        "True" => Some(1),
        "False" => Some(0),
        number => number.trim().parse().ok().or_else(|| {
            let float: f64 = number.parse().ok()?;
            float.is_finite().then(|| float.trunc() as i64)
        }),
    }
}
