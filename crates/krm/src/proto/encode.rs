//! Objects as messages: the tables that bodies are read by, the other way round.

use serde_json::{Map, Value};

use super::MAGIC;
use super::message::{Either, Holds, Message, Other};
use super::messages::{self, LIST_META, STATUS};
use crate::base64;
use crate::time::Moment;

/// An object, a list or a Status in its envelope, as clients read it; nothing for kinds that have no message.
pub fn encode(object: &Value) -> Option<Vec<u8>> {
    let object = object.as_object()?;
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    Some(wrapped(api_version, kind, &raw(api_version, kind, object)?))
}

/// Whether objects of a kind can be written so.
pub fn has_message(api_version: &str, kind: &str) -> bool {
    messages::find(api_version, kind).is_some()
}

/// One event of a watch, with its length before it; nothing for kinds that have no message.
pub fn encode_event(event: &Value) -> Option<Vec<u8>> {
    let mut inner = Vec::new();
    put_bytes(&mut inner, 1, &encode(event.get("object")?)?);
    let mut message = Vec::new();
    put_bytes(&mut message, 1, event.get("type").and_then(Value::as_str).unwrap_or_default().as_bytes());
    put_bytes(&mut message, 2, &inner);
    let mut framed = u32::try_from(message.len()).ok()?.to_be_bytes().to_vec();
    framed.append(&mut message);
    Some(framed)
}

fn raw(api_version: &str, kind: &str, object: &Map<String, Value>) -> Option<Vec<u8>> {
    if (api_version, kind) == ("v1", "Status") {
        return Some(message(&STATUS, object));
    }
    if let Some(found) = messages::find(api_version, kind) {
        return Some(message(found, object));
    }
    let of_items = messages::find(api_version, kind.strip_suffix("List")?)?;
    let mut out = Vec::new();
    let no_metadata = Map::new();
    let metadata = object.get("metadata").and_then(Value::as_object).unwrap_or(&no_metadata);
    put_bytes(&mut out, 1, &message(&LIST_META, metadata));
    for item in object.get("items").and_then(Value::as_array).into_iter().flatten() {
        put_bytes(&mut out, 2, &message(of_items, item.as_object().unwrap_or(&no_metadata)));
    }
    Some(out)
}

/// A message in its envelope.
pub(super) fn wrapped(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let mut typed = Vec::new();
    put_bytes(&mut typed, 1, api_version.as_bytes());
    put_bytes(&mut typed, 2, kind.as_bytes());
    let mut body = MAGIC.to_vec();
    put_bytes(&mut body, 1, &typed);
    put_bytes(&mut body, 2, raw);
    put_bytes(&mut body, 3, b"");
    put_bytes(&mut body, 4, b"");
    body
}

/// The message of an object; what is not of the type that its table says is left out.
pub(super) fn message(table: &Message, object: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::new();
    for field in table.fields {
        let Some(value) = object.get(field.name) else { continue };
        put(&mut out, field.number, field.holds, value);
    }
    out
}

fn put(out: &mut Vec<u8>, number: i32, holds: Holds, value: &Value) {
    match (holds, value) {
        (Holds::Bool, Value::Bool(flag)) => put_number(out, number, i64::from(*flag)),
        (Holds::Int32 | Holds::Int64, Value::Number(count)) => {
            put_number(out, number, count.as_i64().unwrap_or_default());
        }
        (Holds::Double, Value::Number(float)) => {
            put_varint(out, (number as u64) << 3 | 1);
            out.extend(float.as_f64().unwrap_or_default().to_le_bytes());
        }
        (Holds::Text, Value::String(text)) => put_bytes(out, number, text.as_bytes()),
        (Holds::Bytes, Value::String(text)) => {
            put_bytes(out, number, &base64::decode(text).unwrap_or_default());
        }
        (Holds::IntOrString, value) => put_bytes(out, number, &int_or_string(value)),
        (Holds::Time | Holds::MicroTime, Value::String(text)) => {
            let mut time = Vec::new();
            if let Ok(moment) = Moment::parse(text) {
                put_number(&mut time, 1, moment.seconds);
                put_number(&mut time, 2, i64::from(moment.nanoseconds));
            }
            put_bytes(out, number, &time);
        }
        (Holds::Json, value) => put_bytes(out, number, &json(value)),
        (Holds::Jsons, Value::Array(items)) => {
            for item in items {
                put_bytes(out, number, &json(item));
            }
        }
        (Holds::WrappedTexts, value) => put_bytes(out, number, &entry(holds, value)),
        (Holds::One(inner), Value::Object(object)) => put_bytes(out, number, &message(inner, object)),
        (Holds::Texts, Value::Array(items)) => {
            for text in items.iter().filter_map(Value::as_str) {
                put_bytes(out, number, text.as_bytes());
            }
        }
        (Holds::Many(inner), Value::Array(items)) => {
            for item in items.iter().filter_map(Value::as_object) {
                put_bytes(out, number, &message(inner, item));
            }
        }
        (Holds::Either(union), value) if !value.is_null() => put_bytes(out, number, &either(union, value)),
        (
            Holds::TextByText
            | Holds::BytesByText
            | Holds::TextsByText
            | Holds::OneByText(_)
            | Holds::EitherByText(_),
            Value::Object(entries),
        ) => {
            for (key, value) in entries {
                put_entry(out, number, key, &entry(holds, value));
            }
        }
        _ => {}
    }
}

/// A value that is an object or something else.
fn either(union: &Either, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let (object, inner) = union.object;
    match (union.other, value) {
        ((number, Other::Flag), Value::Bool(allows)) => put_number(&mut out, number, i64::from(*allows)),
        ((number, other), Value::Object(fields)) => {
            if matches!(other, Other::Flag) {
                put_number(&mut out, number, 1);
            }
            put_bytes(&mut out, object, &message(inner, fields));
        }
        ((number, Other::Texts), texts) => put(&mut out, number, Holds::Texts, texts),
        ((number, Other::Many), _) => {
            for item in value.as_array().into_iter().flatten().filter_map(Value::as_object) {
                put_bytes(&mut out, number, &message(inner, item));
            }
        }
        _ => {}
    }
    out
}

/// JSON in a message of its own.
fn json(value: &Value) -> Vec<u8> {
    let mut raw = Vec::new();
    put_bytes(&mut raw, 1, &crate::encode::to_json(value));
    raw
}

fn int_or_string(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    put_number(&mut out, 1, i64::from(value.is_string()));
    put_number(&mut out, 2, value.as_i64().unwrap_or_default());
    put_bytes(&mut out, 3, value.as_str().unwrap_or_default().as_bytes());
    out
}

/// The value of an entry of a map.
fn entry(holds: Holds, value: &Value) -> Vec<u8> {
    match (holds, value) {
        (Holds::BytesByText, Value::String(text)) => base64::decode(text).unwrap_or_default(),
        (Holds::OneByText(inner), Value::Object(object)) => message(inner, object),
        (Holds::EitherByText(union), value) => either(union, value),
        (_, Value::String(text)) => text.as_bytes().to_vec(),
        (_, Value::Array(items)) => {
            let mut texts = Vec::new();
            for text in items.iter().filter_map(Value::as_str) {
                put_bytes(&mut texts, 1, text.as_bytes());
            }
            texts
        }
        _ => Vec::new(),
    }
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_number(out: &mut Vec<u8>, field: i32, number: i64) {
    put_varint(out, (field as u64) << 3);
    put_varint(out, number as u64);
}

fn put_bytes(out: &mut Vec<u8>, field: i32, bytes: &[u8]) {
    put_varint(out, (field as u64) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put_entry(out: &mut Vec<u8>, field: i32, key: &str, value: &[u8]) {
    let mut entry = Vec::new();
    put_bytes(&mut entry, 1, key.as_bytes());
    put_bytes(&mut entry, 2, value);
    put_bytes(out, field, &entry);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::proto::decode;

    #[test]
    fn what_is_written_is_read_again() {
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true,
            "metadata": {
                "name": "s", "namespace": "n", "uid": "u", "resourceVersion": "7",
                "creationTimestamp": "2026-11-16T07:00:00Z", "labels": {"a": "b"},
                "managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1",
                    "time": "2026-11-16T07:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}}],
            },
            "data": {"k": "dmFsdWU="},
        });
        let read = decode(&encode(&secret).unwrap()).unwrap();
        assert_eq!(Value::Object(read.0), secret);
    }

    #[test]
    fn lists_and_failures_have_messages_and_users_kinds_have_none() {
        let list = json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": "9"},
            "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]});
        let bytes = encode(&list).unwrap();
        assert!(bytes.starts_with(MAGIC));
        let is_name = |part: &&[u8]| **part == *b"\x0a\x01a" || **part == *b"\x0a\x01b";
        let names = bytes.windows(3).filter(is_name).count();
        assert_eq!(names, 2, "{bytes:?}");
        assert!(encode(&json!({"apiVersion": "v1", "kind": "Status", "code": 404})).is_some());
        assert_eq!(encode(&json!({"apiVersion": "example.com/v1", "kind": "Widget"})), None);
        let event = json!({"type": "ADDED", "object": {"apiVersion": "v1", "kind": "ConfigMap"}});
        let framed = encode_event(&event).unwrap();
        assert_eq!(framed.len(), 4 + u32::from_be_bytes(framed[..4].try_into().unwrap()) as usize);
    }
}
