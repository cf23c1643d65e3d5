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
        let generation = object.generation();
        let status = object.0.entry("status").or_insert_with(|| json!({}));
        if !status.is_object() {
            *status = json!({});
        }
        if !status["conditions"].is_array() {
            status["conditions"] = json!([]);
        }
        let Some(conditions) = status["conditions"].as_array_mut() else { return };
        let condition = self.after(conditions, Some(generation), now);
        match conditions.iter_mut().find(|condition| condition["type"] == self.kind) {
            Some(told) => *told = condition,
            None => conditions.push(condition),
        }
    }

    /// It as a condition, after these: the time of the last transition stays while the status does.
    pub fn after(&self, before: &[Value], generation: Option<i64>, now: &str) -> Value {
        let told = before.iter().find(|condition| condition["type"] == self.kind);
        let same = told.filter(|condition| condition["status"] == self.status());
        let since = same.and_then(|condition| condition["lastTransitionTime"].as_str()).unwrap_or(now);
        condition(self.kind, self.status(), self.reason, &self.message, generation, since)
    }

    /// Whether it is news for readers of an object: the status changes, or it still fails and for another reason.
    pub fn is_news_of(&self, object: &Object) -> bool {
        let told = find(object, self.kind);
        let held = told.is_some_and(|told| told["status"] == "True");
        match self.holds {
            true => !held,
            false => held || told.is_none_or(|told| told["reason"] != self.reason),
        }
    }

    fn status(&self) -> &'static str {
        if self.holds { "True" } else { "False" }
    }
}

/// A condition of an object, by its type.
pub fn find<'a>(object: &'a Object, kind: &str) -> Option<&'a Value> {
    let conditions = object.at("status.conditions")?.as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind)
}

/// Takes back a condition that no longer applies to an object.
pub fn withdraw(object: &mut Object, kind: &str) {
    let status = object.0.get_mut("status").and_then(Value::as_object_mut);
    let conditions = status.and_then(|status| status.get_mut("conditions")).and_then(Value::as_array_mut);
    if let Some(conditions) = conditions {
        conditions.retain(|condition| condition["type"] != kind);
    }
}

/// What a new object says of `Ready` until a controller has looked at it.
#[derive(Debug, Clone, Copy)]
pub struct Pending {
    /// `False` or `Unknown`.
    pub status: &'static str,
    /// Machine-readable reason.
    pub reason: &'static str,
    /// Human-readable details.
    pub message: &'static str,
}

impl Pending {
    /// Gives a new object its first status, and one back to an object that has none.
    pub fn begin(&self, object: &mut Object, old: Option<&Object>) {
        if old.is_none() || object.get("status").is_none_or(Value::is_null) {
            let ready =
                condition("Ready", self.status, self.reason, self.message, None, "1970-01-01T00:00:00Z");
            object.set("status", Some(json!({ "conditions": [ready] })));
        }
    }
}

fn condition(
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    generation: Option<i64>,
    since: &str,
) -> Value {
    let mut condition = json!({
        "type": kind,
        "status": status,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    });
    if let Some(generation) = generation {
        condition["observedGeneration"] = generation.into();
    }
    condition
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

    #[test]
    fn a_change_of_the_status_is_news_and_so_is_another_reason_to_fail() {
        let mut object = Object::from_value(json!({ "metadata": { "generation": 2 } })).unwrap();
        Pending { status: "False", reason: "Pending", message: "" }.begin(&mut object, None);
        let missing = Finding::fails("Ready", "SiteNotFound", "Site \"s\" not found");
        assert!(missing.is_news_of(&object));
        missing.tell(&mut object, "2026-01-01T00:00:00Z");
        assert_eq!(find(&object, "Ready").unwrap()["lastTransitionTime"], "1970-01-01T00:00:00Z");
        assert!(!missing.is_news_of(&object));
        let ready = Finding::holds("Ready", "Accepted", "Node accepted");
        assert!(ready.is_news_of(&object));
        ready.tell(&mut object, "2026-01-01T00:00:02Z");
        assert_eq!(find(&object, "Ready").unwrap()["lastTransitionTime"], "2026-01-01T00:00:02Z");
        assert!(!ready.is_news_of(&object));
        withdraw(&mut object, "Ready");
        assert_eq!(find(&object, "Ready"), None);
    }
}
