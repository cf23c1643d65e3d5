//! Values as JSON and YAML, byte for byte as Go writes them.

mod yaml;

use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use crate::number;

pub use yaml::to_yaml;

/// A value as JSON without blanks. Numbers look as Go writes them, and `<`, `>` and `&` are escaped, as they are there.
pub fn to_json(value: &Value) -> Vec<u8> {
    written(value, CompactFormatter)
}

/// A value as JSON with a field on each line, four blanks deep, as kubectl prints it; without a last line break.
pub fn to_json_pretty(value: &Value) -> String {
    String::from_utf8(written(value, PrettyFormatter::with_indent(b"    "))).unwrap_or_default()
}

/// The same two blanks deep, as the server answers where people look at it.
pub fn to_json_indented(value: &Value) -> Vec<u8> {
    written(value, PrettyFormatter::new())
}

fn written(value: &Value, layout: impl Formatter) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128);
    let mut serializer = Serializer::with_formatter(&mut bytes, LikeGo(layout));
    // Writing to memory does not fail, nor does a value have keys that are no text.
    let written = value.serialize(&mut serializer);
    debug_assert!(written.is_ok(), "a value in memory can be written");
    bytes
}

/// The same as text.
pub fn to_json_text(value: &Value) -> String {
    String::from_utf8(to_json(value)).unwrap_or_default()
}

/// A layout in which numbers and texts look as Go writes them.
struct LikeGo<L>(L);

macro_rules! laid_out {
    ($($method:ident($($name:ident: $kind:ty),*);)*) => {$(
        fn $method<W: io::Write + ?Sized>(&mut self, writer: &mut W $(, $name: $kind)*) -> io::Result<()> {
            self.0.$method(writer $(, $name)*)
        }
    )*};
}

impl<L: Formatter> Formatter for LikeGo<L> {
    laid_out! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        begin_object_value();
        end_object_value();
    }

    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(number::float_text(value).as_bytes())
    }

    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Hardly any text has one of them, and looking at bytes is quick.
        let may_be_escaped = |byte: u8| matches!(byte, b'<' | b'>' | b'&' | 0xe2);
        if !fragment.bytes().any(may_be_escaped) {
            return self.0.write_string_fragment(writer, fragment);
        }
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
    fn lines_are_indented_as_kubectl_prints_them() {
        let value = json!({"b": [1, {"c": "<"}], "a": {}, "d": []});
        let lines = "{\n    \"a\": {},\n    \"b\": [\n        1,\n        {\n            \"c\": \"\\u003c\"\n        }\n    ],\n    \"d\": []\n}";
        assert_eq!(to_json_pretty(&value), lines);
    }

    #[test]
    fn json_looks_as_go_writes_it() {
        let value = json!({"b": [1, 1.5, 1e21, 12_345_678_901_234_567_890.0, null], "a": "<é&\u{2028}\"\n>"});
        assert_eq!(
            to_json_text(&value),
            r#"{"a":"\u003cé\u0026\u2028\"\n\u003e","b":[1,1.5,1e+21,12345678901234567000,null]}"#
        );
    }
}
