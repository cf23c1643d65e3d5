//! The kinds of the group `example.groundplane.dev`. Each is one file.

pub mod book;
pub mod loan;
pub mod shelf;

use krm::kind::{Kind, Resource};

/// The group they are in.
pub const GROUP: &str = "example.groundplane.dev";
/// The version they are at.
pub const VERSION: &str = "v1alpha1";

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![shelf::Shelf::kind(), book::Book::kind(), loan::Loan::kind()]
}
