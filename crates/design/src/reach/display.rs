//! Text and JSON output of the differences between nodes.

use std::fmt;

use serde_json::{Value, json};

use super::{NodeChange, ValueChange, Was};

/// One line for the node, and one for each of its values that differ.
impl fmt::Display for NodeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { node } => write!(f, "+ {node}"),
            Self::Removed { node } => write!(f, "- {node}"),
            Self::Changed { node, values } => {
                write!(f, "~ {node}")?;
                values.iter().try_for_each(|value| write!(f, "\n    {value}"))
            }
        }
    }
}

impl fmt::Display for ValueChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |was: &Was| was.by.as_ref().map_or_else(String::new, |by| format!("  [{by}]"));
        let path = &self.path;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                write!(f, "{path}: {} -> {}{}", before.shown(), after.shown(), by(after))
            }
            (None, Some(after)) => write!(f, "+ {path}: {}{}", after.shown(), by(after)),
            (Some(before), None) => write!(f, "- {path}: {}{}", before.shown(), by(before)),
            (None, None) => f.write_str("the same values in another order"),
        }
    }
}

impl NodeChange {
    /// For programs.
    pub fn to_json(&self) -> Value {
        let was = |was: &Option<Was>| was.as_ref().map(|was| was.shown().to_owned());
        match self {
            Self::Added { node } => json!({ "node": node, "change": "added" }),
            Self::Removed { node } => json!({ "node": node, "change": "removed" }),
            Self::Changed { node, values } => {
                let values: Vec<Value> = values
                    .iter()
                    .map(|one| {
                        json!({ "path": one.path, "before": was(&one.before), "after": was(&one.after) })
                    })
                    .collect();
                json!({ "node": node, "change": "changed", "values": values })
            }
        }
    }
}
