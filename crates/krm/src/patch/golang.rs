//! JSON values as Go writes them in messages.

use std::fmt::{self, Display, Formatter};

use serde_json::Value;

use crate::number::float_in_text;

/// A value as `%v` prints it: `map[a:1 b:[x y]]`.
pub(super) struct Printed<'a>(pub(super) &'a Value);

impl Display for Printed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("<nil>"),
            Value::Bool(flag) => write!(f, "{flag}"),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => write!(f, "{integer}"),
                None => f.write_str(&float_in_text(number.as_f64().unwrap_or_default())),
            },
            Value::String(text) => f.write_str(text),
            Value::Array(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    let space = if at == 0 { "" } else { " " };
                    write!(f, "{space}{}", Printed(item))?;
                }
                f.write_str("]")
            }
            Value::Object(fields) => {
                f.write_str("map[")?;
                for (at, (key, value)) in fields.iter().enumerate() {
                    let space = if at == 0 { "" } else { " " };
                    write!(f, "{space}{key}:{}", Printed(value))?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A value where Go's `%s` expected a text.
pub(super) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("%!s({}={})", type_of(value), Printed(value)),
        other => Printed(other).to_string(),
    }
}

/// The Go type that holds a value.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// The kind of the Go type that holds a value.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
        Value::Null => "invalid",
        scalar => type_of(scalar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_print_as_in_go() {
        let value = json!({"b": [1, "x", null, true], "a": {"c": 1.5}, "e": {}, "l": []});
        assert_eq!(Printed(&value).to_string(), "map[a:map[c:1.5] b:[1 x <nil> true] e:map[] l:[]]");
        assert_eq!(Printed(&json!([1e20, 0.5, -3.0, 1000000])).to_string(), "[1e+20 0.5 -3 1000000]");
        assert_eq!(as_text(&json!(5)), "%!s(int64=5)");
        assert_eq!(as_text(&json!("zap")), "zap");
    }
}
