//! Objects as messages: the tables read the other way round than the decoder reads them.

use serde_json::{Map, Value};

use crate::base64;
use crate::proto::MAGIC;
use crate::proto::message::{Holds, Message};

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

/// Writes an object as its message, the other way round than the tables are read.
pub(super) fn encode(message: &Message, object: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::new();
    let text = |value: &Value| value.as_str().unwrap().as_bytes().to_vec();
    for field in message.fields {
        let Some(value) = object.get(field.name) else { continue };
        let number = field.number;
        match field.holds {
            Holds::Bool => put_number(&mut out, number, i64::from(value.as_bool().unwrap())),
            Holds::Int32 | Holds::Int64 => put_number(&mut out, number, value.as_i64().unwrap()),
            Holds::Text => put_bytes(&mut out, number, &text(value)),
            Holds::Time | Holds::MicroTime => {
                let (seconds, nanos) = seconds_of(value.as_str().unwrap());
                let mut time = Vec::new();
                put_number(&mut time, 1, seconds);
                put_number(&mut time, 2, nanos);
                put_bytes(&mut out, number, &time);
            }
            Holds::Json => {
                let mut raw = Vec::new();
                put_bytes(&mut raw, 1, value.to_string().as_bytes());
                put_bytes(&mut out, number, &raw);
            }
            Holds::Texts => {
                value.as_array().unwrap().iter().for_each(|item| put_bytes(&mut out, number, &text(item)))
            }
            Holds::One(inner) => put_bytes(&mut out, number, &encode(inner, value.as_object().unwrap())),
            Holds::Many(inner) => {
                for item in value.as_array().unwrap() {
                    put_bytes(&mut out, number, &encode(inner, item.as_object().unwrap()));
                }
            }
            Holds::TextByText => {
                value
                    .as_object()
                    .unwrap()
                    .iter()
                    .for_each(|(key, item)| put_entry(&mut out, number, key, &text(item)));
            }
            Holds::BytesByText => {
                for (key, item) in value.as_object().unwrap() {
                    put_entry(&mut out, number, key, &base64::decode(item.as_str().unwrap()).unwrap());
                }
            }
            Holds::TextsByText => {
                for (key, items) in value.as_object().unwrap() {
                    let mut list = Vec::new();
                    items.as_array().unwrap().iter().for_each(|item| put_bytes(&mut list, 1, &text(item)));
                    put_entry(&mut out, number, key, &list);
                }
            }
        }
    }
    out
}

/// The times that these tests use.
pub(super) const TIMES: [(&str, i64, i64); 4] = [
    ("1970-01-01T00:00:00Z", 0, 0),
    ("2023-11-14T22:13:20Z", 1_700_000_000, 0),
    ("2023-11-14T22:13:20.000000Z", 1_700_000_000, 0),
    ("1969-12-31T23:59:59.000001Z", -1, 1_000),
];

fn seconds_of(time: &str) -> (i64, i64) {
    let (_, seconds, nanos) = TIMES.iter().find(|(written, _, _)| *written == time).unwrap();
    (*seconds, *nanos)
}
