//! Values as JSON, in the order they were written.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Map, Node, Value};

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::String(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Map(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    /// Keys that are not text are written as their text, since JSON has no other.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, node) in self.iter() {
            match key.as_str() {
                Some(text) => map.serialize_entry(text, node)?,
                None => map.serialize_entry(&key.to_string(), node)?,
            }
        }
        map.end()
    }
}

impl From<&Value> for serde_json::Value {
    /// The JSON value; `.inf` and `.nan`, which JSON can't say, become null. The order of keys is
    /// serde_json's own: write through [`Serialize`] to keep it.
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => (*flag).into(),
            Value::Int(number) => (*number).into(),
            Value::Float(number) => (*number).into(),
            Value::String(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(|item| Self::from(&item.value)).collect(),
            Value::Map(map) => {
                map.iter().map(|(key, node)| (key.to_string(), Self::from(&node.value))).collect()
            }
        }
    }
}
