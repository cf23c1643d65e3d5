//! Values as JSON, byte for byte as Go writes them.

use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use crate::number;

/// A value as JSON without blanks. Numbers look as Go writes them, and `<`, `>` and `&` are escaped, as they are there.
pub fn to_json(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128);
    let mut serializer = Serializer::with_formatter(&mut bytes, LikeGo(CompactFormatter));
    // Writing to memory does not fail, nor does a value have keys that are no text.
    let written = value.serialize(&mut serializer);
    debug_assert!(written.is_ok(), "a value in memory can be written");
    bytes
}

/// The same as text.
pub fn to_json_text(value: &Value) -> String {
    String::from_utf8(to_json(value)).unwrap_or_default()
}

struct LikeGo(CompactFormatter);

impl Formatter for LikeGo {
    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(number::float_text(value).as_bytes())
    }

    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let is_escaped = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        let mut rest = fragment;
        while let Some(at) = rest.find(is_escaped) {
            let (before, from) = rest.split_at(at);
            self.0.write_string_fragment(writer, before)?;
            let mut chars = from.chars();
            let escaped = chars.next().map_or(0, u32::from);
            write!(writer, "\\u{escaped:04x}")?;
            rest = chars.as_str();
        }
        self.0.write_string_fragment(writer, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_looks_as_go_writes_it() {
        let value = json!({"b": [1, 1.5, 1e21, 12_345_678_901_234_567_890.0, null], "a": "<é&\u{2028}\"\n>"});
        assert_eq!(
            to_json_text(&value),
            r#"{"a":"\u003cé\u0026\u2028\"\n\u003e","b":[1,1.5,1e+21,12345678901234567000,null]}"#
        );
    }
}
