//! The field managers of each field of an object, from `metadata.managedFields`.

use std::sync::Arc;

use serde_json::Value;

use crate::yaml::Position;

/// Those who may have set what stands at a place of an object.
#[derive(Clone, Default)]
pub(super) struct Owners<'o> {
    /// Each with its fields below the place; those that own all of it have no more to tell.
    managers: Vec<(&'o str, &'o Value)>,
}

impl<'o> Owners<'o> {
    /// Of a whole object.
    pub(super) fn of(object: &'o Value) -> Self {
        let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
        let managers = entries
            // What is observed is nobody's design.
            .filter(|entry| entry["subresource"].as_str().is_none_or(str::is_empty))
            .filter_map(|entry| Some((entry["manager"].as_str()?, &entry["fieldsV1"])));
        Self { managers: managers.collect() }
    }

    /// Of a field.
    pub(super) fn field(&self, name: &str) -> Self {
        self.below(&format!("f:{name}"))
    }

    /// Of a member of a list that has names.
    pub(super) fn member(&self, name: &Value) -> Self {
        self.below(&format!("k:{{\"name\":{name}}}"))
    }

    fn below(&self, key: &str) -> Self {
        let managers = self.managers.iter().filter_map(|(manager, fields)| {
            let is_whole = fields.as_object().is_none_or(|fields| fields.is_empty());
            if is_whole { Some((*manager, *fields)) } else { fields.get(key).map(|below| (*manager, below)) }
        });
        Self { managers: managers.collect() }
    }

    /// The position, named after the field manager: an object has no lines.
    pub(super) fn place(&self) -> Position {
        let file: Arc<str> = match self.managers.first() {
            Some((manager, _)) => format!("source {manager}").into(),
            None => "the server".into(),
        };
        Position { file, line: 0, column: 0 }
    }
}
