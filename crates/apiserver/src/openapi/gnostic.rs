//! The 2.0 document in protobuf, in gnostic's messages: the only form in which Go clients ask for it. Those from before
//! Kubernetes 1.27 check what they send by it; later ones do when a kind is not in the 3.0 documents.

mod messages;

use serde_json::{Map, Value};

use messages::{DOCUMENT, Holds, Message};

/// What it is called by those who ask for it, now and formerly, and by those who send it.
pub const MEDIA: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

/// A 2.0 document as a message.
pub fn encode(document: &Value) -> Vec<u8> {
    message(&DOCUMENT, document)
}

fn message(message: &Message, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match message.fields.iter().find(|(known, _, _)| known == name) {
            Some((_, number, holds)) => put(&mut out, *number, holds, value),
            None if name.starts_with("x-") && message.extensions > 0 => {
                put_bytes(&mut out, message.extensions, &named(name, &any(value)));
            }
            None => {}
        }
    }
    out
}

fn put(out: &mut Vec<u8>, number: u32, holds: &Holds, value: &Value) {
    let mut one = |bytes: Vec<u8>| put_bytes(out, number, &bytes);
    match (holds, value) {
        (Holds::Text, Value::String(text)) => put_bytes(out, number, text.as_bytes()),
        (Holds::Texts, Value::Array(texts)) => {
            texts.iter().filter_map(Value::as_str).for_each(|text| one(text.as_bytes().to_vec()));
        }
        (Holds::Flag, Value::Bool(true)) => put_number(out, number, 1),
        (Holds::Whole, Value::Number(count)) => {
            let count = count.as_i64().unwrap_or_default();
            put_number(out, number, count.cast_unsigned());
        }
        (Holds::Float, Value::Number(count)) => {
            put_varint(out, u64::from(number) << 3 | 1);
            out.extend(count.as_f64().unwrap_or_default().to_le_bytes());
        }
        (Holds::Any, value) => one(any(value)),
        (Holds::Anys, Value::Array(values)) => values.iter().for_each(|value| one(any(value))),
        (Holds::One(of), value) => one(message(of, value)),
        (Holds::Many(of), Value::Array(values)) => values.iter().for_each(|value| one(message(of, value))),
        (Holds::ByName(of), Value::Object(values)) => one(by_name(1, values, |value| message(of, value))),
        (Holds::Paths(of), Value::Object(values)) => one(by_name(2, values, |value| message(of, value))),
        (Holds::OneOrMany(of), Value::Array(values)) => {
            let mut inside = Vec::new();
            values.iter().for_each(|value| put_bytes(&mut inside, 1, &message(of, value)));
            one(inside);
        }
        (Holds::OneOrMany(of), value) => one(wrapped(1, &message(of, value))),
        (Holds::Type, Value::String(kind)) => one(wrapped(1, kind.as_bytes())),
        (Holds::FlagOr(_), Value::Bool(flag)) => {
            let mut inside = Vec::new();
            put_number(&mut inside, 2, u64::from(*flag));
            one(inside);
        }
        (Holds::FlagOr(of), value) => one(wrapped(1, &message(of, value))),
        (Holds::Parameters, Value::Array(values)) => {
            values.iter().for_each(|value| one(parameter_or_reference(value)))
        }
        (Holds::ParametersByName, Value::Object(values)) => one(by_name(1, values, parameter)),
        (Holds::Responses, Value::Object(values)) => {
            one(by_name(1, values, |value| wrapped(1, &message(&messages::RESPONSE, value))));
        }
        (Holds::KeysByName, Value::Object(values)) => {
            one(by_name(1, values, |value| wrapped(2, &message(&messages::API_KEY, value))));
        }
        (Holds::Requirements, Value::Array(values)) => {
            for requirement in values.iter().filter_map(Value::as_object) {
                one(by_name(1, requirement, |_| Vec::new()));
            }
        }
        // What has another type than the specification gives it is left out.
        _ => {}
    }
}

/// A map, as a message whose field `number` repeats its entries.
fn by_name(number: u32, values: &Map<String, Value>, encode: impl Fn(&Value) -> Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in values {
        put_bytes(&mut out, number, &named(name, &encode(value)));
    }
    out
}

fn named(name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, 1, name.as_bytes());
    put_bytes(&mut out, 2, value);
    out
}

/// A value of any type goes as YAML, which JSON is.
fn any(value: &Value) -> Vec<u8> {
    wrapped(2, value.to_string().as_bytes())
}

fn parameter_or_reference(value: &Value) -> Vec<u8> {
    match value.get("$ref") {
        Some(_) => wrapped(2, &message(&messages::REFERENCE, value)),
        None => wrapped(1, &parameter(value)),
    }
}

fn parameter(value: &Value) -> Vec<u8> {
    match value.get("in").and_then(Value::as_str) {
        Some("body") => wrapped(1, &message(&messages::BODY_PARAMETER, value)),
        Some("header") => wrapped(2, &wrapped(1, &message(&messages::PATH_PARAMETER, value))),
        Some("path") => wrapped(2, &wrapped(4, &message(&messages::PATH_PARAMETER, value))),
        _ => wrapped(2, &wrapped(3, &message(&messages::QUERY_PARAMETER, value))),
    }
}

fn wrapped(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, number, bytes);
    out
}

fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_number(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3);
    put_varint(out, value);
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_written_as_its_message() {
        let document = json!({
            "swagger": "2.0",
            "definitions": {"A": {"type": "object", "x-y": [1], "required": ["b"], "properties": {"b": {"$ref": "#/definitions/B"}}}},
        });
        let mut schema = Vec::new();
        put_bytes(&mut schema, 25, &wrapped(1, &named("b", &wrapped(1, b"#/definitions/B"))));
        put_bytes(&mut schema, 19, b"b");
        put_bytes(&mut schema, 22, &wrapped(1, b"object"));
        put_bytes(&mut schema, 31, &named("x-y", &wrapped(2, b"[1]")));
        let mut expected = Vec::new();
        put_bytes(&mut expected, 9, &wrapped(1, &named("A", &schema)));
        put_bytes(&mut expected, 1, b"2.0");
        assert_eq!(encode(&document), expected);
        assert_eq!(wrapped(1, &[7; 200])[..3], [0x0a, 0xc8, 0x01], "lengths are as long as they need");
    }

    #[test]
    fn parameters_are_told_apart_by_where_they_are() {
        let path = json!({"/a": {"get": {"parameters": [
            {"$ref": "#/parameters/p"},
            {"in": "query", "name": "dryRun", "type": "string", "uniqueItems": true},
            {"in": "path", "name": "name", "required": true},
            {"in": "body", "name": "body", "schema": {"type": "object"}},
        ]}}});
        let query = [wrapped(2, b"query"), wrapped(4, b"dryRun"), wrapped(6, b"string"), vec![0xa0, 0x01, 1]]
            .concat();
        let mut operation = Vec::new();
        put_bytes(&mut operation, 8, &wrapped(2, &wrapped(1, b"#/parameters/p")));
        put_bytes(&mut operation, 8, &wrapped(1, &wrapped(2, &wrapped(3, &query))));
        let path_parameter = [wrapped(2, b"path"), wrapped(4, b"name"), vec![8, 1]].concat();
        put_bytes(&mut operation, 8, &wrapped(1, &wrapped(2, &wrapped(4, &path_parameter))));
        let body =
            [wrapped(3, b"body"), wrapped(2, b"body"), wrapped(5, &wrapped(22, &wrapped(1, b"object")))]
                .concat();
        put_bytes(&mut operation, 8, &wrapped(1, &wrapped(1, &body)));
        let expected = wrapped(8, &wrapped(2, &named("/a", &wrapped(2, &operation))));
        assert_eq!(encode(&json!({ "paths": path })), expected);
    }
}
