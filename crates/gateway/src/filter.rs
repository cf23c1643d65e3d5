//! Filters of lists: a subset of the Common Expression Language over one message.
//!
//! `this` is the object and `now` the time of the call. There are comparisons, arithmetic, `&&`, `||`, `!`, `in`, `has`,
//! `startsWith`, `endsWith`, `contains`, `timestamp` and `duration`, and `== null` for what is not there. A filter is
//! checked against the message before anything is read.
//!
//! A scalar that is not set has the default value of protobuf. What can't be computed, such as the value of a missing key
//! of a map, is neither true nor false: it counts only where the other side of `&&` or `||` does not decide, and an object
//! whose filter comes to it is not in the list.

mod check;
mod eval;
mod lex;
mod narrow;
mod parse;
mod syntax;
mod value;

use prost_reflect::{DynamicMessage, MessageDescriptor};

pub use narrow::Term;
use value::Value;

/// Bytes that a filter may have.
pub const LONGEST: usize = 10_000;

/// A filter that was checked against a message.
#[derive(Debug, Clone)]
pub struct Filter {
    root: check::Expr,
}

/// Why a filter can't be used, and where: characters from its beginning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter: {why} (at character {at})")]
pub struct FilterError {
    /// Why.
    pub why: String,
    /// Where.
    pub at: usize,
}

/// Whether values of a field must not be filtered by.
pub type IsHidden = fn(&prost_reflect::FieldDescriptor) -> bool;

impl Filter {
    /// Reads a filter about a message.
    pub fn parse(
        text: &str,
        message: &MessageDescriptor,
        is_hidden: IsHidden,
    ) -> Result<Filter, FilterError> {
        if text.len() > LONGEST {
            let why = format!("it has {} bytes; at most {LONGEST} are allowed", text.len());
            return Err(FilterError { why, at: LONGEST });
        }
        let syntax = parse::parse(text)?;
        let root = check::filter(&syntax, message, is_hidden)?;
        Ok(Filter { root })
    }

    /// Whether an object matches; `now` is in nanoseconds since 1970.
    pub fn matches(&self, object: &DynamicMessage, now: i128) -> bool {
        matches!(eval::eval(&self.root, &eval::Scope { this: object, now }), Ok(Value::Bool(true)))
    }

    /// Terms of which every object that matches has at least one. `None` if nothing is known of what matches.
    pub fn terms(&self) -> Option<Vec<Term>> {
        narrow::terms(&self.root)
    }
}
