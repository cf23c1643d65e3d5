//! Status conditions of inventory objects.

use krm::Object;
pub use krm::condition::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
    if old.is_none() || object.get("status").is_none_or(Value::is_null) {
        object.set(
            "status",
            Some(json!({ "conditions": [{
            "type": "Ready",
            "status": "False",
            "reason": "Pending",
            "message": "Waiting for reconciliation",
            "lastTransitionTime": "1970-01-01T00:00:00Z",
        }] })),
        );
    }
}
