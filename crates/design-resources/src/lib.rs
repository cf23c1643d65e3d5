//! Site design as resources: documents that can be asked field by field, designs made of them, and revisions to go back to.
//!
//! What a design means is `design`'s affair, which knows no server. Here are the kinds, what may be asked of them, and who
//! looks after them.

pub mod controller;
mod drawn;
pub mod kinds;
pub mod questions;
mod verdict;

pub use drawn::Drawn;

/// All kinds of the group.
pub fn all() -> Vec<krm::kind::Kind> {
    kinds::all()
}
