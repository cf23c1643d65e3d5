//! Values while a template runs, with the types that Go would give them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// A value.
#[derive(Debug, Clone)]
pub enum Item<'a> {
    /// Nothing at all: what a missing key gives.
    Nothing,
    /// As it is held by a list or a map, where Go knows only that it is something; null there is a nil.
    Held(&'a Value),
    Bool(bool),
    Int(i64, IntType),
    Float(f64),
    /// Bytes, for what was decoded may be no text.
    Text(Cow<'a, [u8]>),
    List(&'a [Value]),
    Map(&'a Map<String, Value>),
}

/// Which of Go's whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntType {
    Int,
    Int64,
    Uint8,
}

/// What can be compared with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Bool,
    Int,
    Float,
    Text,
    Other,
}

impl<'a> Item<'a> {
    /// A text of our own.
    pub fn text(bytes: impl Into<Vec<u8>>) -> Item<'a> {
        Item::Text(Cow::Owned(bytes.into()))
    }

    /// What is really there.
    pub fn open(self) -> Item<'a> {
        match self {
            Item::Held(value) => match value {
                Value::Null => Item::Nothing,
                Value::Bool(flag) => Item::Bool(*flag),
                Value::Number(number) => match number.as_i64() {
                    Some(whole) => Item::Int(whole, IntType::Int64),
                    None => Item::Float(number.as_f64().unwrap_or_default()),
                },
                Value::String(text) => Item::Text(Cow::Borrowed(text.as_bytes())),
                Value::Array(items) => Item::List(items),
                Value::Object(entries) => Item::Map(entries),
            },
            other => other,
        }
    }

    /// Whether it is a null that somebody holds.
    pub fn is_held_nil(&self) -> bool {
        matches!(self, Item::Held(Value::Null))
    }

    /// The name of its type in Go.
    pub fn type_name(&self) -> &'static str {
        match self {
            Item::Nothing => "<nil>",
            Item::Held(_) => "interface {}",
            Item::Bool(_) => "bool",
            Item::Int(_, IntType::Int) => "int",
            Item::Int(_, IntType::Int64) => "int64",
            Item::Int(_, IntType::Uint8) => "uint8",
            Item::Float(_) => "float64",
            Item::Text(_) => "string",
            Item::List(_) => "[]interface {}",
            Item::Map(_) => "map[string]interface {}",
        }
    }

    /// Whether it counts as true: neither nothing nor empty nor zero.
    pub fn is_true(&self) -> bool {
        match self.clone().open() {
            Item::Nothing | Item::Held(_) => false,
            Item::Bool(flag) => flag,
            Item::Int(number, _) => number != 0,
            Item::Float(number) => number != 0.0,
            Item::Text(text) => !text.is_empty(),
            Item::List(items) => !items.is_empty(),
            Item::Map(entries) => !entries.is_empty(),
        }
    }

    /// What it can be compared with.
    pub fn sort(&self) -> Sort {
        match self {
            Item::Bool(_) => Sort::Bool,
            Item::Int(..) => Sort::Int,
            Item::Float(_) => Sort::Float,
            Item::Text(_) => Sort::Text,
            _ => Sort::Other,
        }
    }
}
