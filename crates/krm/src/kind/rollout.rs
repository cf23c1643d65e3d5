//! Rollouts: kinds whose changes are rolled out, and told as a history of revisions.

use crate::object::Object;

/// How the changes of a kind are told as a history of rollouts. Each change of the specification is a revision, whose number
/// is the generation of the object.
#[derive(Debug, Clone, Copy)]
pub struct Rollout {
    /// Hash of what is rolled out, of an object: revisions with the same hash roll out the same.
    pub hash: fn(&Object) -> Option<String>,
    /// Short name of what is rolled out, such as an image.
    pub image: fn(&Object) -> String,
    /// What changed between two states, for people. Of a new object, there is no earlier one.
    pub describe: fn(Option<&Object>, &Object) -> String,
}
