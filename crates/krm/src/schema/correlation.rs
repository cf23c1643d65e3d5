//! Which old value a new one comes from, and whether it has changed.

use std::collections::HashMap;

use serde_json::Value;

use super::node::{ListType, Node};

/// A new value, the old value it comes from, and what is declared about both.
///
/// Fields come from the fields of the same name. Items come from items only in lists that are maps, by their keys; other
/// lists change as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Correlation<'a> {
    node: &'a Node,
    new: &'a Value,
    old: &'a Value,
}

impl<'a> Correlation<'a> {
    /// A whole object and what it was before.
    pub fn new(node: &'a Node, new: &'a Value, old: &'a Value) -> Correlation<'a> {
        Correlation { node, new, old }
    }

    /// What the value was before.
    pub fn old(&self) -> &'a Value {
        self.old
    }

    /// The field of this name, if it was there before and is declared.
    pub fn field(&self, name: &str) -> Option<Correlation<'a>> {
        let (new, old) = (self.new.as_object()?, self.old.as_object()?);
        Some(Correlation { node: self.node.field(name)?, new: new.get(name)?, old: old.get(name)? })
    }

    /// The items of this list by their old items; nothing when items cannot be told apart.
    pub fn items(&self) -> OldItems<'a> {
        OldItems::new(self)
    }

    /// Whether nothing has changed. Fields nobody declared count as changed.
    pub fn is_unchanged(&self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                if new.len() != old.len() || self.node.list != ListType::Map {
                    return new == old;
                }
                let items = self.items();
                new.iter().all(|item| items.of(item).is_some_and(|item| item.is_unchanged()))
            }
            (Value::Object(new), Value::Object(old)) => {
                let unchanged = |key| self.field(key).is_some_and(|field| field.is_unchanged());
                new.len() == old.len() && new.keys().all(|key| unchanged(key))
            }
            (new, old) => new == old,
        }
    }
}

/// The old items of a list that is a map.
pub struct OldItems<'a> {
    node: Option<&'a Node>,
    keys: &'a [String],
    by_key: HashMap<Vec<&'a Value>, &'a Value>,
}

impl<'a> OldItems<'a> {
    fn new(list: &Correlation<'a>) -> OldItems<'a> {
        let keys = list.node.list_map_keys();
        let mut items = OldItems { node: list.node.items(), keys, by_key: HashMap::new() };
        if list.node.list != ListType::Map || keys.is_empty() {
            return items;
        }
        for old in list.old.as_array().into_iter().flatten() {
            if let Some(identity) = identity(keys, old) {
                items.by_key.entry(identity).or_insert(old);
            }
        }
        items
    }

    /// The old item that an item of the new list comes from.
    pub fn of(&self, new: &'a Value) -> Option<Correlation<'a>> {
        let old = self.by_key.get(&identity(self.keys, new)?)?;
        Some(Correlation { node: self.node?, new, old })
    }
}

/// The values of the key fields; none when one is missing or is not a single value.
fn identity<'a>(keys: &[String], item: &'a Value) -> Option<Vec<&'a Value>> {
    let single = |value: &&Value| !(value.is_null() || value.is_object() || value.is_array());
    keys.iter().map(|key| item.get(key).filter(single)).collect()
}
