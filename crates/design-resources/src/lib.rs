//! Site designs as API resources: documents, designs that compile them, and immutable revisions.
//!
//! The crate `design` compiles and validates, without a server. This crate has the kinds, their queries and their
//! controller.

mod compiled_design;
pub mod controller;
mod kept;
pub mod kinds;
mod module;
pub mod questions;
mod verdict;

pub use compiled_design::CompiledDesign;
pub use kept::revision;
pub use module::Module;

/// All kinds of the group.
pub fn all() -> Vec<krm::kind::Kind> {
    kinds::all()
}
