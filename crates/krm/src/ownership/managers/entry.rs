//! One entry of `managedFields`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Identity, Manager};
use crate::ownership::set::{FieldSet, MalformedFields};
use crate::time::Moment;

/// How a manager came to own its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ownership) enum Operation {
    Apply,
    Update,
}

impl Operation {
    pub(in crate::ownership) fn name(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }
}

/// An entry of `managedFields` that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MalformedEntry {
    /// It is not an object, or a field of it is of the wrong type.
    #[error("managed fields entry {0} is malformed")]
    Malformed(usize),
    /// `operation` is neither `Apply` nor `Update`.
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    /// `apiVersion` is empty.
    #[error("apiVersion must not be empty")]
    NoVersion,
    /// `fieldsType` is empty.
    #[error("missing fieldsType in managed fields entry {0}")]
    NoFieldsType(usize),
    /// `fieldsType` is not `FieldsV1`.
    #[error("invalid fieldsType {kind} in managed fields entry {at}", kind = crate::field::quote(.1), at = .0)]
    FieldsType(usize, String),
    /// `fieldsV1` cannot be read.
    #[error("error decoding set: {0}")]
    Fields(#[from] MalformedFields),
}

/// The fields of an entry, as texts; absent ones are empty.
struct Texts<'v> {
    manager: &'v str,
    operation: &'v str,
    version: &'v str,
    time: &'v str,
    fields_type: &'v str,
    subresource: &'v str,
}

fn texts(entry: &Value) -> Option<Texts<'_>> {
    let text = |field: &str| match entry.get(field) {
        None | Some(Value::Null) => Some(""),
        Some(value) => value.as_str(),
    };
    Some(Texts {
        manager: text("manager")?,
        operation: text("operation")?,
        version: text("apiVersion")?,
        time: text("time")?,
        fields_type: text("fieldsType")?,
        subresource: text("subresource")?,
    })
}

/// Whether nothing is set in an entry. A list of one such entry asks to forget all owners.
pub(in crate::ownership) fn is_blank(entry: &Value) -> bool {
    let no_fields = entry.get("fieldsV1").is_none_or(Value::is_null);
    no_fields
        && texts(entry).is_some_and(|texts| {
            [texts.manager, texts.operation, texts.version, texts.time, texts.fields_type, texts.subresource]
                .iter()
                .all(|text| text.is_empty())
        })
}

pub(super) fn decode(at: usize, entry: &Value) -> Result<Manager, MalformedEntry> {
    let texts = texts(entry).ok_or(MalformedEntry::Malformed(at))?;
    let operation = match texts.operation {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err(MalformedEntry::Operation),
    };
    if texts.version.is_empty() {
        return Err(MalformedEntry::NoVersion);
    }
    match texts.fields_type {
        "FieldsV1" => {}
        "" => return Err(MalformedEntry::NoFieldsType(at)),
        other => return Err(MalformedEntry::FieldsType(at, other.to_owned())),
    }
    let time = match texts.time {
        "" => None,
        time => {
            let time = Moment::parse(time).map_err(|_| MalformedEntry::Malformed(at))?;
            (!time.is_zero()).then_some(Moment::of_seconds(time.seconds))
        }
    };
    let fields = match entry.get("fieldsV1") {
        Some(fields) => FieldSet::decode(fields)?,
        None => FieldSet::new(),
    };
    let version = match operation {
        Operation::Apply => "",
        Operation::Update => texts.version,
    };
    let identity = Identity {
        name: texts.manager.to_owned(),
        operation,
        version: version.to_owned(),
        subresource: texts.subresource.to_owned(),
    };
    Ok(Manager { identity, version: texts.version.to_owned(), fields, time })
}

pub(super) fn encode(manager: Manager) -> Value {
    let Manager { identity, version, fields, time } = manager;
    let mut entry = Map::new();
    let mut put = |field: &str, value: Cow<'_, str>| {
        if !value.is_empty() {
            entry.insert(field.to_owned(), Value::String(value.into_owned()));
        }
    };
    put("manager", identity.name.into());
    put("operation", identity.operation.name().into());
    put("apiVersion", version.into());
    put("time", time.map(|time| time.to_string()).unwrap_or_default().into());
    put("fieldsType", "FieldsV1".into());
    put("subresource", identity.subresource.into());
    entry.insert("fieldsV1".to_owned(), fields.encode());
    Value::Object(entry)
}
