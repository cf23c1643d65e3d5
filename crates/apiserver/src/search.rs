//! Search: objects by what people have in hand, from an index, and only those that whoever asks may see.

pub mod answer;
pub mod query;
pub mod words;
