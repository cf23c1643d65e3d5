//! What follows from a schema, told one behaviour at a time.

mod laws;
mod ratchet;
mod shape;
mod validation;

use serde_json::{Value, json};

use super::Schema;
use crate::field::FieldError;

/// A schema whose spec has these properties.
fn spec(properties: Value) -> Schema {
    let json =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}});
    Schema::parse(&json).unwrap()
}

fn texts(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}
