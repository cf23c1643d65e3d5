//! A column: what is said of it, and where its cells come from.

use serde_json::{Value, json};

use super::age_of;
use crate::encode;
use crate::jsonpath::JsonPath;
use crate::number;
use crate::time::Moment;

const ABOUT_NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

const ABOUT_AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// What is said of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Its heading.
    pub name: String,
    /// The type of its cells: `string`, `integer`, `number`, `boolean` or `date`.
    pub type_name: String,
    /// More about the type, such as `name`.
    pub format: String,
    /// For people.
    pub description: String,
    /// 0 is always shown, more only when asked for all.
    pub priority: i64,
}

impl ColumnDefinition {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.type_name,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        })
    }
}

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    /// What is said of it.
    pub definition: ColumnDefinition,
    source: Source,
    /// Where a definition says that its cells are; none if they are computed.
    path: Option<String>,
}

/// Where the cells of a column come from.
#[derive(Debug, Clone)]
enum Source {
    Path(JsonPath),
    Own(fn(&Value, Moment) -> Value),
}

impl Column {
    /// The name of an object: the first column of nearly every table.
    pub fn name() -> Column {
        let definition = ColumnDefinition {
            name: "Name".to_owned(),
            type_name: "string".to_owned(),
            format: "name".to_owned(),
            description: ABOUT_NAME.to_owned(),
            priority: 0,
        };
        let name = |object: &Value, _| object.pointer("/metadata/name").cloned().unwrap_or_else(|| "".into());
        Column { definition, source: Source::Own(name), path: None }
    }

    /// How long an object has been there.
    pub fn age() -> Column {
        let definition = ColumnDefinition {
            name: "Age".to_owned(),
            type_name: "date".to_owned(),
            format: String::new(),
            description: ABOUT_AGE.to_owned(),
            priority: 0,
        };
        let age = |object: &Value, now| age_of(object.pointer("/metadata/creationTimestamp"), now).into();
        Column { definition, source: Source::Own(age), path: Some(".metadata.creationTimestamp".to_owned()) }
    }

    /// A column whose cells a kind makes itself, from an object and the time it is shown at.
    pub fn own(definition: ColumnDefinition, cell: fn(&Value, Moment) -> Value) -> Column {
        Column { definition, source: Source::Own(cell), path: None }
    }

    /// A column that a custom resource declares in `additionalPrinterColumns`.
    pub fn of_custom_resource(column: &Value) -> Result<Column, String> {
        let text = |field: &str| column.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
        let path = text("jsonPath");
        let parsed = JsonPath::parse(&path)
            .map_err(|_| format!("unrecognized column definition {}", crate::field::quote(&path)))?;
        let description = match text("description") {
            given if given.is_empty() => {
                format!("Custom resource definition column (in JSONPath format): {path}")
            }
            given => given,
        };
        let definition = ColumnDefinition {
            name: text("name"),
            type_name: text("type"),
            format: text("format"),
            description,
            priority: column.get("priority").and_then(Value::as_i64).unwrap_or(0),
        };
        Ok(Column { definition, source: Source::Path(parsed), path: Some(path) })
    }

    /// The JSONPath of its cells; `None` if they are computed.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// The column as `additionalPrinterColumns` has it; `None` if its cells are computed.
    pub(super) fn declared(&self) -> Option<Value> {
        let path = self.path.as_deref()?;
        let ColumnDefinition { name, type_name, format, description, priority } = &self.definition;
        let mut declared = json!({"name": name, "type": type_name, "jsonPath": path});
        if !format.is_empty() {
            declared["format"] = json!(format);
        }
        // What is said of it when nobody says anything, or by the server of its own columns, says nothing.
        if !description.ends_with(path) && description != ABOUT_AGE {
            declared["description"] = json!(description);
        }
        if *priority != 0 {
            declared["priority"] = json!(priority);
        }
        Some(declared)
    }

    pub(super) fn cell(&self, object: &Value, now: Moment) -> Value {
        match &self.source {
            Source::Own(cell) => cell(object, now),
            // Of several values, the first is shown.
            Source::Path(path) => match path.first(object) {
                Some(value) => shown(&value, &self.definition.type_name, now),
                None => Value::Null,
            },
        }
    }
}

/// A value as a cell of a type; null when it is of another.
fn shown(value: &Value, type_name: &str, now: Moment) -> Value {
    match (type_name, value) {
        ("string", _) => Value::String(printed(value)),
        ("integer", Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Value::from(integer),
            (None, Some(float)) => Value::from(float as i64),
            (None, None) => Value::Null,
        },
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(_)) => Value::String(age_of(Some(value), now)),
        _ => Value::Null,
    }
}

/// A value as text: lists and maps as JSON.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number::in_text(number),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => encode::to_json_text(value),
    }
}
