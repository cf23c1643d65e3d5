//! Pruning of fields that the schema does not declare.

use serde_json::Value;

use super::node::{Field, Node};
use super::report::MOST_BYTES;
use crate::field::Path;

/// The fields every object has, and no schema has to declare.
const TYPE_AND_METADATA: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Where no schema guides the walk, lists may be nested this deep.
const DEEPEST_UNDECLARED: usize = 256;

/// Prunes a whole object; returns the fields that were unknown, sorted.
pub(super) fn prune(root: &Node, object: &mut Value) -> Vec<String> {
    let mut walk = Walk::default();
    walk.fields(root, true, Mode::of(root), object, &Path::ROOT);
    walk.unknown.sort_unstable();
    walk.unknown
}

/// Prunes a value that stands at `node`; returns the fields that were unknown.
pub(super) fn prune_value(node: &Node, value: &mut Value) -> Vec<String> {
    let mut walk = Walk::default();
    walk.value(node, Mode::of(node), value, &Path::ROOT);
    walk.unknown
}

#[derive(Default)]
struct Walk {
    unknown: Vec<String>,
    bytes: usize,
}

/// What happens to fields nobody declared.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// They go.
    Prune,
    /// They stay, here and in the items of lists; declared fields are pruned again.
    Keep,
    /// They stay, however deep: only nulls are looked for.
    KeepAll,
}

impl Mode {
    fn of(node: &Node) -> Mode {
        if node.preserve_unknown { Mode::Keep } else { Mode::Prune }
    }
}

impl Walk {
    fn value(&mut self, node: &Node, mode: Mode, value: &mut Value, path: &Path<'_>) {
        match value {
            Value::Object(_) => self.fields(node, node.embedded, mode, value, path),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let path = path.index(index);
                    match (&node.items, mode) {
                        (Some(node), Mode::Prune) => self.value(node, Mode::of(node), item, &path),
                        (Some(node), mode) => self.value(node, mode, item, &path),
                        (None, Mode::Prune) => self.undeclared(item, &path, 0),
                        (None, _) => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, node: &Node, is_object: bool, mode: Mode, value: &mut Value, path: &Path<'_>) {
        let Value::Object(map) = value else { return };
        map.retain(|key, value| {
            let exempt = is_object && TYPE_AND_METADATA.contains(&key.as_str());
            let mode = if exempt { Mode::KeepAll } else { mode };
            match node.lookup(key) {
                Field::Declared(node) if is_misplaced_null(node, value) => false,
                Field::Declared(node) => {
                    let mode = if mode == Mode::KeepAll { mode } else { Mode::of(node) };
                    self.value(node, mode, value, &path.field(key));
                    true
                }
                Field::Allowed => {
                    if mode != Mode::KeepAll {
                        self.undeclared(value, &path.field(key), 0);
                    }
                    true
                }
                Field::Unknown if mode == Mode::Prune => {
                    self.tell(&path.field(key));
                    false
                }
                Field::Unknown => true,
            }
        });
    }

    /// Notes an unknown field, while there are not more than anybody reads.
    fn tell(&mut self, path: &Path<'_>) {
        if self.bytes < MOST_BYTES {
            let field = path.to_string();
            self.bytes += field.len();
            self.unknown.push(field);
        }
    }

    /// Empties every object in a value about which nothing is declared.
    fn undeclared(&mut self, value: &mut Value, path: &Path<'_>, depth: usize) {
        match value {
            Value::Object(map) => {
                map.keys().for_each(|key| self.tell(&path.field(key)));
                map.clear();
            }
            Value::Array(items) if depth < DEEPEST_UNDECLARED => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.undeclared(item, &path.index(index), depth + 1);
                }
            }
            _ => {}
        }
    }
}

fn is_misplaced_null(node: &Node, value: &Value) -> bool {
    value.is_null() && !node.nullable && node.default.is_none()
}
