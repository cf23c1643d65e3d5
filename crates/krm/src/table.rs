//! Objects as tables: the form in which `kubectl get` asks for them.

mod age;
mod column;

use serde_json::{Map, Value};

use crate::object::Object;
use crate::time::Moment;

pub use age::{age, age_of};
pub use column::{Column, ColumnDefinition};

/// The columns of a kind.
#[derive(Debug, Clone)]
pub struct Columns {
    columns: Vec<Column>,
    /// As every answer shows them; made once.
    definitions: Value,
}

/// Which part of an object goes along with its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

impl IncludeObject {
    /// What the query parameter `includeObject` asks for; `None` when it is none of the values that are known.
    pub fn parse(text: &str) -> Option<IncludeObject> {
        match text {
            "None" => Some(IncludeObject::None),
            "" | "Metadata" => Some(IncludeObject::Metadata),
            "Object" => Some(IncludeObject::Object),
            _ => None,
        }
    }
}

impl Columns {
    /// These columns, the first of which is usually [`Column::name`].
    pub fn new(columns: Vec<Column>) -> Columns {
        let definitions = columns.iter().map(|column| column.definition.to_json()).collect();
        Columns { columns, definitions }
    }

    /// The columns of a custom resource, from the `additionalPrinterColumns` of its definition: the name, and the age when there
    /// are none. A column whose path is none ends them.
    pub fn of_custom_resource(additional: &[Value]) -> Columns {
        let mut columns = vec![Column::name()];
        if additional.is_empty() {
            columns.push(Column::age());
        }
        columns.extend(additional.iter().map_while(|column| Column::of_custom_resource(column).ok()));
        Columns::new(columns)
    }

    /// The `columnDefinitions` of a table.
    pub fn definitions(&self) -> &Value {
        &self.definitions
    }

    /// The columns as `additionalPrinterColumns` has them, without the name and those that are computed.
    pub fn declared(&self) -> Vec<Value> {
        self.columns.iter().filter_map(Column::declared).collect()
    }

    /// The cells of an object, one for each column.
    pub fn cells(&self, object: &Value, now: Moment) -> Vec<Value> {
        self.columns.iter().map(|column| column.cell(object, now)).collect()
    }

    /// The row of an object; `version` is that of `meta.k8s.io` in which the table was asked for.
    pub fn row(&self, object: Value, include: IncludeObject, version: &str, now: Moment) -> Value {
        let cells = Value::Array(self.cells(&object, now));
        let shown = match include {
            IncludeObject::None => Value::Null,
            IncludeObject::Metadata => {
                let mut object = object;
                partial(object.get_mut("metadata").map(Value::take), version)
            }
            IncludeObject::Object => object,
        };
        record([("cells", cells), ("object", shown)])
    }
}

/// A table. `columns` is null from the second event of a watch on.
pub fn table(version: &str, list_metadata: Map<String, Value>, columns: Value, rows: Vec<Value>) -> Value {
    record([
        ("apiVersion", format!("meta.k8s.io/{version}").into()),
        ("kind", "Table".into()),
        ("metadata", list_metadata.into()),
        ("columnDefinitions", columns),
        ("rows", rows.into()),
    ])
}

/// An object's type and metadata alone: `kind: PartialObjectMetadata`.
pub fn partial_metadata(mut object: Object, version: &str) -> Value {
    partial(object.0.remove("metadata"), version)
}

fn partial(metadata: Option<Value>, version: &str) -> Value {
    record([
        ("apiVersion", format!("meta.k8s.io/{version}").into()),
        ("kind", "PartialObjectMetadata".into()),
        ("metadata", metadata.unwrap_or_else(|| Value::Object(Map::new()))),
    ])
}

/// A list of such parts. An empty one has no items at all, as Kubernetes has it.
pub fn partial_metadata_list(version: &str, list_metadata: Map<String, Value>, items: Vec<Value>) -> Value {
    record([
        ("apiVersion", format!("meta.k8s.io/{version}").into()),
        ("kind", "PartialObjectMetadataList".into()),
        ("metadata", list_metadata.into()),
        ("items", if items.is_empty() { Value::Null } else { Value::Array(items) }),
    ])
}

/// An object of these fields, which are moved into it: `json!` would copy all of them.
fn record<const FIELDS: usize>(fields: [(&str, Value); FIELDS]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests;
