//! The types of expressions.

use std::fmt;
use std::sync::Arc;

use super::decl::DeclId;

/// What kind of value an expression gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    /// Anything, known only when the expression runs.
    Dyn,
    /// What is left where something else was wrong.
    Error,
    /// The type of a type.
    Meta(Option<Arc<Type>>),
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Optional(Arc<Type>),
    /// A value of a library with nothing to select: an IP address, a network.
    Opaque(&'static str),
    /// A value of a library that counts as an object: a URL, a quantity.
    Library(&'static str),
    /// An object of the schema.
    Object(DeclId),
    /// A type that a signature leaves open, by its letter.
    Open(char),
    /// A type that is to be found out.
    Variable(u32),
}

impl Type {
    pub fn list(item: Type) -> Type {
        Type::List(Arc::new(item))
    }

    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    pub fn optional(of: Type) -> Type {
        Type::Optional(Arc::new(of))
    }

    /// Whether this may turn out to be anything.
    pub fn is_dyn_or_error(&self) -> bool {
        matches!(self, Type::Dyn | Type::Error)
    }

    /// Whether a value of this type always has the same size.
    pub fn is_scalar(&self) -> bool {
        match self {
            Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Duration | Type::Timestamp => true,
            Type::Optional(of) => of.is_scalar(),
            _ => false,
        }
    }

    /// Whether it has more than so many parts.
    pub fn is_larger_than(&self, parts: usize) -> bool {
        fn left(of: &Type, parts: usize) -> Option<usize> {
            let parts = parts.checked_sub(1)?;
            match of {
                Type::List(of) | Type::Optional(of) | Type::Meta(Some(of)) => left(of, parts),
                Type::Map(key, value) => left(value, left(key, parts)?),
                _ => Some(parts),
            }
        }
        left(self, parts).is_none()
    }

    /// The type in an optional, and whether it was in one.
    pub fn unwrapped(&self) -> (&Type, bool) {
        match self {
            Type::Optional(of) => (of, true),
            other => (other, false),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Dyn => f.write_str("dyn"),
            Type::Error => f.write_str("!error!"),
            Type::Meta(None) => f.write_str("type"),
            Type::Meta(Some(of)) => write!(f, "type({of})"),
            Type::List(item) => write!(f, "list({item})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Optional(of) => write!(f, "optional_type({of})"),
            Type::Opaque(name) | Type::Library(name) => f.write_str(name),
            Type::Object(_) => f.write_str("object"),
            Type::Open(letter) => write!(f, "{letter}"),
            Type::Variable(number) => write!(f, "_var{number}"),
        }
    }
}
