//! Conditions: what controllers observed of an object, one aspect each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::object::Object;

/// One observed aspect of an object's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Type of the condition in CamelCase, such as `Ready`. An object has at most one condition of each type.
    #[serde(rename = "type")]
    #[schemars(length(max = 316))]
    pub kind: String,
    /// Status of the condition: `True`, `False` or `Unknown`.
    #[schemars(extend("enum" = ["True", "False", "Unknown"]))]
    pub status: String,
    /// The `metadata.generation` that the condition was determined for. The condition is out of date while
    /// this is less than the object's current generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// Time at which `status` last changed, in RFC 3339 format.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// Machine-readable reason for the last transition, in CamelCase, such as `RoleNotFound`. Must not be
    /// empty.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"))]
    pub reason: String,
    /// Human-readable details of the last transition. May be empty.
    #[schemars(length(max = 32768))]
    pub message: String,
}

/// What a controller found out about an object, to be written as a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The type of the condition.
    pub kind: &'static str,
    /// Whether the condition's status is `True`.
    pub holds: bool,
    /// Machine-readable reason, in CamelCase.
    pub reason: &'static str,
    /// Human-readable details.
    pub message: String,
}

impl Finding {
    /// It holds.
    pub fn holds(kind: &'static str, reason: &'static str, message: impl Into<String>) -> Finding {
        Finding { kind, holds: true, reason, message: message.into() }
    }

    /// It does not hold.
    pub fn fails(kind: &'static str, reason: &'static str, message: impl Into<String>) -> Finding {
        Finding { kind, holds: false, reason, message: message.into() }
    }

    /// Writes it among the conditions of an object. The time of the last transition stays while the status does.
    pub fn tell(&self, object: &mut Object, now: &str) {
        let mut status = object.get("status").and_then(Value::as_object).cloned().unwrap_or_default();
        let mut conditions = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
        let says = if self.holds { "True" } else { "False" };
        let at = conditions.iter().position(|condition| condition["type"] == self.kind);
        let since = at.map(|at| &conditions[at]).filter(|old| old["status"] == says);
        let since = since.and_then(|old| old["lastTransitionTime"].as_str()).unwrap_or(now).to_owned();
        let condition = json!({
            "type": self.kind,
            "status": says,
            "observedGeneration": object.generation(),
            "lastTransitionTime": since,
            "reason": self.reason,
            "message": self.message,
        });
        match at {
            Some(at) => conditions[at] = condition,
            None => conditions.push(condition),
        }
        status.insert("conditions".into(), conditions.into());
        object.set("status", Some(status.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_transition_is_that_of_the_last_change() {
        let mut object = Object::from_value(json!({ "metadata": { "generation": 2 } })).unwrap();
        let ready = Finding::holds("Ready", "Ready", "all is well");
        ready.tell(&mut object, "2026-01-01T00:00:00Z");
        Finding::holds("Ready", "Ready", "still").tell(&mut object, "2026-01-02T00:00:00Z");
        let told = |object: &Object| object.at("status.conditions").unwrap().as_array().unwrap()[0].clone();
        assert_eq!(told(&object)["lastTransitionTime"], "2026-01-01T00:00:00Z");
        assert_eq!(told(&object)["message"], "still");
        assert_eq!(told(&object)["observedGeneration"], 2);
        Finding::fails("Ready", "Gone", "no longer").tell(&mut object, "2026-01-03T00:00:00Z");
        assert_eq!(told(&object)["lastTransitionTime"], "2026-01-03T00:00:00Z");
        assert_eq!(object.at("status.conditions").unwrap().as_array().unwrap().len(), 1);
    }
}
