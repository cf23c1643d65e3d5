//! BIOS attributes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Attribute {
    /// On or off.
    Bool(bool),
    /// A number.
    Integer(i64),
    /// A text, or one of the values that the firmware allows.
    Text(String),
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attribute::Bool(value) => value.fmt(f),
            Attribute::Integer(value) => value.fmt(f),
            Attribute::Text(value) => value.fmt(f),
        }
    }
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Attribute {
        Attribute::Text(text.to_owned())
    }
}

/// The attributes of one system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bios {
    /// In effect since the last boot.
    pub current: BTreeMap<String, Attribute>,
    /// Staged: in effect after the next boot. Holds those that differ from `current`.
    pub pending: BTreeMap<String, Attribute>,
}

impl Bios {
    /// The wanted attributes that are neither in effect nor staged.
    pub fn missing(&self, wanted: &BTreeMap<String, Attribute>) -> BTreeMap<String, Attribute> {
        let after_boot = |name: &String| self.pending.get(name).or_else(|| self.current.get(name));
        let differs = |(name, value): &(&String, &Attribute)| after_boot(name) != Some(*value);
        wanted.iter().filter(differs).map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}
