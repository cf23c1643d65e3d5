//! Inheritance: what a profile or node says, merged over what it inherits, with the origin of every value.
//!
//! Pure functions, one file per rule. A `!` takes away: alone it unsets a scalar, before a name it removes that member.
//! A document without a parent is merged over nothing, so that no effective value holds a marker.

mod chain;
mod dicts;
mod explain;
mod field_path;
mod interfaces;
mod keyed;
mod ledger;
mod lists;
pub(crate) mod machine;
mod refusal;
mod scalars;
mod settings;
mod storage;

pub use chain::{Effective, Profiles};
pub(crate) use chain::{ResolvedBefore, is_same};
pub use explain::{Explanation, explain};
pub(crate) use explain::{differing, explain_with};
pub use ledger::{Change, Ledger, Manner};
pub use refusal::Refusal;
