//! Conditions: what is observed of an object.

use krm::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One thing that is observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about, such as `Ready`.
    #[serde(rename = "type")]
    #[schemars(length(max = 316))]
    pub kind: String,
    /// Whether it holds.
    #[schemars(extend("enum" = ["True", "False", "Unknown"]))]
    pub status: String,
    /// The generation of the object that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// When `status` changed last.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// Why, in a word.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"))]
    pub reason: String,
    /// Why, for people.
    #[schemars(length(max = 32768))]
    pub message: String,
}

/// What is observed of most kinds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Everything that was looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
}

/// A new object is not ready until it has been looked at.
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
