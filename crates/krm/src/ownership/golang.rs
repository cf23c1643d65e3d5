//! Values as Kubernetes' own language prints them, which is what its messages and `fieldsV1` keys are made of.

use serde_json::{Number, Value};

use crate::field::quote;

/// A value as `%v` shows it: `5`, `x`, `[a b]`, `map[k:v]`, `<nil>`.
pub(super) fn plain(value: &Value) -> String {
    let mut text = String::new();
    write_plain(value, &mut text);
    text
}

fn write_plain(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                write_plain(item, out);
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
                write_plain(item, out);
            }
            out.push(']');
        }
    }
}

/// A value as `%#v` shows it: `5`, `"x"`, `[]interface {}{"a", "b"}`, `map[string]interface {}{"k":"v"}`.
pub(super) fn source(value: &Value) -> String {
    let mut text = String::new();
    write_source(value, &mut text);
    text
}

fn write_source(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("interface {}(nil)"),
        Value::String(text) => out.push_str(&quote(text)),
        Value::Array(items) => {
            out.push_str("[]interface {}{");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_source(item, out);
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
                write_source(item, out);
            }
            out.push('}');
        }
        Value::Bool(_) | Value::Number(_) => write_plain(value, out),
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

/// A number as `%v` shows it: whole ones plainly, others as briefly as they can be read back.
pub(super) fn number_text(number: &Number) -> String {
    match number.as_i64() {
        Some(whole) => whole.to_string(),
        None => float(number.as_f64().unwrap_or(0.0), -4, 6),
    }
}

/// Writes a value as JSON the way Go's encoder does: keys sorted, `<`, `>`, `&` and line separators escaped.
pub(super) fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => out.push_str(&whole.to_string()),
            None => out.push_str(&json_float(number.as_f64().unwrap_or(0.0))),
        },
        Value::String(text) => write_json_text(text, Escape::Html, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json_text(key, Escape::Html, out);
                out.push(':');
                write_json(item, out);
            }
            out.push('}');
        }
    }
}

/// Which characters of a JSON text are written as escapes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// Those JSON needs.
    Needed,
    /// Those too that mean something in HTML.
    Html,
}

/// Writes a JSON text in quotes.
pub(super) fn write_json_text(text: &str, escape: Escape, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if escape == Escape::Html => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn json_float(number: f64) -> String {
    let text = float(number, -6, 21);
    // Go's encoder writes `1e-7`, its printer `1e-07`.
    match text.split_once("e-0") {
        Some((digits, exponent)) => format!("{digits}e-{exponent}"),
        None => text,
    }
}

/// The shortest digits that read back as `number`; with an exponent when it is below `low` or at least `high`.
fn float(number: f64, low: i32, high: i32) -> String {
    let shortest = format!("{number:e}");
    let Some((digits, exponent)) = shortest.split_once('e') else { return shortest };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number != 0.0 && (exponent < low || exponent >= high) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    format!("{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn floats_take_an_exponent_where_go_gives_them_one() {
        for (number, printed, encoded) in [
            (json!(2.5), "2.5", "2.5"),
            (json!(2.0), "2", "2"),
            (json!(1e5), "100000", "100000"),
            (json!(1e6), "1e+06", "1000000"),
            (json!(1234567.5), "1.2345675e+06", "1234567.5"),
            (json!(1e21), "1e+21", "1e+21"),
            (json!(0.0001), "0.0001", "0.0001"),
            (json!(0.00001), "1e-05", "0.00001"),
            (json!(0.0000001), "1e-07", "1e-7"),
            (json!(1e-100), "1e-100", "1e-100"),
            (json!(0.0), "0", "0"),
            (json!(1000000), "1000000", "1000000"),
        ] {
            assert_eq!(plain(&number), printed, "{number}");
            let mut json = String::new();
            write_json(&number, &mut json);
            assert_eq!(json, encoded, "{number}");
        }
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

    #[test]
    fn markup_in_a_text_is_escaped() {
        let mut json = String::new();
        write_json(&json!({"a<": "b&\u{2028}\u{1}"}), &mut json);
        assert_eq!(json, r#"{"a\u003c":"b\u0026\u2028\u0001"}"#);
    }
}
