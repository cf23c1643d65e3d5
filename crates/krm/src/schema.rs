//! What a kind declares about the shape of its objects, and what follows from it: pruning, defaults, validation.
//!
//! A schema is JSON as it stands in a CustomResourceDefinition's `openAPIV3Schema`. It is compiled once; the walks
//! over it allocate only where something is wrong or missing.

mod correlation;
mod default;
mod embedded;
mod format;
mod from_types;
mod list_types;
mod node;
mod parse;
mod pattern;
mod prune;
mod report;
mod validate;

use serde_json::Value;

pub use correlation::{Correlation, OldItems};
pub use format::Format;
pub use from_types::schema_of;
pub use node::{Additional, JsonType, ListType, Node};
pub use parse::SchemaError;
pub use pattern::Pattern;

use crate::field::{FieldError, Path};

/// The schema of one version of a kind.
#[derive(Debug, Clone)]
pub struct Schema {
    root: Node,
    json: Value,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// What a structural schema may not say is left aside here: whether a schema is structural is decided where kinds
    /// are admitted.
    pub fn parse(json: &Value) -> Result<Schema, SchemaError> {
        Ok(Schema { root: parse::compile(json)?, json: json.clone() })
    }

    /// The schema as it was declared.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// What is declared about the whole object; the rest is found from there.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Takes away every field nobody declared, and every null where none may stand and no default would replace it.
    ///
    /// Returns the fields nobody declared, sorted, as warnings about unknown fields name them. The type and metadata of
    /// the object itself are left alone.
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        prune::prune(&self.root, object)
    }

    /// Fills in the defaults of fields that are absent, or null where null may not stand.
    pub fn default(&self, object: &mut Value) {
        default::fill(&self.root, object);
    }

    /// Reads the type and metadata of embedded objects.
    ///
    /// Returns the unknown fields of their metadata, sorted. Anything wrong makes the object unreadable.
    pub fn coerce_embedded(&self, object: &mut Value) -> Result<Vec<String>, FieldError> {
        embedded::coerce(&self.root, object)
    }

    /// The fields of a value that nobody declared. Unlike those of a whole object, its type and metadata have to be
    /// declared too, unless it is embedded.
    pub(crate) fn unknown_fields(&self, value: &Value) -> Vec<String> {
        prune::prune_value(&self.root, &mut value.clone())
    }

    /// Everything that is wrong with the type and metadata of embedded objects.
    pub(crate) fn validate_embedded(&self, value: &Value) -> Vec<FieldError> {
        embedded::validate(&self.root, value)
    }

    /// Everything that is wrong with a new object, or with what has changed since `old`.
    ///
    /// What was wrong before and has not changed is tolerated; `old` is the old object as it reads now, pruned and with
    /// defaults. The object's own metadata is not looked at beyond what the schema says.
    pub fn validate(&self, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = self.validate_shape(new, old);
        errors.extend(embedded::validate(&self.root, new));
        errors.extend(self.validate_lists(new, old));
        errors
    }

    /// Everything that is wrong with the status of an object, when only that is written.
    pub fn validate_status(&self, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = match (self.root.property("status"), new.get("status")) {
            (Some(node), Some(status)) => {
                validate::shape(node, status, old.and_then(|old| old.get("status")), Some("status"))
            }
            _ => Vec::new(),
        };
        errors.extend(self.validate_lists(new, old));
        errors
    }

    /// What is wrong with the values themselves: types, ranges, patterns, required fields and so on.
    pub fn validate_shape(&self, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
        validate::shape(&self.root, new, old, None)
    }

    /// What appears twice in lists that are sets or maps, unless the old object had such lists already.
    pub fn validate_lists(&self, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let errors = list_types::duplicates(&self.root, new, &Path::ROOT);
        let tolerated = |old| !list_types::duplicates(&self.root, old, &Path::ROOT).is_empty();
        match old {
            Some(old) if !errors.is_empty() && tolerated(old) => Vec::new(),
            _ => errors,
        }
    }
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
