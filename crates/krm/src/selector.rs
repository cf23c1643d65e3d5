//! Label and field selectors.

mod field;
mod json;
mod label;
mod lexer;
mod parser;

pub use field::{FieldRequirement, FieldSelector, field_text, field_texts};
pub use json::validate_label_selector;
pub use label::{LabelSelector, Operator, Requirement};

#[cfg(test)]
mod tests;
