//! A map that an expression made.

use std::collections::BTreeMap;

use super::{Fault, Value};

/// Values by keys: texts, flags, or numbers, which are the same key when they are the same number.
#[derive(Debug, Clone, Default)]
pub(in crate::cel) struct MadeMap<'a> {
    entries: BTreeMap<Key, (Value<'a>, Value<'a>)>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Bool(bool),
    Number(i128),
    Text(Box<str>),
}

impl<'a> MadeMap<'a> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&self, key: &Value<'_>) -> Option<&Value<'a>> {
        self.entries.get(&of(key)?).map(|(_, value)| value)
    }

    pub fn keys(&self) -> impl Iterator<Item = &Value<'a>> {
        self.entries.values().map(|(key, _)| key)
    }

    /// Adds an entry, or puts it in the place of another.
    pub fn set(&mut self, key: Value<'a>, value: Value<'a>) -> Result<(), Fault> {
        let place = of(&key).ok_or_else(|| Fault::error("unsupported key type"))?;
        self.entries.insert(place, (key, value));
        Ok(())
    }

    /// Adds an entry whose key must be new.
    pub fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> Result<(), Fault> {
        if self.get(&key).is_some() {
            return Err(Fault::Error(format!("insert failed: key {} already exists", shown(&key))));
        }
        self.set(key, value)
    }
}

fn of(key: &Value<'_>) -> Option<Key> {
    Some(match key {
        Value::Bool(flag) => Key::Bool(*flag),
        Value::Int(number) => Key::Number(i128::from(*number)),
        Value::Uint(number) => Key::Number(i128::from(*number)),
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        Value::Double(number) if number.fract() == 0.0 && number.abs() < 1e30 => Key::Number(*number as i128),
        Value::String(text) => Key::Text(Box::from(&**text)),
        _ => return None,
    })
}

/// A key in a message.
pub(in crate::cel) fn shown(key: &Value<'_>) -> String {
    match key {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => crate::number::float_in_text(*number),
        Value::String(text) => text.to_string(),
        other => other.type_name().to_owned(),
    }
}
