//! A value and where it was written.

use std::{fmt, sync::Arc};

use super::{File, Map};

/// A place in a file, both numbers counted from one. Both are 0 for a value that was never in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The file, and the document in it.
    pub file: Arc<File>,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What was written on a server has no lines.
        if self.line == 0 {
            return self.file.fmt(f);
        }
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A value together with the place it was written at.
///
/// Two nodes are equal when their values are: where something was written does not change what it says.
#[derive(Clone, Debug)]
pub struct Node {
    /// What was written.
    pub value: Value,
    /// Where it begins.
    pub at: Position,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Node {
    /// A value written at a place.
    pub fn new(value: impl Into<Value>, at: Position) -> Self {
        Self { value: value.into(), at }
    }

    /// Gives everything in here to one document of its file.
    pub(crate) fn move_to(&mut self, file: &Arc<File>) {
        self.at.file = Arc::clone(file);
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.move_to(file)),
            Value::Map(map) => map.move_to(file),
            _ => {}
        }
    }

    /// The value under a text key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.value.as_map()?.get(key)
    }
}

/// What YAML can say.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `null`, `~` or nothing at all.
    #[default]
    Null,
    /// `true`, `yes`, `on` and their opposites.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// Text.
    String(String),
    /// A list, in order.
    List(Vec<Node>),
    /// A map, in the order written.
    Map(Map),
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            // So that a document always equals itself, `.nan` included.
            (Self::Float(a), Self::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::String(a), Self::String(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => a == b,
            _ => false,
        }
    }
}

impl Value {
    /// The text, if this is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The whole number, if this is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The list, if this is one.
    pub fn as_list(&self) -> Option<&[Node]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The map, if this is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Whether nothing is said.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// What kind of value this is, in the words of a message to the author of the document.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<Vec<Node>> for Value {
    fn from(items: Vec<Node>) -> Self {
        Self::List(items)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}
