//! Who owns which field of an object, and server-side apply, which is merging by ownership.
//!
//! What `metadata.managedFields` says is read into sets of fields; each write changes who owns what, and an apply is
//! merged by the type of the object. All of it is pure: times come from outside.
//!
//! A server makes an [`Endpoint`] for where a write came in, and then
//!
//! 1. for an apply: [`Endpoint::apply`], then defaults; for any other write: makes the new object, fills in defaults,
//!    then [`Endpoint::update`];
//! 2. puts back what the endpoint does not reach and what the server alone sets;
//! 3. calls [`keep_times`], and writes nothing if the object is now the one that was there.
//!
//! A write to `scale` is an update of the scale ([`scale_versions`]); [`ReplicasPaths`] carries owners there and back.

mod apply;
mod command_line;
mod compare;
mod conflict;
mod element;
mod endpoint;
mod fields;
mod items;
mod last_applied;
mod managers;
mod merge;
mod names;
mod prune;
mod reconcile;
mod returned;
mod scale;
mod set;
#[cfg(test)]
mod tests;
mod times;
mod types;
mod update;
mod validate;
mod values;

pub use apply::{Applier, ApplyError};
pub use conflict::{Conflict, Conflicts};
pub use element::{Element, FieldPath, MalformedElement};
pub use endpoint::{Endpoint, Origin, Versions};
pub use last_applied::ANNOTATION as LAST_APPLIED_ANNOTATION;
pub use managers::MalformedEntry;
pub use names::manager_of;
pub use scale::{ReplicasPaths, SCALE_VERSION, scale_versions};
pub use set::{FieldSet, MalformedFields};
pub use times::keep_times;
pub use types::Type;
pub use update::Untracked;

/// Objects, schemas and field sets are not looked into deeper than this, so that no input exhausts the stack.
const DEEPEST: usize = 200;
