//! Values of messages, as resources have them.

use std::collections::HashMap;

use krm::time::Moment;
use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value,
};
use serde_json::{Map, Value as Json};

use super::{Names, is_condition, refers_to};
use crate::schema;

/// The value of a field; `None` where it has none, or is secret.
pub fn field(field: &FieldDescriptor, json: &Json, names: &Names) -> Option<Value> {
    if schema::is_secret(field) {
        return None;
    }
    let reference = refers_to(field.full_name()).map(|(plural, _)| plural);
    let one = |kind: &Kind, json: &Json| match (reference, json) {
        (Some(plural), Json::String(name)) => Some(Value::String(names.shown(plural, name))),
        _ => value(kind, json, names, is_condition(field.parent_message())),
    };
    if field.is_map() {
        let entry = field.kind();
        let of = entry.as_message()?.map_entry_value_field();
        let entries = json.as_object()?.iter().filter_map(|(key, json)| {
            let inner = value(&of.kind(), json, names, false)?;
            Some((MapKey::String(key.clone()), inner))
        });
        let entries: HashMap<MapKey, Value> = entries.collect();
        return Some(Value::Map(entries));
    }
    if field.is_list() {
        let kind = field.kind();
        let items = json.as_array()?.iter().filter_map(|json| one(&kind, json));
        // A condition of a type that only resources have is not shown.
        let items = items.filter(|item| !matches!(item, Value::Message(item) if is_unknown_condition(item)));
        return Some(Value::List(items.collect()));
    }
    one(&field.kind(), json)
}

fn is_unknown_condition(message: &DynamicMessage) -> bool {
    use prost_reflect::ReflectMessage;
    is_condition(&message.descriptor()) && !message.has_field_by_name("type")
}

fn value(kind: &Kind, json: &Json, names: &Names, in_condition: bool) -> Option<Value> {
    Some(match kind {
        Kind::Bool => Value::Bool(json.as_bool()?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(json.as_i64()?.try_into().ok()?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(json.as_i64()?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(json.as_u64()?.try_into().ok()?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(json.as_u64()?),
        Kind::Float => Value::F32(json.as_f64()? as f32),
        Kind::Double => Value::F64(json.as_f64()?),
        Kind::String => Value::String(json.as_str()?.to_owned()),
        Kind::Bytes => Value::Bytes(json.as_str()?.to_owned().into()),
        Kind::Enum(of) => Value::EnumNumber(number(of, json.as_str()?, in_condition)?),
        Kind::Message(of) => Value::Message(match of.full_name() {
            "google.protobuf.Timestamp" => timestamp(of, json.as_str()?)?,
            "google.protobuf.Any" => any(of, json)?,
            _ => message(of, json.as_object()?, names),
        }),
    })
}

/// A message, as far as an object has it.
pub fn message(of: &MessageDescriptor, json: &Map<String, Json>, names: &Names) -> DynamicMessage {
    let mut message = DynamicMessage::new(of.clone());
    for part in of.fields() {
        let Some(json) = json.get(part.json_name()) else { continue };
        if let Some(value) = field(&part, json, names) {
            message.set_field(&part, value);
        }
    }
    message
}

/// The number of an enum's value. Conditions have short words for it: `Ready` for `HOST_CONDITION_TYPE_READY`.
fn number(of: &EnumDescriptor, text: &str, in_condition: bool) -> Option<i32> {
    if let Some(value) = of.get_value_by_name(text) {
        return Some(value.number());
    }
    in_condition
        .then(|| of.values().find(|value| short(of, value.name()) == text))?
        .map(|value| value.number())
}

/// A value of an enum in a word: `Ready`.
pub fn short(of: &EnumDescriptor, name: &str) -> String {
    let mut prefix = String::new();
    for c in of.name().chars() {
        if c.is_ascii_uppercase() && !prefix.is_empty() {
            prefix.push('_');
        }
        prefix.push(c.to_ascii_uppercase());
    }
    prefix.push('_');
    let rest = name.strip_prefix(&prefix).unwrap_or(name);
    let words = rest.split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{first}{}", rest.to_ascii_lowercase())
    });
    words.collect()
}

/// A time.
pub fn timestamp(of: &MessageDescriptor, text: &str) -> Option<DynamicMessage> {
    let moment = Moment::parse(text).or_else(|_| Moment::parse_micros(text)).ok()?;
    let mut message = DynamicMessage::new(of.clone());
    message.set_field_by_name("seconds", Value::I64(moment.seconds));
    message.set_field_by_name("nanos", Value::I32(i32::try_from(moment.nanoseconds).unwrap_or(0)));
    Some(message)
}

/// A value with its type. One of a type that is not known here keeps its type alone.
fn any(of: &MessageDescriptor, json: &Json) -> Option<DynamicMessage> {
    DynamicMessage::deserialize(of.clone(), json).ok().or_else(|| {
        let mut message = DynamicMessage::new(of.clone());
        let url = json.get("@type").and_then(Json::as_str)?;
        message.set_field_by_name("type_url", Value::String(url.to_owned()));
        Some(message)
    })
}
