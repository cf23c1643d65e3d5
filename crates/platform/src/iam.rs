//! Who may do what: roles of permissions, and the policies that bind them to people and resources.
//!
//! Roles, users and bindings are followed as they change and kept as an index, so that a decision looks up a few texts
//! however many there are. RBAC stands beside: what either allows is allowed.

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
