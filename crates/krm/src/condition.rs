//! Conditions: what is observed of an object, one thing each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::object::Object;

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

/// Something found out about an object, to be told as a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The type of the condition.
    pub kind: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// Why, in a word.
    pub reason: &'static str,
    /// Why, for people.
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
