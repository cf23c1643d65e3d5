//! Messages by their tables, into the JSON they stand for.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::message::{Either, Field, Holds, Message, Other};
use super::wire::{Fault, Reader};
use crate::body::{self, MOST_DEPTH};
use crate::time::Moment;
use crate::{base64, number};

const NANOSECONDS: i64 = 1_000_000_000;

/// From 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z, since 1970.
const SECONDS_OF_FOUR_DIGIT_YEARS: RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// Reads a message. Fields that hold nothing are left out, as they are when such an object is written as JSON.
pub(super) fn decode(message: &'static Message, bytes: &[u8]) -> Result<Map<String, Value>, Fault> {
    let mut object = Map::new();
    Depth(MOST_DEPTH).below(1)?.message(message, bytes, &mut object)?;
    Ok(object)
}

/// How much deeper objects and lists may stand in one another. What is read has to be stored as JSON, and read again.
#[derive(Clone, Copy)]
struct Depth(usize);

impl Depth {
    fn below(self, levels: usize) -> Result<Depth, Fault> {
        self.0.checked_sub(levels).map(Depth).ok_or_else(|| Fault::Content("exceeded max depth".to_owned()))
    }

    fn message(
        self,
        message: &'static Message,
        bytes: &[u8],
        object: &mut Map<String, Value>,
    ) -> Result<(), Fault> {
        let mut reader = Reader::new(message.name, bytes);
        while let Some((number, wire_type)) = reader.tag()? {
            match message.fields.iter().find(|field| field.number == number) {
                Some(field) => self.field(field, &mut reader, wire_type, object)?,
                None => reader.skip(wire_type)?,
            }
        }
        Ok(())
    }

    fn field(
        self,
        field: &'static Field,
        reader: &mut Reader<'_>,
        wire_type: u8,
        object: &mut Map<String, Value>,
    ) -> Result<(), Fault> {
        let name = field.name;
        match field.holds {
            Holds::Bool => put(field, object, Value::Bool(reader.number(name, wire_type)? != 0)),
            Holds::Int32 => put(field, object, Value::from(reader.number(name, wire_type)? as i32)),
            Holds::Int64 => put(field, object, Value::from(reader.number(name, wire_type)? as i64)),
            Holds::Double => put(field, object, double(reader.double(name, wire_type)?)?),
            Holds::Text => put(field, object, Value::String(reader.text(name, wire_type)?)),
            Holds::Bytes => put(field, object, base64::encode(reader.bytes(name, wire_type)?).into()),
            Holds::IntOrString => {
                object.insert(name.to_owned(), int_or_string(reader.bytes(name, wire_type)?)?);
            }
            Holds::Time => {
                let time = moment(reader.bytes(name, wire_type)?)?;
                put_time(field, object, time.map(|at| at.to_string()));
            }
            Holds::MicroTime => {
                let time = moment(reader.bytes(name, wire_type)?)?;
                put_time(field, object, time.map(Moment::to_micros));
            }
            Holds::Json => match self.json(reader.bytes(name, wire_type)?)? {
                Some(value) => drop(object.insert(name.to_owned(), value)),
                None => drop(object.remove(name)),
            },
            Holds::Jsons => {
                let value = self.below(1)?.json(reader.bytes(name, wire_type)?)?;
                list(object, name).push(value.unwrap_or_default());
            }
            Holds::Texts => list(object, name).push(Value::String(reader.text(name, wire_type)?)),
            Holds::WrappedTexts => list(object, name).extend(texts(reader.bytes(name, wire_type)?)?),
            Holds::One(message) => {
                // A message that comes in parts is put together.
                let mut inner = match object.remove(name) {
                    Some(Value::Object(inner)) => inner,
                    _ => Map::new(),
                };
                self.below(1)?.message(message, reader.bytes(name, wire_type)?, &mut inner)?;
                if field.kept || !inner.is_empty() {
                    object.insert(name.to_owned(), Value::Object(inner));
                }
            }
            Holds::Many(message) => {
                let item = self.below(1)?.one(message, reader.bytes(name, wire_type)?)?;
                list(object, name).push(item);
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
            Holds::OneByText(message) => {
                let (key, value) = entry(reader.bytes(name, wire_type)?)?;
                let value = self.below(1)?.one(message, value)?;
                map(object, name).insert(key, value);
            }
            Holds::Either(either) => match self.either(either, reader.bytes(name, wire_type)?)? {
                Value::Null => drop(object.remove(name)),
                value => drop(object.insert(name.to_owned(), value)),
            },
            Holds::EitherByText(either) => {
                let (key, value) = entry(reader.bytes(name, wire_type)?)?;
                let value = self.below(1)?.either(either, value)?;
                map(object, name).insert(key, value);
            }
        }
        Ok(())
    }

    fn one(self, message: &'static Message, bytes: &[u8]) -> Result<Value, Fault> {
        let mut object = Map::new();
        self.below(1)?.message(message, bytes, &mut object)?;
        Ok(Value::Object(object))
    }

    fn either(self, either: &'static Either, bytes: &[u8]) -> Result<Value, Fault> {
        let mut reader = Reader::new(either.name, bytes);
        let (mut found, mut flag, mut items) = (None, false, Vec::new());
        while let Some((number, wire_type)) = reader.tag()? {
            match (number, either.other) {
                (number, _) if number == either.object.0 => {
                    found = Some(self.one(either.object.1, reader.bytes("schema", wire_type)?)?);
                }
                (number, (other, Other::Flag)) if number == other => {
                    flag = reader.number("allows", wire_type)? != 0;
                }
                (number, (other, Other::Texts)) if number == other => {
                    items.push(Value::String(reader.text("property", wire_type)?));
                }
                (number, (other, Other::Many)) if number == other => {
                    let item = reader.bytes("jSONSchemas", wire_type)?;
                    items.push(self.below(1)?.one(either.object.1, item)?);
                }
                _ => reader.skip(wire_type)?,
            }
        }
        Ok(match (either.other.1, found) {
            (Other::Flag, None) => Value::Bool(flag),
            (Other::Flag, Some(object)) => object,
            (_, _) if !items.is_empty() => Value::Array(items),
            (_, found) => found.unwrap_or_default(),
        })
    }

    /// The JSON of a message that has but that; none where it is empty.
    fn json(self, bytes: &[u8]) -> Result<Option<Value>, Fault> {
        let raw = single(bytes)?;
        if raw.is_empty() {
            return Ok(None);
        }
        let mut value = body::read(raw).map_err(|error| Fault::Content(error.to_string()))?.value;
        number::reread(&mut value);
        self.below(levels(&value))?;
        Ok(Some(value))
    }
}

/// How deep objects and lists stand in one another in a value.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

fn put_time(field: &Field, object: &mut Map<String, Value>, time: Option<String>) {
    match time {
        Some(time) => object.insert(field.name.to_owned(), Value::String(time)),
        None => object.remove(field.name),
    };
}

/// Puts a single value in, the last one winning.
fn put(field: &Field, object: &mut Map<String, Value>, value: Value) {
    let nothing = match &value {
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    match nothing && !field.kept {
        true => object.remove(field.name),
        false => object.insert(field.name.to_owned(), value),
    };
}

fn list<'a>(object: &'a mut Map<String, Value>, name: &str) -> &'a mut Vec<Value> {
    let slot = object.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    slot.as_array_mut().expect("only this puts something into a repeated field")
}

fn map<'a>(object: &'a mut Map<String, Value>, name: &str) -> &'a mut Map<String, Value> {
    let slot = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
    slot.as_object_mut().expect("only this puts something into a map field")
}

/// A number as JSON has it, which has none that is infinite.
fn double(number: f64) -> Result<Value, Fault> {
    match number.is_finite() {
        true => Ok(number::from_float(number)),
        false => Err(Fault::Content(format!("json: unsupported value: {}", go_float(number)))),
    }
}

fn go_float(number: f64) -> &'static str {
    match (number.is_nan(), number > 0.0) {
        (true, _) => "NaN",
        (false, true) => "+Inf",
        (false, false) => "-Inf",
    }
}

/// A number or a text; which one is told by the message, whatever else it holds.
fn int_or_string(bytes: &[u8]) -> Result<Value, Fault> {
    let mut reader = Reader::new("IntOrString", bytes);
    let (mut is_text, mut number, mut text) = (false, 0, String::new());
    while let Some((field, wire_type)) = reader.tag()? {
        match field {
            1 => is_text = reader.number("Type", wire_type)? == 1,
            2 => number = reader.number("IntVal", wire_type)? as i32,
            3 => text = reader.text("StrVal", wire_type)?,
            _ => reader.skip(wire_type)?,
        }
    }
    Ok(if is_text { Value::String(text) } else { Value::from(number) })
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
