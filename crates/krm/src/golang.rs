//! JSON values as Go, Kubernetes' own language, prints them among text.

use serde_json::Value;

use crate::field::quote;
use crate::number;

/// Nothing is shown that lies deeper than this.
const DEEPEST: usize = 200;

/// A value as `%v` shows it: `5`, `x`, `[a b]`, `map[k:v]`, `<nil>`.
pub(crate) fn plain(value: &Value) -> String {
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
pub(crate) fn source(value: &Value) -> String {
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
pub(crate) fn type_name(value: &Value) -> &'static str {
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

/// A value where Go's `%s` expected a text.
pub(crate) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("%!s({}={})", type_of(value), plain(value)),
        other => plain(other),
    }
}

/// The type of a value where Go's `%s` expected one.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        other => type_name(other),
    }
}

/// The kind of the Go type that holds a value.
pub(crate) fn kind_of(value: &Value) -> &'static str {
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
    fn values_stand_among_text_as_in_go() {
        let value = json!({"b": [1, "x", null, true], "a": {"c": 1.5}, "e": {}, "l": []});
        assert_eq!(plain(&value), "map[a:map[c:1.5] b:[1 x <nil> true] e:map[] l:[]]");
        assert_eq!(plain(&json!([1e20, 0.5, -3.0, 1000000])), "[1e+20 0.5 -3 1000000]");
        assert_eq!(as_text(&json!(5)), "%!s(int64=5)");
        assert_eq!(as_text(&json!("zap")), "zap");
    }

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
