//! Search over an index, limited to objects that the caller may see.

pub mod answer;
pub mod query;
pub mod words;
