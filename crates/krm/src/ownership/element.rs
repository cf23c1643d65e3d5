//! One step of the way to a field: a field's name, a list item's keys or value, or its place.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use super::values;
use crate::encode::to_json_text;
use crate::field::quote;
use crate::golang;

/// One step of the way to a field.
#[derive(Debug, Clone)]
pub enum Element {
    /// A field of a struct, or an entry of a map, by name.
    Field(String),
    /// The item of a list that has these values in its key fields, sorted by name.
    Key(Vec<(String, Value)>),
    /// The item of a set that is this value.
    Value(Value),
    /// The item at this place.
    Index(i64),
}

impl Element {
    /// A field by name.
    pub fn field(name: impl Into<String>) -> Element {
        Element::Field(name.into())
    }

    fn rank(&self) -> u8 {
        match self {
            Element::Field(_) => 0,
            Element::Key(_) => 1,
            Element::Value(_) => 2,
            Element::Index(_) => 3,
        }
    }

    /// As it stands in `fieldsV1`: `f:spec`, `k:{"name":"x"}`, `v:"x"`, `i:0`.
    pub fn encode(&self) -> String {
        match self {
            // Every write of every object goes through here for each of its fields.
            Element::Field(name) => ["f:", name].concat(),
            Element::Key(fields) => {
                let mut text = String::from("k:{");
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        text.push(',');
                    }
                    // Names, other than values, are written without escapes for HTML.
                    text.push_str(&Value::String(name.clone()).to_string());
                    text.push(':');
                    text.push_str(&to_json_text(value));
                }
                text.push('}');
                text
            }
            Element::Value(value) => ["v:", &to_json_text(value)].concat(),
            Element::Index(at) => format!("i:{at}"),
        }
    }

    /// Reads what [`Element::encode`] writes. `Ok(None)` is a kind of step that is not known (yet).
    pub fn decode(text: &str) -> Result<Option<Element>, MalformedElement> {
        let malformed = || MalformedElement(text.to_owned());
        let (Some(kind), Some(':')) = (text.chars().next(), text.chars().nth(1)) else {
            return Err(malformed());
        };
        let rest = text.get(kind.len_utf8() + 1..).ok_or_else(malformed)?;
        match kind {
            'f' => Ok(Some(Element::field(rest))),
            'v' => {
                let value = serde_json::from_str(rest).map_err(|_| malformed())?;
                Ok(Some(Element::Value(with_floats(value))))
            }
            'k' => match serde_json::from_str(rest).map_err(|_| malformed())? {
                Value::Object(map) => {
                    let fields = map.into_iter().map(|(name, value)| (name, with_floats(value)));
                    Ok(Some(Element::Key(fields.collect())))
                }
                _ => Err(malformed()),
            },
            'i' => Ok(Some(Element::Index(rest.parse().map_err(|_| malformed())?))),
            _ => Ok(None),
        }
    }
}

/// A key of `fieldsV1` that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a path element")]
pub struct MalformedElement(String);

/// Kubernetes keeps every number it has read from `fieldsV1` as a float, and shows it as one in conflicts.
fn with_floats(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_i64() {
            // One that no float is equal to stays itself, or it would be another number.
            Some(whole) if (whole as f64) as i64 != whole => Value::Number(number),
            _ => number.as_f64().map_or(Value::Number(number), Value::from),
        },
        Value::Array(items) => items.into_iter().map(with_floats).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, with_floats(value))).collect(),
        other => other,
    }
}

impl Ord for Element {
    fn cmp(&self, other: &Element) -> Ordering {
        match (self, other) {
            (Element::Field(left), Element::Field(right)) => left.cmp(right),
            (Element::Key(left), Element::Key(right)) => {
                for (left, right) in left.iter().zip(right) {
                    let order = left.0.cmp(&right.0).then_with(|| values::compare(&left.1, &right.1));
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                left.len().cmp(&right.len())
            }
            (Element::Value(left), Element::Value(right)) => values::compare(left, right),
            (Element::Index(left), Element::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Element {
    fn partial_cmp(&self, other: &Element) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Element) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Element {}

/// As messages show it: `.spec`, `[name="x"]`, `[="x"]`, `[0]`.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Field(name) => write!(f, ".{name}"),
            Element::Key(fields) => {
                f.write_str("[")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma}{name}={}", show(value))?;
                }
                f.write_str("]")
            }
            Element::Value(value) => write!(f, "[={}]", show(value)),
            Element::Index(at) => write!(f, "[{at}]"),
        }
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => quote(text),
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(",")),
        Value::Object(map) => map.iter().map(|(key, value)| format!("{key}={}", show(value))).collect(),
        Value::Bool(_) | Value::Number(_) => golang::plain(value),
    }
}

/// The way to a field, from the object down: `.spec.ports[port=80].name`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldPath(pub Vec<Element>);

impl FieldPath {
    /// The field at these names.
    pub fn of(names: &[&str]) -> FieldPath {
        FieldPath(names.iter().copied().map(Element::field).collect())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| element.fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key(fields: &[(&str, Value)]) -> Element {
        Element::Key(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    #[test]
    fn each_kind_of_step_has_its_form_in_fields_v1_and_in_messages() {
        for (element, encoded, shown) in [
            (Element::field("spec"), "f:spec", ".spec"),
            (Element::field("a:b"), "f:a:b", ".a:b"),
            (
                key(&[("port", json!(80)), ("protocol", json!("TCP"))]),
                r#"k:{"port":80,"protocol":"TCP"}"#,
                r#"[port=80,protocol="TCP"]"#,
            ),
            (Element::Value(json!("a<b")), r#"v:"a\u003cb""#, r#"[="a<b"]"#),
            (Element::Value(json!(true)), "v:true", "[=true]"),
            (Element::Index(3), "i:3", "[3]"),
        ] {
            assert_eq!(element.encode(), encoded);
            assert_eq!(element.to_string(), shown);
            assert_eq!(Element::decode(encoded), Ok(Some(element)));
        }
    }

    #[test]
    fn a_number_read_from_fields_v1_is_shown_as_a_float() {
        let read = Element::decode(r#"k:{"id":1000000}"#).unwrap().unwrap();
        assert_eq!(read.to_string(), "[id=1e+06]");
        assert_eq!(read.encode(), r#"k:{"id":1000000}"#);
        assert_eq!(read, key(&[("id", json!(1_000_000))]));
    }

    #[test]
    fn what_is_no_step_is_refused_and_what_is_not_known_is_passed_over() {
        for malformed in ["", "f", "spec", "v:", "v:1 2", "k:[]", "k:{\"a\":1}x", "i:x", "é"] {
            assert!(Element::decode(malformed).is_err(), "{malformed}");
        }
        assert_eq!(Element::decode("x:later"), Ok(None));
    }

    #[test]
    fn fields_come_before_keys_before_values_before_places() {
        let sorted = [
            Element::field("a"),
            Element::field("b"),
            key(&[("port", json!(80))]),
            key(&[("port", json!(80)), ("protocol", json!("TCP"))]),
            key(&[("port", json!(443))]),
            Element::Value(json!(1)),
            Element::Value(json!("a")),
            Element::Index(0),
        ];
        for pair in sorted.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
    }
}
