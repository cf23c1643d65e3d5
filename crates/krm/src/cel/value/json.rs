//! Values of the object that is checked, seen through what its schema declares.

use serde_json::{Map as JsonFields, Value as Json};

use super::{Fault, List, Map, Outcome, Text, Value};
use crate::cel::decl::{DeclId, DeclKind, Decls};
use crate::cel::library::time::{self, Stamp};

#[derive(Debug, Clone, Copy)]
pub(in crate::cel) struct JsonList<'a> {
    pub items: &'a [Json],
    pub decls: &'a Decls,
    /// The declaration of the list.
    pub decl: DeclId,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::cel) struct JsonMap<'a> {
    pub map: &'a JsonFields<String, Json>,
    pub decls: &'a Decls,
    /// The declaration of the map.
    pub decl: DeclId,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::cel) struct JsonObject<'a> {
    pub map: &'a JsonFields<String, Json>,
    pub decls: &'a Decls,
    /// The declaration of the object.
    pub decl: DeclId,
}

/// A value as its declaration has it.
pub(in crate::cel) fn from_json<'a>(json: &'a Json, decls: &'a Decls, decl: DeclId) -> Outcome<'a> {
    let declared = decls.get(decl);
    if json.is_null() {
        let fault = || Fault::error("invalid data, got null for schema with nullable=false");
        return if declared.nullable { Ok(Value::Null) } else { Err(fault()) };
    }
    let expected = |what: &str| Fault::Error(format!("invalid data, expected {what}, got {}", go_type(json)));
    match (&declared.kind, json) {
        (DeclKind::Any, json) => Ok(as_found(json, decls, decl)),
        (DeclKind::IntOrString, Json::String(text)) => Ok(Value::String(Text::Borrowed(text))),
        (DeclKind::IntOrString | DeclKind::Int, Json::Number(number)) if number.is_i64() => {
            Ok(Value::Int(number.as_i64().unwrap_or_default()))
        }
        (DeclKind::IntOrString, _) => {
            Err(Fault::error("invalid data, expected XIntOrString value to be either a string or integer"))
        }
        (DeclKind::Bool, Json::Bool(flag)) => Ok(Value::Bool(*flag)),
        (DeclKind::Bool, _) => Err(expected("bool")),
        (DeclKind::Int, _) => Err(expected("int")),
        (DeclKind::Double, Json::Number(number)) => Ok(Value::Double(number.as_f64().unwrap_or_default())),
        (DeclKind::Double, _) => Err(expected("float")),
        (DeclKind::String, Json::String(text)) => Ok(Value::String(Text::Borrowed(text))),
        (DeclKind::Bytes, Json::String(text)) => crate::base64::decode(text)
            .map(|bytes| Value::Bytes(bytes.into()))
            .map_err(|why| Fault::Error(format!("Invalid byte formatted string {text}: {why}"))),
        (DeclKind::Duration, Json::String(text)) => time::parse_loose_duration(text)
            .map(Value::Duration)
            .map_err(|why| Fault::Error(format!("Invalid duration {text}: {why}"))),
        (DeclKind::Date, Json::String(text)) => Stamp::parse(&format!("{text}T00:00:00Z"))
            .map(Value::Timestamp)
            .map_err(|why| Fault::Error(format!("Invalid date formatted string {text}: {why}"))),
        (DeclKind::DateTime, Json::String(text)) => Stamp::parse(&text.to_uppercase())
            .map(Value::Timestamp)
            .map_err(|why| Fault::Error(format!("Invalid date-time formatted string {text}: {why}"))),
        (
            DeclKind::String | DeclKind::Bytes | DeclKind::Duration | DeclKind::Date | DeclKind::DateTime,
            _,
        ) => Err(expected("string")),
        (DeclKind::List { .. }, Json::Array(items)) => {
            Ok(Value::List(List::Json(JsonList { items, decls, decl })))
        }
        (DeclKind::List { .. }, _) => {
            Err(Fault::error("invalid data, expected an array for the provided schema with type=array"))
        }
        (DeclKind::Map { .. }, Json::Object(map)) => Ok(Value::Map(Map::Json(JsonMap { map, decls, decl }))),
        (DeclKind::Object { .. }, Json::Object(map)) => Ok(Value::Object(JsonObject { map, decls, decl })),
        (DeclKind::Map { .. } | DeclKind::Object { .. }, _) => {
            Err(Fault::error("invalid data, expected a map for the provided schema with type=object"))
        }
    }
}

/// A value that nothing was declared about.
fn as_found<'a>(json: &'a Json, decls: &'a Decls, decl: DeclId) -> Value<'a> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::Uint(number),
            (None, None) => Value::Double(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::String(Text::Borrowed(text)),
        Json::Array(items) => Value::List(List::Json(JsonList { items, decls, decl })),
        Json::Object(map) => Value::Map(Map::Json(JsonMap { map, decls, decl })),
    }
}

impl<'a> JsonList<'a> {
    pub fn get(&self, index: usize) -> Option<Outcome<'a>> {
        let json = self.items.get(index)?;
        let item = self.decls.element(self.decl)?;
        Some(from_json(json, self.decls, item))
    }
}

impl<'a> JsonMap<'a> {
    pub fn get(&self, key: &str) -> Option<Outcome<'a>> {
        let value = self.decls.element(self.decl)?;
        Some(from_json(self.map.get(key)?, self.decls, value))
    }
}

impl<'a> JsonObject<'a> {
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// A field by its own name. Null is as good as nothing.
    pub fn get(&self, name: &str) -> Option<Outcome<'a>> {
        let json = self.map.get(name).filter(|json| !json.is_null())?;
        let field = self.decls.property(self.decl, name)?;
        Some(from_json(json, self.decls, field))
    }
}

/// What Go calls the type of a JSON value.
fn go_type(json: &Json) -> &'static str {
    match json {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_i64() => "int64",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    }
}
