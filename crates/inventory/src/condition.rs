//! Status conditions of inventory objects.

use krm::Object;
pub use krm::condition::Condition;
use krm::condition::Pending;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Observation state of an inventory object.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Conditions of the object. `Ready` is True once everything it refers to exists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
}

/// Sets `Ready=False` with reason `Pending` on a new object, until its first reconciliation.
pub fn pending(object: &mut Object, old: Option<&Object>) {
    let (reason, message) = ("Pending", "Waiting for reconciliation");
    Pending { status: "False", reason, message }.begin(object, old);
}
