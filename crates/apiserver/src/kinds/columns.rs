//! Table columns that Kubernetes' kinds have in common.
//!
//! The words about columns are part of what clients compare, so they are those of Kubernetes.

use krm::table::{Column, ColumnDefinition};
use krm::time::Moment;
use serde_json::Value;

/// What the cells of a column hold.
pub type Cell = fn(&Value, Moment) -> Value;

/// How old the object is.
pub fn age() -> Column {
    let mut age = Column::age();
    age.definition.type_name = "string".to_owned();
    age
}

/// When the object was made.
pub fn created() -> Column {
    let definition = ColumnDefinition { name: "Created At".to_owned(), ..Column::age().definition };
    Column::own(definition, |object, _| text(object, "/metadata/creationTimestamp").into())
}

/// The name of the object, where it does not come first and is shown in wide tables alone.
pub fn wide_name() -> Column {
    let mut name = Column::name();
    name.definition.priority = 1;
    name
}

/// A column of texts or counts.
pub fn column(name: &str, description: &str, cell: Cell) -> Column {
    let definition = ColumnDefinition {
        name: name.to_owned(),
        type_name: "string".to_owned(),
        format: String::new(),
        description: description.to_owned(),
        priority: 0,
    };
    Column::own(definition, cell)
}

/// A column of wide tables alone.
pub fn wide(name: &str, description: &str, cell: Cell) -> Column {
    let mut column = column(name, description, cell);
    column.definition.priority = 1;
    column
}

/// A string in an object; empty if it is absent.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}
