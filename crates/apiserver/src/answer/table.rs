//! Objects as tables.

use krm::Object;
use krm::table::table;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::request::accept::Accept;

/// A table of one object.
pub fn of_one(call: &Call, accept: &Accept, object: &Object) -> Value {
    let metadata = json!({ "resourceVersion": object.resource_version() });
    let columns = call.version().columns.definitions().clone();
    make(accept, metadata, columns, vec![row(call, accept, object.clone())])
}

/// A table of many.
pub fn of_many(call: &Call, accept: &Accept, objects: Vec<Object>, metadata: Value) -> Value {
    let rows = objects.into_iter().map(|object| row(call, accept, object)).collect();
    make(accept, metadata, call.version().columns.definitions().clone(), rows)
}

/// The table of one event of a watch; the first says what its columns are.
pub fn of_event(call: &Call, accept: &Accept, object: Object, with_columns: bool) -> Value {
    let metadata = json!({ "resourceVersion": object.resource_version() });
    let columns = if with_columns { call.version().columns.definitions().clone() } else { Value::Null };
    make(accept, metadata, columns, vec![row(call, accept, object)])
}

fn row(call: &Call, accept: &Accept, object: Object) -> Value {
    call.version().columns.row(object.into_value(), accept.include, accept.version, call.api.now())
}

fn make(accept: &Accept, metadata: Value, columns: Value, rows: Vec<Value>) -> Value {
    let metadata = match metadata {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    table(accept.version, metadata, columns, rows)
}
