//! How values read in messages: numbers and JSON as Go writes them.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use serde_json::{Number, Value};

use crate::field::quote;
use crate::number::{float_in_text, float_text};

/// A value as a message about a field shows it.
pub fn value(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Number(number) => self::number(number),
        other => json(other),
    }
}

/// A number standing alone.
fn number(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => whole.to_string(),
        // Kubernetes keeps what does not fit into 64 bits with a sign as a float.
        (None, Some(float)) => float_in_text(float),
        (None, None) => number.to_string(),
    }
}

/// Compact JSON as Go's encoder writes it: whole floats without a point, `<`, `>` and `&` escaped.
pub fn json(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, GoJson);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

struct GoJson;

impl Formatter for GoJson {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float_text(value).as_bytes())
    }

    fn write_u64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        match i64::try_from(value) {
            Ok(whole) => CompactFormatter.write_i64(writer, whole),
            Err(_) => self.write_f64(writer, value as f64),
        }
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let escaped = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        let mut rest = fragment;
        while let Some(at) = rest.find(escaped) {
            let (before, from) = rest.split_at(at);
            let mut chars = from.chars();
            let c = chars.next().unwrap_or_default();
            write!(writer, "{before}\\u{:04x}", u32::from(c))?;
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_read_as_go_prints_them() {
        let cases = [
            (json!(5), "5"),
            (json!(5.0), "5"),
            (json!(0.7), "0.7"),
            (json!(100000.0), "100000"),
            (json!(1000000.0), "1e+06"),
            (json!(1000000), "1000000"),
            (json!(123456789.0), "1.23456789e+08"),
            (json!(1.5e30), "1.5e+30"),
            (json!(0.0001), "0.0001"),
            (json!(0.00001), "1e-05"),
            (json!(u64::MAX), "1.8446744073709552e+19"),
            (json!(-3), "-3"),
        ];
        for (number, text) in cases {
            assert_eq!(value(&number), text);
        }
    }

    #[test]
    fn json_in_messages_is_escaped_for_html() {
        assert_eq!(json(&json!({"k": "a<b>&c"})), "{\"k\":\"a\\u003cb\\u003e\\u0026c\"}");
        assert_eq!(json(&json!([1.0, 2.5, 1e21, 1e-7, 0.00001, null])), "[1,2.5,1e+21,1e-7,0.00001,null]");
    }
}
