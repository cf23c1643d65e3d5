//! Object metadata: validation on create and update.

mod managed;
mod owners;
mod server;
mod shape;
mod validate;

use serde_json::{Map, Value};

pub use managed::validate_field_manager;
pub use owners::{drop_duplicate_owners, duplicate_owners_warning};
pub use server::{fill_on_create, keep_on_update, resource_version_required};
pub use shape::{OBJECT_META, coerce};
pub use validate::{
    finalizer_faults, finalizer_warnings, validate_create, validate_embedded, validate_update,
};

/// Nobody reads more errors about one object than this, and a request could ask for millions.
const MOST_ERRORS: usize = 1000;

/// Reads metadata that has been coerced; absent fields are empty.
#[derive(Clone, Copy)]
struct View<'a>(Option<&'a Map<String, Value>>);

impl<'a> View<'a> {
    fn get(self, field: &str) -> Option<&'a Value> {
        self.0?.get(field).filter(|value| !value.is_null())
    }

    fn text(self, field: &str) -> &'a str {
        self.get(field).and_then(Value::as_str).unwrap_or("")
    }

    fn number(self, field: &str) -> i64 {
        self.get(field).and_then(Value::as_i64).unwrap_or(0)
    }

    fn texts(self, field: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let entries = self.get(field).and_then(Value::as_object).into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or("")))
    }

    fn list(self, field: &str) -> &'a [Value] {
        self.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn finalizers(self) -> impl Iterator<Item = &'a str> {
        self.list("finalizers").iter().map(|name| name.as_str().unwrap_or(""))
    }
}

#[cfg(test)]
mod tests;
