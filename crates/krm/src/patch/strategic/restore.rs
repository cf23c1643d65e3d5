//! Whether what came out of a patch is still an object of its kind.

use serde_json::Value;

use super::layout::{FieldLayout, Layout, Node};
use crate::base64;
use crate::field::{Path, quote};
use crate::golang::{kind_of, type_of};
use crate::time::Moment;

impl Layout {
    /// Checks that an object has only values that its fields can hold. Gives the fields it should not have, in words and
    /// in order: `unknown field "spec.zip"`. The error is in Go's words.
    pub fn check(&self, object: &Value) -> Result<Vec<String>, String> {
        let mut unknown = Vec::new();
        check(object, self.root(), &Path::ROOT, &mut unknown)?;
        unknown.sort();
        Ok(unknown)
    }
}

fn check(
    value: &Value,
    place: FieldLayout<'_>,
    path: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    match (place.node(), value) {
        (Node::Any, _)
        | (Node::Text, Value::String(_))
        | (Node::Bool, Value::Bool(_))
        | (Node::Float, Value::Number(_)) => Ok(()),
        (Node::Time, Value::String(text)) => Moment::parse(text).map(drop),
        (Node::Bytes, Value::String(text)) => {
            base64::decode(text).map(drop).map_err(|why| format!("error decoding from json: {why}"))
        }
        (Node::Struct { fields, .. }, Value::Object(values)) => {
            for (key, value) in values {
                let below = path.field(key);
                match fields.get(key.as_str()) {
                    Some(field) => check(value, place.at(field.node), &below, unknown)?,
                    None => unknown.push(format!("unknown field {}", quote(&below.to_string()))),
                }
            }
            Ok(())
        }
        (Node::Map(node), Value::Object(values)) => {
            // Kubernetes does not say in which entry of a map a field stands.
            values.values().try_for_each(|value| check(value, place.at(*node), path, unknown))
        }
        (Node::List(node), Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| check(item, place.at(*node), &path.index(at), unknown)),
        (Node::Integer(name), Value::Number(number)) => match number.as_f64() {
            Some(float) if float.fract() != 0.0 => Err(format!("cannot convert float64 to {name}")),
            _ => Ok(()),
        },
        (Node::Struct { .. }, other) => Err(format!("cannot restore struct from: {}", kind_of(other))),
        (Node::Map(_), other) => Err(format!("cannot restore map from {}", kind_of(other))),
        (Node::List(_) | Node::Bytes, other) => Err(format!("cannot restore slice from {}", kind_of(other))),
        (Node::Time, other) => {
            let kind = crate::body::kind_of(other);
            Err(format!("json: cannot unmarshal {kind} into Go value of type string"))
        }
        // Go would make a character of an integer.
        (Node::Text, Value::Number(number)) if number.is_i64() => {
            Err(format!("cannot convert {} to string", type_of(value)))
        }
        (scalar, _) => Err(format!("unrecognized type: {}", scalar.go_kind())),
    }
}
