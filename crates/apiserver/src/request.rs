//! Request parsing: path, query, body and accepted formats.

pub mod accept;
pub mod body;
pub mod path;
pub mod query;
