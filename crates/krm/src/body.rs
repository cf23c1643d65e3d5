//! Request bodies as JSON, decoded as by Kubernetes: the last of duplicate keys wins and the others are
//! reported.

mod odd;
mod syntax;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::field::{Path, quote};

/// How deep objects and lists may stand in one another: as deep as what we store can be read again.
pub const MOST_DEPTH: usize = 127;

/// How many complaints about one body are worth telling.
const MOST_COMPLAINTS: usize = 100;

/// A body, and what a strict reader would hold against it.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// What it says.
    pub value: Value,
    /// Fields that were given more than once, in words: `duplicate field "spec.size"`.
    pub duplicates: Vec<String>,
}

/// The body is no JSON, or holds a number beyond all bounds, in the words of Go's reader.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    message: String,
    /// What the body says with another number in that place; nothing when it is no JSON.
    pub otherwise: Option<Box<Value>>,
}

/// What is done about fields that nobody knows or that were given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FieldValidation {
    /// Nothing.
    Ignore,
    /// The answer warns of them.
    #[default]
    Warn,
    /// The request fails.
    Strict,
}

/// Reads a body.
pub fn read(text: &[u8]) -> Result<Body, SyntaxError> {
    // Go puts the replacement character for bytes that are no UTF-8.
    let whole = String::from_utf8_lossy(text);
    let error = match parse(&whole) {
        Ok(body) => return Ok(body),
        Err(error) => error,
    };
    if let Some(message) = syntax::fault(text) {
        return Err(SyntaxError { message, otherwise: None });
    }
    let mended = odd::mend(&whole);
    match (parse(&mended.text), mended.too_large) {
        (Ok(body), None) => Ok(body),
        (Ok(body), Some(number)) => Err(SyntaxError {
            message: format!("json: cannot unmarshal number {number} into Go value of type float64"),
            otherwise: Some(Box::new(body.value)),
        }),
        (Err(_), _) => Err(SyntaxError { message: error.to_string(), otherwise: None }),
    }
}

/// How many values a text of JSON has, or a few more, without reading it. What is YAML is counted as if it were JSON, and one
/// more for each line.
pub fn count_values(text: &[u8]) -> usize {
    let is_json = matches!(text.trim_ascii_start().first(), Some(b'{' | b'['));
    let (mut count, mut in_text, mut is_escaped) = (1_usize, false, false);
    for byte in text {
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            // In YAML a quote may stand in the middle of a text that has none at its ends.
            b'"' if is_json => in_text = true,
            b',' | b'[' | b'{' => count += 1,
            b'\n' if !is_json => count += 1,
            _ => {}
        }
    }
    count
}

fn parse(text: &str) -> Result<Body, serde_json::Error> {
    let mut duplicates = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let seed = ValueSeed { path: Path::ROOT, duplicates: &mut duplicates };
    let value = seed.deserialize(&mut reader)?;
    reader.end()?;
    Ok(Body { value, duplicates })
}

/// The name Go's JSON reader has for the kind of a value: `string`, `number`, `object`.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value to be read, and where it stands.
struct ValueSeed<'a, 'b> {
    path: Path<'a>,
    duplicates: &'b mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        // Kubernetes knows no integers beyond 64 bits with a sign.
        Ok(i64::try_from(value).map_or_else(|_| Value::from(value as f64), Value::from))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        // Whether 5.0 passes for 5 depends on what it is read into. `-0` is nothing to any of them.
        Ok(if value == 0.0 && value.is_sign_negative() { Value::from(0) } else { Value::from(value) })
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let path = self.path.index(list.len());
            match items.next_element_seed(ValueSeed { path, duplicates: &mut *self.duplicates })? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            let path = self.path.field(&key);
            let value = fields.next_value_seed(ValueSeed { path, duplicates: &mut *self.duplicates })?;
            match map.entry(key) {
                Entry::Vacant(slot) => {
                    slot.insert(value);
                }
                Entry::Occupied(mut slot) => {
                    let path = self.path.field(slot.key()).to_string();
                    complain(self.duplicates, format!("duplicate field {}", quote(&path)));
                    slot.insert(value);
                }
            }
        }
        Ok(Value::Object(map))
    }
}

/// Adds a complaint unless it was made already or there are enough.
pub(crate) fn complain(complaints: &mut Vec<String>, complaint: String) {
    if complaints.len() < MOST_COMPLAINTS && !complaints.contains(&complaint) {
        complaints.push(complaint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn values_are_counted_before_they_are_read() {
        assert_eq!(count_values(br#"{"a":1,"b":"x,[{\"[,","c":[]}"#), 5);
        assert_eq!(count_values(&b"[],".repeat(1000)), 2001);
        assert!(count_values(b"a: 1\nb: [2, 3]\n") >= 4);
        let text = serde_json::to_vec(&json!({"l": vec![json!({"a": 1, "b": [null, true]}); 50]})).unwrap();
        fn all(value: &Value) -> usize {
            match value {
                Value::Array(items) => 1 + items.iter().map(all).sum::<usize>(),
                Value::Object(fields) => 1 + fields.values().map(all).sum::<usize>(),
                _ => 1,
            }
        }
        let values = all(&serde_json::from_slice(&text).unwrap());
        assert!((values..=2 * values).contains(&count_values(&text)), "{values}");
    }

    #[test]
    fn the_last_of_equal_keys_wins_and_the_first_is_told_of_once() {
        let body = read(br#"{"spec":{"size":1,"size":2,"size":3},"l":[{"a":1,"a":2}]}"#).unwrap();
        assert_eq!(body.value, json!({"spec": {"size": 3}, "l": [{"a": 2}]}));
        assert_eq!(body.duplicates, [r#"duplicate field "spec.size""#, r#"duplicate field "l[0].a""#]);
    }

    #[test]
    fn broken_json_is_told_in_the_words_of_go() {
        let fault = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(fault(""), "unexpected end of JSON input");
        assert_eq!(fault("{"), "unexpected end of JSON input");
        assert_eq!(fault(r#"{"a":"b"#), "unexpected end of JSON input");
        assert_eq!(fault("{} t"), "invalid character 't' after top-level value");
        assert_eq!(fault("no"), "invalid character 'o' in literal null (expecting 'u')");
        assert_eq!(fault("{a}"), "invalid character 'a' looking for beginning of object key string");
        assert_eq!(fault(r#"{"a" 1}"#), "invalid character '1' after object key");
        assert_eq!(fault(r#"{"a":1 "b"}"#), "invalid character '\"' after object key:value pair");
        assert_eq!(fault("[1 2]"), "invalid character '2' after array element");
        assert_eq!(fault("[1,]"), "invalid character ']' looking for beginning of value");
        assert_eq!(fault("'"), "invalid character '\\'' looking for beginning of value");
        assert_eq!(fault("-x"), "invalid character 'x' in numeric literal");
        assert_eq!(fault("1.x"), "invalid character 'x' after decimal point in numeric literal");
        assert_eq!(fault("1ex"), "invalid character 'x' in exponent of numeric literal");
        assert_eq!(fault("\"\\q\""), "invalid character 'q' in string escape code");
        assert_eq!(fault("\"\\u00g0\""), "invalid character 'g' in \\u hexadecimal character escape");
        assert_eq!(fault("\"\n\""), "invalid character '\\n' in string literal");
        assert_eq!(fault("01"), "invalid character '1' after top-level value");
        assert_eq!(fault("tru"), "invalid character ' ' in literal true (expecting 'e')");
        let bytes = read(b"\x81").unwrap_err().to_string();
        assert_eq!(bytes, "invalid character '\\u0081' looking for beginning of value");
    }

    #[test]
    fn depth_has_a_bound_and_hostile_depth_no_effect() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(MOST_DEPTH).as_bytes()).is_ok());
        let deep = read(nested(MOST_DEPTH + 1).as_bytes()).unwrap_err().to_string();
        assert_eq!(deep, "invalid character '[' exceeded max depth");
        assert!(read(nested(1_000_000).as_bytes()).is_err());
    }

    #[test]
    fn integers_keep_64_bits_with_a_sign() {
        let body = read(b"[9223372036854775807, 9223372036854775808, -1]").unwrap();
        assert_eq!(body.value, json!([i64::MAX, 9_223_372_036_854_775_808_u64 as f64, -1]));
    }

    #[test]
    fn what_is_written_with_a_point_or_an_exponent_is_a_fraction() {
        assert_eq!(read(b"[1.0, 1e3, -0, 1.5]").unwrap().value, json!([1.0, 1000.0, 0, 1.5]));
        let beyond = read(b"-9223372036854775809").unwrap();
        assert_eq!(beyond.value, json!(-9_223_372_036_854_775_808.0));
    }

    #[test]
    fn a_number_beyond_all_bounds_is_refused() {
        let error = read(br#"{"kind":"K","n":[1, -1e400]}"#).unwrap_err();
        assert_eq!(error.to_string(), "json: cannot unmarshal number -1e400 into Go value of type float64");
        assert_eq!(error.otherwise, Some(Box::new(json!({"kind": "K", "n": [1, 0]}))));
    }

    #[test]
    fn half_a_surrogate_pair_becomes_the_replacement_character() {
        let read = |text: &str| read(text.as_bytes()).unwrap().value;
        assert_eq!(read(r#""a\ud800b""#), json!("a\u{fffd}b"));
        assert_eq!(
            read(r#""\ud83d\ude00 \\ud800 \udc00\ud800""#),
            json!("\u{1f600} \\ud800 \u{fffd}\u{fffd}")
        );
    }

    #[test]
    fn bytes_that_are_no_text_become_the_replacement_character() {
        assert_eq!(read(b"\"a\xff\"").unwrap().value, json!("a\u{fffd}"));
    }

    proptest! {
        #[test]
        fn what_serde_reads_we_read_alike_and_else_we_find_a_fault(text in r#"[\[\]{}:,"a1\\tnulefrs. -]{0,12}"#) {
            match serde_json::from_str::<Value>(&text) {
                Ok(value) if !text.contains(['.', 'e']) => {
                    prop_assert_eq!(read(text.as_bytes()).unwrap().value, value);
                }
                Ok(_) => prop_assert!(read(text.as_bytes()).is_ok()),
                Err(_) => prop_assert!(syntax::fault(text.as_bytes()).is_some()),
            }
        }

        #[test]
        fn no_bytes_are_too_odd_to_be_answered(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = read(&bytes);
        }
    }
}
