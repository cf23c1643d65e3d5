//! Values as Kubernetes' own language prints them among text.

use serde_json::Value;

use super::DEEPEST;
use crate::field::quote;
use crate::number;

/// A value as `%v` shows it: `5`, `x`, `[a b]`, `map[k:v]`, `<nil>`.
pub(super) fn plain(value: &Value) -> String {
    let mut text = String::new();
    write_plain(value, DEEPEST, &mut text);
    text
}

fn write_plain(value: &Value, depth: usize, out: &mut String) {
    let Some(depth) = depth.checked_sub(1) else { return out.push_str("...") };
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number::in_text(number)),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                write_plain(item, depth, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push_str("map[");
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                write_plain(item, depth, out);
            }
            out.push(']');
        }
    }
}

/// A value as `%#v` shows it: `5`, `"x"`, `[]interface {}{"a", "b"}`, `map[string]interface {}{"k":"v"}`.
pub(super) fn source(value: &Value) -> String {
    let mut text = String::new();
    write_source(value, DEEPEST, &mut text);
    text
}

fn write_source(value: &Value, depth: usize, out: &mut String) {
    let Some(depth) = depth.checked_sub(1) else { return out.push_str("...") };
    match value {
        Value::Null => out.push_str("interface {}(nil)"),
        Value::String(text) => out.push_str(&quote(text)),
        Value::Array(items) => {
            out.push_str("[]interface {}{");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_source(item, depth, out);
            }
            out.push('}');
        }
        Value::Object(map) => {
            out.push_str("map[string]interface {}{");
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                out.push_str(&quote(key));
                out.push(':');
                write_source(item, depth, out);
            }
            out.push('}');
        }
        Value::Bool(_) | Value::Number(_) => write_plain(value, 1, out),
    }
}

/// The type of a value as `%T` names it.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn compound_values_print_like_go_prints_them() {
        let value = json!({"a": ["x", 5, null], "b": {"c": true}});
        assert_eq!(plain(&value), "map[a:[x 5 <nil>] b:map[c:true]]");
        assert_eq!(
            source(&value),
            r#"map[string]interface {}{"a":[]interface {}{"x", 5, interface {}(nil)}, "b":map[string]interface {}{"c":true}}"#
        );
    }
}
