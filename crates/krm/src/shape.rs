//! Fields that Kubernetes declares as Go types: what decoding into such a type makes of a JSON value.
//!
//! Metadata, and the kinds of the core, are not described by a schema. Decoding drops fields the type does not have,
//! takes null for "not given", leaves out what is empty, and refuses a wrong type in Go's words.

mod published;
mod schema;

use serde_json::{Map, Value};

pub use published::Published;
pub use schema::Outline;

use crate::base64;
use crate::field::Path;
use crate::number;
use crate::time::Moment;

/// A Go type.
#[derive(Debug)]
pub enum Shape {
    /// Text, with the type's name: `string`, `types.UID`.
    Text(&'static str),
    /// A whole number, with the type's name and bounds.
    Integer(&'static str, i64, i64),
    /// A number with or without a fraction.
    Number,
    /// Yes or no.
    Flag,
    /// Bytes, written as base64.
    Bytes,
    /// A moment, kept to the second.
    Time,
    /// A moment, kept to the microsecond.
    MicroTime,
    /// A map from text, with the type's name.
    Map(&'static str, &'static Shape),
    /// A list, with the type's name.
    List(&'static str, &'static Shape),
    /// Named fields.
    Struct(&'static Struct),
    /// Whatever it is.
    Anything,
    /// A type that decodes itself; what it does not know, it does not tell.
    Own(fn(&mut Value) -> Result<(), String>),
}

/// A Go struct.
#[derive(Debug)]
pub struct Struct {
    /// Its name within its package: `ObjectMeta`.
    pub name: &'static str,
    /// Its name: `v1.ObjectMeta`.
    pub type_name: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// A field of a Go struct.
#[derive(Debug)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its type.
    pub shape: Shape,
    /// When it is left out.
    pub left_out: LeftOut,
}

impl Field {
    /// A field that is left out when it is empty.
    pub const fn if_empty(name: &'static str, shape: Shape) -> Field {
        Field { name, shape, left_out: LeftOut::IfEmpty }
    }

    /// A field that is left out when it was not given.
    pub const fn if_absent(name: &'static str, shape: Shape) -> Field {
        Field { name, shape, left_out: LeftOut::IfAbsent }
    }

    /// A field that is always there.
    pub const fn always(name: &'static str, shape: Shape) -> Field {
        Field { name, shape, left_out: LeftOut::Never }
    }
}

/// When a field of a struct is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// When it is empty: no text, zero, no, no items.
    IfEmpty,
    /// When it was not given; a pointer in Go.
    IfAbsent,
    /// Never: what is empty is written so.
    Never,
}

/// Whole numbers of 64 bits.
pub const INT64: Shape = Shape::Integer("int64", i64::MIN, i64::MAX);
/// Whole numbers of 32 bits.
pub const INT32: Shape = Shape::Integer("int32", i32::MIN as i64, i32::MAX as i64);
/// Text.
pub const STRING: Shape = Shape::Text("string");
/// Labels and the like.
pub const STRING_MAP: Shape = Shape::Map("map[string]string", &STRING);
/// A list of texts.
pub const STRING_LIST: Shape = Shape::List("[]string", &STRING);

/// No more unknown fields than these are told.
const MOST_UNKNOWN: usize = 100;

/// Makes of `value` what decoding into the type would, and tells the fields that the type does not have.
///
/// `path` leads to the value within its object. The error is Go's, about the first field in order that does not fit; what
/// the value holds then is of no use.
pub fn conform(
    value: &mut Value,
    shape: &Shape,
    path: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    apply(value, shape, &DecodeContext { path, within: None }, unknown)
}

/// Where the walk is: in the object, and in Go's types.
struct DecodeContext<'a> {
    path: &'a Path<'a>,
    within: Option<Within<'a>>,
}

/// The field of a struct that is being decoded.
#[derive(Clone, Copy)]
struct Within<'a> {
    outer: Option<&'a Within<'a>>,
    of_struct: &'static str,
    field: &'static str,
}

fn apply(
    value: &mut Value,
    shape: &Shape,
    place: &DecodeContext<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    if value.is_null() {
        if !matches!(shape, Shape::Anything | Shape::Own(_)) {
            *value = zero(shape);
        }
        return Ok(());
    }
    match (shape, &mut *value) {
        (Shape::Anything, _) | (Shape::Text(_), Value::String(_)) | (Shape::Flag, Value::Bool(_)) => Ok(()),
        (Shape::Integer(_, least, most), Value::Number(number))
            if number.as_i64().is_some_and(|number| (*least..=*most).contains(&number)) =>
        {
            Ok(())
        }
        (Shape::Number, Value::Number(number)) => {
            *number = number::plain(number);
            Ok(())
        }
        (Shape::Bytes, Value::String(text)) => {
            *text = base64::encode(&base64::decode(text)?);
            Ok(())
        }
        (Shape::Own(decode), value) => decode(value),
        (Shape::Time, Value::String(text)) => {
            *text = Moment::parse(text)?.to_string();
            Ok(())
        }
        (Shape::MicroTime, Value::String(text)) => {
            *text = Moment::parse_micros(text)?.to_micros();
            Ok(())
        }
        (Shape::Map(_, of), Value::Object(entries)) => {
            for (key, entry) in entries {
                let path = place.path.field(key);
                apply(entry, of, &DecodeContext { path: &path, within: place.within }, unknown)?;
            }
            Ok(())
        }
        (Shape::List(_, of), Value::Array(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                let path = place.path.index(index);
                apply(item, of, &DecodeContext { path: &path, within: place.within }, unknown)?;
            }
            Ok(())
        }
        (Shape::Struct(declared), Value::Object(fields)) => apply_struct(fields, declared, place, unknown),
        (_, value) => Err(mismatch(value, shape, place)),
    }
}

fn apply_struct(
    fields: &mut Map<String, Value>,
    declared: &'static Struct,
    place: &DecodeContext<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let mut has_dead = false;
    for (name, value) in fields.iter_mut() {
        let path = place.path.field(name);
        let Some(field) = declared.fields.iter().find(|field| field.name == name) else {
            if unknown.len() < MOST_UNKNOWN {
                unknown.push(path.to_string());
            }
            has_dead = true;
            continue;
        };
        if field.left_out != LeftOut::Never && value.is_null() {
            has_dead = true;
            continue;
        }
        let within = Within { outer: place.within.as_ref(), of_struct: declared.name, field: field.name };
        apply(value, &field.shape, &DecodeContext { path: &path, within: Some(within) }, unknown)?;
        has_dead |= is_left_out(value, field);
    }
    if has_dead {
        let lives = |name: &str, value: &Value| {
            declared.fields.iter().any(|field| field.name == name && !is_left_out(value, field))
        };
        fields.retain(|name, value| lives(name, value));
    }
    for field in declared.fields.iter().filter(|field| field.left_out == LeftOut::Never) {
        if !fields.contains_key(field.name) {
            fields.insert(field.name.to_owned(), zero(&field.shape));
        }
    }
    Ok(())
}

fn is_left_out(value: &Value, field: &Field) -> bool {
    match field.left_out {
        LeftOut::Never => false,
        LeftOut::IfAbsent => value.is_null() || is_no_time(value, &field.shape),
        LeftOut::IfEmpty => match value {
            Value::Null => true,
            Value::Bool(flag) => !flag,
            Value::Number(number) => number.as_i64() == Some(0),
            Value::String(text) => text.is_empty() || is_no_time(value, &field.shape),
            Value::Array(items) => items.is_empty(),
            // A struct is written even when it is empty.
            Value::Object(entries) => entries.is_empty() && !matches!(field.shape, Shape::Struct(_)),
        },
    }
}

/// The first second of the year 1 is how Go says that there is no time.
fn is_no_time(value: &Value, shape: &Shape) -> bool {
    matches!(shape, Shape::Time | Shape::MicroTime)
        && value.as_str().is_some_and(|text| text.starts_with("0001-01-01T00:00:00"))
}

/// What is in a value of the type before anything is written to it.
pub fn zero(shape: &Shape) -> Value {
    match shape {
        Shape::Text(_) | Shape::Bytes => Value::String(String::new()),
        Shape::Integer(..) | Shape::Number => Value::from(0),
        Shape::Flag => Value::Bool(false),
        Shape::Struct(declared) => {
            let always = declared.fields.iter().filter(|field| field.left_out == LeftOut::Never);
            Value::Object(always.map(|field| (field.name.to_owned(), zero(&field.shape))).collect())
        }
        Shape::Time
        | Shape::MicroTime
        | Shape::Map(..)
        | Shape::List(..)
        | Shape::Anything
        | Shape::Own(_) => Value::Null,
    }
}

fn mismatch(value: &Value, shape: &Shape, place: &DecodeContext<'_>) -> String {
    let found = match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "bool".into(),
        Value::Number(number) if matches!(shape, Shape::Integer(..)) => {
            let text = number::text(number);
            // Go names what was written, and a whole number would have done.
            let point = if number.is_f64() && !text.contains(['.', 'e']) { ".0" } else { "" };
            format!("number {text}{point}")
        }
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
        Value::Array(_) => "array".into(),
        Value::Object(_) => "object".to_owned(),
    };
    let expected = match shape {
        Shape::Text(name) | Shape::Integer(name, ..) | Shape::Map(name, _) | Shape::List(name, _) => name,
        Shape::Flag => "bool",
        Shape::Number => "float64",
        Shape::Bytes => "[]uint8",
        // Times are read from a text.
        Shape::Time | Shape::MicroTime => "string",
        Shape::Struct(declared) => declared.type_name,
        Shape::Anything | Shape::Own(_) => "interface {}",
    };
    match &place.within {
        None => format!("json: cannot unmarshal {found} into Go value of type {expected}"),
        Some(within) => {
            let mut names = vec![within.field];
            let mut outer = within.outer;
            while let Some(within) = outer {
                names.push(within.field);
                outer = within.outer;
            }
            names.reverse();
            let (of_struct, field) = (within.of_struct, names.join("."));
            format!(
                "json: cannot unmarshal {found} into Go struct field {of_struct}.{field} of type {expected}"
            )
        }
    }
}

#[cfg(test)]
mod tests;
