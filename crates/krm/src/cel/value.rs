//! What expressions see and give.

mod effort;
mod equal;
mod joined;
mod json;
mod made_map;
mod order;

use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;

use super::decl::{DeclKind, ListType};
use super::library::cidr::Cidr;
use super::library::named_format::NamedFormat;
use super::library::quantity::Quantity;
use super::library::semver::Semver;
use super::library::time::Stamp;
use super::library::url::Url;

pub(super) use effort::{Effort, MOST as MOST_STEPS};
pub(super) use equal::equal;
pub(super) use joined::{Joined, join};
pub(super) use json::{JsonList, JsonMap, JsonObject, from_json};
pub(super) use made_map::MadeMap;
pub(super) use order::compare;

/// A value. Those of the object that is checked stay where they are.
#[derive(Debug, Clone)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Text<'a>),
    Bytes(Rc<[u8]>),
    /// Nanoseconds.
    Duration(i64),
    Timestamp(Stamp),
    List(List<'a>),
    Map(Map<'a>),
    Object(JsonObject<'a>),
    /// A type, by its name.
    Type(&'static str),
    Optional(Option<Rc<Value<'a>>>),
    Ip(IpAddr),
    Cidr(Cidr),
    Url(Rc<Url>),
    Quantity(Quantity),
    Semver(Rc<Semver>),
    Format(&'static NamedFormat),
}

/// A text, of the object or made.
#[derive(Debug, Clone)]
pub(super) enum Text<'a> {
    Borrowed(&'a str),
    Made(Rc<str>),
}

#[derive(Debug, Clone)]
pub(super) enum List<'a> {
    Json(JsonList<'a>),
    Joined(Rc<Joined<'a>>),
    Made(Rc<Vec<Value<'a>>>),
}

#[derive(Debug, Clone)]
pub(super) enum Map<'a> {
    Json(JsonMap<'a>),
    Made(Rc<MadeMap<'a>>),
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// A value cannot be computed.
    Error(String),
    /// A function does not take such arguments.
    NoOverload,
    /// It would cost too much to go on.
    TooExpensive,
}

impl Fault {
    pub fn error(text: impl Into<String>) -> Fault {
        Fault::Error(text.into())
    }
}

/// A value, or why there is none.
pub(super) type Outcome<'a> = Result<Value<'a>, Fault>;

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Made(text) => text,
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl<'a> Value<'a> {
    pub fn text(text: impl Into<Rc<str>>) -> Value<'a> {
        Value::String(Text::Made(text.into()))
    }

    pub fn list(items: Vec<Value<'a>>) -> Value<'a> {
        Value::List(List::Made(Rc::new(items)))
    }

    pub fn texts(texts: impl IntoIterator<Item = impl Into<Rc<str>>>) -> Value<'a> {
        Value::list(texts.into_iter().map(Value::text).collect())
    }

    pub fn some(value: Value<'a>) -> Value<'a> {
        Value::Optional(Some(Rc::new(value)))
    }

    pub fn none() -> Value<'a> {
        Value::Optional(None)
    }

    /// The name of its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::List(_) => "list",
            Value::Map(_) | Value::Object(_) => "map",
            Value::Type(_) => "type",
            Value::Optional(_) => "optional_type",
            Value::Ip(_) => "net.IP",
            Value::Cidr(_) => "net.CIDR",
            Value::Url(_) => "kubernetes.URL",
            Value::Quantity(_) => "kubernetes.Quantity",
            Value::Semver(_) => "kubernetes.Semver",
            Value::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// How large it is, as costs count it.
    pub fn size(&self) -> u64 {
        let size = match self {
            Value::String(text) => text.chars().count(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            Value::Object(object) => object.len(),
            Value::Ip(IpAddr::V4(_)) => 4,
            Value::Ip(IpAddr::V6(_)) => 16,
            Value::Cidr(cidr) => usize::from(cidr.bits).div_ceil(8),
            Value::Optional(Some(value)) => return value.size(),
            _ => 1,
        };
        size as u64
    }

    /// Whether it is what a field of its type has before anything is set.
    pub fn is_zero(&self) -> bool {
        match self {
            Value::Null | Value::Optional(None) => true,
            Value::Bool(flag) => !flag,
            Value::Int(number) | Value::Duration(number) => *number == 0,
            Value::Uint(number) => *number == 0,
            Value::Double(number) => *number == 0.0,
            Value::String(text) => text.is_empty(),
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::Timestamp(stamp) => stamp.moment.is_zero(),
            Value::List(list) => list.len() == 0,
            Value::Map(map) => map.len() == 0,
            _ => false,
        }
    }
}

impl<'a> List<'a> {
    pub fn len(&self) -> usize {
        match self {
            List::Json(list) => list.items.len(),
            List::Joined(list) => list.items.len(),
            List::Made(items) => items.len(),
        }
    }

    pub fn get(&self, index: usize) -> Option<Outcome<'a>> {
        match self {
            List::Json(list) => list.get(index),
            List::Joined(list) => list.items.get(index).cloned().map(Ok),
            List::Made(items) => items.get(index).cloned().map(Ok),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Outcome<'a>> + use<'_, 'a> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// What makes its items the same.
    fn list_type(&self) -> &'a ListType {
        let (decls, decl) = match self {
            List::Json(list) => (list.decls, list.decl),
            List::Joined(list) => (list.decls, list.decl),
            List::Made(_) => return &ListType::Atomic,
        };
        match &decls.get(decl).kind {
            DeclKind::List { list_type, .. } => list_type,
            _ => &ListType::Atomic,
        }
    }

    /// All items.
    pub fn values(&self) -> Result<Vec<Value<'a>>, Fault> {
        self.iter().collect()
    }
}

impl<'a> Map<'a> {
    pub fn len(&self) -> usize {
        match self {
            Map::Json(map) => map.map.len(),
            Map::Made(map) => map.len(),
        }
    }

    /// What stands at a key.
    pub fn get(&self, key: &Value<'_>) -> Option<Outcome<'a>> {
        match (self, key) {
            (Map::Json(map), Value::String(key)) => map.get(key),
            (Map::Json(_), _) => Some(Err(Fault::NoOverload)),
            (Map::Made(map), key) => map.get(key).cloned().map(Ok),
        }
    }

    pub fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Map::Json(map) => map.map.keys().map(|key| Value::String(Text::Borrowed(key))).collect(),
            Map::Made(map) => map.keys().cloned().collect(),
        }
    }
}
