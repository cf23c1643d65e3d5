//! Messages by their tables, into the JSON they stand for.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::wire::{Fault, Reader};
use crate::base64;
use crate::time::Moment;

const NANOSECONDS: i64 = 1_000_000_000;

/// From 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z, since 1970.
const SECONDS_OF_FOUR_DIGIT_YEARS: RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// A kind of message: its fields, in the order that Kubernetes writes them in JSON.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [Field],
}

/// A field of a message.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: i32,
    pub(crate) name: &'static str,
    pub(crate) holds: Holds,
    /// Whether it says something by being there, whatever it holds.
    pub(crate) kept: bool,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Holds {
    Text,
    Bool,
    Int32,
    Int64,
    /// A point in time to the second.
    Time,
    /// A point in time to the microsecond.
    MicroTime,
    /// JSON as it is.
    Json,
    Texts,
    One(&'static Message),
    Many(&'static Message),
    TextByText,
    BytesByText,
    TextsByText,
}

impl Field {
    pub(crate) const fn new(number: i32, name: &'static str, holds: Holds) -> Field {
        Field { number, name, holds, kept: false }
    }

    pub(crate) const fn kept(number: i32, name: &'static str, holds: Holds) -> Field {
        Field { number, name, holds, kept: true }
    }
}

/// Reads a message. Fields that hold nothing are left out, as they are when such an object is written as JSON.
pub(super) fn decode(
    message: &'static Message,
    bytes: &[u8],
    object: &mut Map<String, Value>,
) -> Result<(), Fault> {
    let mut reader = Reader::new(message.name, bytes);
    while let Some((number, wire_type)) = reader.tag()? {
        match message.fields.iter().find(|field| field.number == number) {
            Some(field) => field.decode(&mut reader, wire_type, object)?,
            None => reader.skip(wire_type)?,
        }
    }
    Ok(())
}

impl Field {
    fn decode(
        &'static self,
        reader: &mut Reader<'_>,
        wire_type: u8,
        object: &mut Map<String, Value>,
    ) -> Result<(), Fault> {
        let name = self.name;
        match self.holds {
            Holds::Bool => self.put(object, Value::Bool(reader.number(name, wire_type)? != 0)),
            Holds::Int32 => self.put(object, Value::from(reader.number(name, wire_type)? as i32)),
            Holds::Int64 => self.put(object, Value::from(reader.number(name, wire_type)? as i64)),
            Holds::Text => self.put(object, Value::String(reader.text(name, wire_type)?)),
            Holds::Texts => list(object, name).push(Value::String(reader.text(name, wire_type)?)),
            Holds::Time => {
                self.put_time(object, moment(reader.bytes(name, wire_type)?)?, |at| at.to_string())
            }
            Holds::MicroTime => {
                self.put_time(object, moment(reader.bytes(name, wire_type)?)?, Moment::to_micros)
            }
            Holds::Json => {
                let raw = single(reader.bytes(name, wire_type)?)?;
                if raw.is_empty() {
                    object.remove(name);
                    return Ok(());
                }
                let value = serde_json::from_slice(raw).map_err(|error| Fault::Content(error.to_string()))?;
                object.insert(name.to_owned(), value);
            }
            Holds::One(message) => {
                // A message that comes in parts is put together.
                let mut inner = match object.remove(name) {
                    Some(Value::Object(inner)) => inner,
                    _ => Map::new(),
                };
                decode(message, reader.bytes(name, wire_type)?, &mut inner)?;
                if self.kept || !inner.is_empty() {
                    object.insert(name.to_owned(), Value::Object(inner));
                }
            }
            Holds::Many(message) => {
                let mut item = Map::new();
                decode(message, reader.bytes(name, wire_type)?, &mut item)?;
                list(object, name).push(Value::Object(item));
            }
            Holds::TextByText => {
                let (key, value) = entry(reader.bytes(name, wire_type)?)?;
                map(object, name).insert(key, Value::String(String::from_utf8_lossy(value).into_owned()));
            }
            Holds::BytesByText => {
                let (key, value) = entry(reader.bytes(name, wire_type)?)?;
                map(object, name).insert(key, Value::String(base64::encode(value)));
            }
            Holds::TextsByText => {
                let (key, value) = entry(reader.bytes(name, wire_type)?)?;
                map(object, name).insert(key, Value::Array(texts(value)?));
            }
        }
        Ok(())
    }

    fn put_time(&self, object: &mut Map<String, Value>, time: Option<Moment>, written: fn(Moment) -> String) {
        match time {
            Some(time) => object.insert(self.name.to_owned(), Value::String(written(time))),
            None => object.remove(self.name),
        };
    }

    /// Puts a single value in, the last one winning.
    fn put(&self, object: &mut Map<String, Value>, value: Value) {
        let nothing = match &value {
            Value::Bool(flag) => !flag,
            Value::Number(number) => number.as_i64() == Some(0),
            Value::String(text) => text.is_empty(),
            _ => false,
        };
        match nothing && !self.kept {
            true => object.remove(self.name),
            false => object.insert(self.name.to_owned(), value),
        };
    }
}

fn list<'a>(object: &'a mut Map<String, Value>, name: &str) -> &'a mut Vec<Value> {
    let slot = object.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    slot.as_array_mut().expect("only this puts something into a repeated field")
}

fn map<'a>(object: &'a mut Map<String, Value>, name: &str) -> &'a mut Map<String, Value> {
    let slot = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
    slot.as_object_mut().expect("only this puts something into a map field")
}

/// An entry of a map; what it leaves out is empty.
fn entry(bytes: &[u8]) -> Result<(String, &[u8]), Fault> {
    let mut reader = Reader::new("Entry", bytes);
    let mut entry = (String::new(), &[][..]);
    while let Some((number, wire_type)) = reader.tag()? {
        match number {
            1 => entry.0 = reader.text("Key", wire_type)?,
            2 => entry.1 = reader.bytes("Value", wire_type)?,
            _ => reader.skip(wire_type)?,
        }
    }
    Ok(entry)
}

/// A moment; none when it is not set.
fn moment(bytes: &[u8]) -> Result<Option<Moment>, Fault> {
    let mut reader = Reader::new("Timestamp", bytes);
    let (mut seconds, mut nanoseconds) = (0, 0);
    while let Some((number, wire_type)) = reader.tag()? {
        match number {
            1 => seconds = reader.number("Seconds", wire_type)? as i64,
            2 => nanoseconds = reader.number("Nanos", wire_type)? as i32,
            _ => reader.skip(wire_type)?,
        }
    }
    if bytes.is_empty() {
        return Ok(None);
    }
    let nanoseconds = i64::from(nanoseconds);
    let seconds = seconds.saturating_add(nanoseconds.div_euclid(NANOSECONDS));
    if !SECONDS_OF_FOUR_DIGIT_YEARS.contains(&seconds) {
        return Err(Fault::Content("year outside of range [0,9999]".to_owned()));
    }
    let moment = Moment { seconds, nanoseconds: nanoseconds.rem_euclid(NANOSECONDS) as u32 };
    Ok((!moment.is_zero()).then_some(moment))
}

/// The bytes of a message that has but these.
fn single(bytes: &[u8]) -> Result<&[u8], Fault> {
    let mut reader = Reader::new("FieldsV1", bytes);
    let mut raw = &[][..];
    while let Some((number, wire_type)) = reader.tag()? {
        match number {
            1 => raw = reader.bytes("Raw", wire_type)?,
            _ => reader.skip(wire_type)?,
        }
    }
    Ok(raw)
}

/// The texts of a message that has but these.
fn texts(bytes: &[u8]) -> Result<Vec<Value>, Fault> {
    let mut reader = Reader::new("ExtraValue", bytes);
    let mut texts = Vec::new();
    while let Some((number, wire_type)) = reader.tag()? {
        match number {
            1 => texts.push(Value::String(reader.text("Items", wire_type)?)),
            _ => reader.skip(wire_type)?,
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_normal_and_within_the_years_that_can_be_written() {
        let micros = |bytes: &[u8]| moment(bytes).map(|moment| moment.map(Moment::to_micros));
        assert_eq!(micros(&[]), Ok(None));
        assert_eq!(micros(&[0x08, 0x00]), Ok(Some("1970-01-01T00:00:00.000000Z".to_owned())));
        // 1,500,000,000 nanoseconds, and minus one second.
        let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let more = [&[0x10, 0x80, 0xde, 0xa0, 0xcb, 0x05][..], &[0x08], &minus_one].concat();
        assert_eq!(micros(&more), Ok(Some("1970-01-01T00:00:00.500000Z".to_owned())));
        let far = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert_eq!(micros(&far).unwrap_err().to_string(), "year outside of range [0,9999]");
    }
}
