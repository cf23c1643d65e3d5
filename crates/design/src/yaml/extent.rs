//! How large a value is, for the limits against values that grow without end.

use super::{Node, Value};

/// How deep lists and maps may be nested. Real sites stay below 20; what walks a value may do so by recursion.
pub(crate) const MAX_DEPTH: usize = 128;

/// What one node takes besides its text, roughly.
const NODE_COST: usize = 128;

/// The size of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The memory it takes in bytes, roughly.
    pub(crate) cost: usize,
    /// How many lists and maps stand one within the other.
    pub(crate) height: usize,
}

impl Node {
    pub(crate) fn extent(&self) -> Extent {
        match &self.value {
            Value::String(text) => Extent { cost: NODE_COST + text.len(), height: 0 },
            Value::List(items) => around(items.iter()),
            Value::Map(map) => around(map.iter().map(|(_, value)| value)),
            _ => Extent { cost: NODE_COST, height: 0 },
        }
    }
}

fn around<'a>(children: impl Iterator<Item = &'a Node>) -> Extent {
    children.map(Node::extent).fold(Extent { cost: NODE_COST, height: 1 }, |whole, child| Extent {
        cost: whole.cost.saturating_add(child.cost),
        height: whole.height.max(child.height + 1),
    })
}
