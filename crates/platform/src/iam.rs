//! Identity and access management: roles are sets of permissions, and policy bindings grant them to subjects
//! on resources.
//!
//! Roles, users and bindings are watched and indexed, so that the cost of a decision does not depend on their
//! number. RBAC is evaluated as well: a request is allowed if either allows it.

pub mod authorizer;
mod complete;
pub mod controller;
pub mod defined;
pub mod defined_controller;
pub mod directory;
mod escalation;
mod explain;
pub mod former;
mod generated_key;
pub mod index;
pub mod kinds;
pub mod machine_keys;
pub mod permission;
pub mod policies;
pub mod roles;
pub mod selector;
pub mod shipped;
pub mod sign_in;

#[cfg(test)]
mod tests;

pub use authorizer::Iam;
pub use kinds::{GROUP, VERSION, all};
