//! CustomResourceDefinitions: kinds that are declared while the server runs.
//!
//! A definition that is written goes through [`decode`], [`default`] and one of the `prepare_…`, then through one of the
//! `validate_…`. What it then declares is read with [`Definition::parse`]; its names are taken, and its conditions set, by
//! [`accept_names`] and [`establish`].

mod conditions;
mod defaults;
mod definition;
mod field_path;
mod go_text;
mod json_schema;
mod naming;
mod of_kind;
mod schema;
mod shape;
mod spec;
mod validate;
mod warnings;

pub use conditions::{
    Condition, approval_condition, deleting_instances, instances_deleted, instances_not_deleted, is_true,
    non_structural_schema, remove_condition, set_condition, terminating,
};
pub use defaults::{
    CLEANUP_FINALIZER, default, mark_for_deletion, prepare_for_create, prepare_for_status_update,
    prepare_for_update,
};
pub use definition::{Column, Conversion, Definition, Names, Scale, Scope, Version, compare_versions};
pub(crate) use field_path::FieldPath;
pub use json_schema::{Additional, Dependency, Items, JsonSchema, Rule};
pub use naming::{TakenNames, accept_names, establish};
pub use of_kind::of_kind;
pub use shape::{Malformed, SHAPE, decode};
pub use validate::{Approval, approval, validate_create, validate_status_update, validate_update};
pub use warnings::warnings;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod real_definitions;
#[cfg(test)]
mod tests;
