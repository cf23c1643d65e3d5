//! Quantities in fields: a number, or text such as `250m` or `10Gi`.

use krm::quantity::amount;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

/// Schema of a field that is a number or a text.
pub fn int_or_string(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-int-or-string": true })
}

/// What a quantity comes to; nothing for what is none.
pub fn quantity(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => amount(text),
        _ => None,
    }
}
