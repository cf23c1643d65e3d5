//! Typed access to the fields of a map, refusing what has another type.

use super::Malformed;
use crate::yaml::{Map, Node, Position, Value};

/// The fields of one map of the metadata. A field that is null counts as absent.
pub(super) struct Fields<'a> {
    map: &'a Map,
    at: &'a Position,
    what: &'a str,
}

impl<'a> Fields<'a> {
    pub(super) fn of(node: &'a Node, what: &'a str) -> Result<Self, Malformed> {
        match &node.value {
            Value::Map(map) => Ok(Self { map, at: &node.at, what }),
            other => Err(Malformed::new(&node.at, format!("{what} must be a map, found {}", other.kind()))),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.map.get(key).filter(|node| !node.value.is_null())
    }

    pub(super) fn flag(&self, key: &str) -> Result<bool, Malformed> {
        match self.get(key) {
            None => Ok(false),
            Some(node) => node.value.as_bool().ok_or_else(|| wrong(node, key, "true or false")),
        }
    }

    pub(super) fn text(&self, key: &str) -> Result<(&'a str, Position), Malformed> {
        let missing = || Malformed::new(self.at, format!("{} requires `{key}`", self.what));
        self.optional_text(key)?.ok_or_else(missing)
    }

    pub(super) fn optional_text(&self, key: &str) -> Result<Option<(&'a str, Position)>, Malformed> {
        let Some(node) = self.get(key) else { return Ok(None) };
        match node.value.as_str() {
            Some(text) => Ok(Some((text, node.at.clone()))),
            None => Err(wrong(node, key, "a string")),
        }
    }

    pub(super) fn map(&self, key: &'a str) -> Result<Option<Fields<'a>>, Malformed> {
        self.get(key).map(|node| Fields::of(node, key)).transpose()
    }

    pub(super) fn required_map(&self, key: &'a str) -> Result<Fields<'a>, Malformed> {
        let missing = || Malformed::new(self.at, format!("{} requires `{key}`", self.what));
        self.map(key)?.ok_or_else(missing)
    }

    /// The pairs of a map of labels. A label's key is compared by its text, its value as written.
    pub(super) fn pairs(&self, key: &'a str) -> Result<Vec<(String, Node)>, Malformed> {
        let fields = self.map(key)?;
        let pairs = fields.iter().flat_map(|fields| fields.map.iter());
        Ok(pairs.map(|(label, value)| (label.to_string(), value.clone())).collect())
    }

    pub(super) fn each<T>(
        &self,
        key: &str,
        read: impl Fn(&Node) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(node) => {
                let items = node.value.as_list().ok_or_else(|| wrong(node, key, "a list"))?;
                items.iter().map(read).collect()
            }
        }
    }
}

pub(super) fn wrong(node: &Node, key: &str, wanted: &str) -> Malformed {
    Malformed::new(&node.at, format!("`{key}` must be {wanted}, found {}", node.value.kind()))
}
