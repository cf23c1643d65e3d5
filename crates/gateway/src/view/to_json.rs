//! Values of messages, as resources take them.

use krm::status::Status;
use krm::time::Moment;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, ReflectMessage, SerializeOptions, Value};
use serde_json::{Map, Value as Json};

use super::from_json::short;
use super::{Names, is_condition, refers_to};

/// The value of a field.
pub fn field(field: &FieldDescriptor, value: &Value, names: &Names) -> Result<Json, Status> {
    let condition = is_condition(field.parent_message());
    let one = |kind: &Kind, value: &Value| match (refers_to(field.full_name()), value) {
        (Some((plural, how)), Value::String(text)) if !text.is_empty() => {
            names.stored(plural, text, how, field.name()).map(Json::from)
        }
        _ => self::value(kind, value, names, condition),
    };
    match value {
        Value::Map(entries) => {
            let of = field.kind();
            let of = of.as_message().map(|entry| entry.map_entry_value_field().kind());
            let mut map = Map::new();
            for (key, value) in entries {
                let MapKey::String(key) = key else { continue };
                let Some(of) = &of else { continue };
                map.insert(key.clone(), self::value(of, value, names, false)?);
            }
            Ok(Json::Object(map))
        }
        Value::List(items) => {
            let kind = field.kind();
            items.iter().map(|item| one(&kind, item)).collect()
        }
        value => one(&field.kind(), value),
    }
}

fn value(kind: &Kind, value: &Value, names: &Names, in_condition: bool) -> Result<Json, Status> {
    Ok(match value {
        Value::Bool(flag) => (*flag).into(),
        Value::I32(number) => (*number).into(),
        Value::I64(number) => (*number).into(),
        Value::U32(number) => (*number).into(),
        Value::U64(number) => (*number).into(),
        Value::F32(number) => f64::from(*number).into(),
        Value::F64(number) => (*number).into(),
        Value::String(text) => text.as_str().into(),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => return Err(Status::bad_request("the bytes must be text in UTF-8")),
        },
        Value::EnumNumber(number) => {
            let Kind::Enum(of) = kind else { return Ok(Json::Null) };
            let Some(named) = of.get_value(*number) else {
                return Err(Status::bad_request(format!("{number} is no value of {}", of.full_name())));
            };
            match in_condition {
                true => short(of, named.name()).into(),
                false => named.name().into(),
            }
        }
        Value::Message(message) => match message.descriptor().full_name() {
            "google.protobuf.Timestamp" => time(message).into(),
            "google.protobuf.Any" => any(message)?,
            _ => Json::Object(self::message(message, names)?),
        },
        Value::List(_) | Value::Map(_) => Json::Null,
    })
}

/// All that is set in a message.
pub fn message(message: &DynamicMessage, names: &Names) -> Result<Map<String, Json>, Status> {
    let mut map = Map::new();
    for (of, value) in message.fields() {
        map.insert(of.json_name().to_owned(), field(&of, value, names)?);
    }
    Ok(map)
}

/// A time in the words of resources.
pub fn time(message: &DynamicMessage) -> String {
    let seconds = message.get_field_by_name("seconds").and_then(|field| field.as_i64()).unwrap_or(0);
    Moment::of_seconds(seconds).to_string()
}

fn any(message: &DynamicMessage) -> Result<Json, Status> {
    let options = SerializeOptions::new().use_proto_field_name(true);
    message.serialize_with_options(serde_json::value::Serializer, &options).map_err(|error| {
        let url = message.get_field_by_name("type_url");
        let url = url.as_ref().and_then(|url| url.as_str()).unwrap_or_default();
        Status::bad_request(format!("a value of the type {url:?} can't be read: {error}"))
    })
}
