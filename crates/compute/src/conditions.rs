//! Conditions as these controllers write them: also `Unknown`, and with reasons that come from elsewhere.

use krm::Object;
use serde_json::{Value, json};

/// A condition to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionUpdate {
    /// Type of the condition.
    pub kind: &'static str,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// Machine-readable reason.
    pub reason: String,
    /// Details for people.
    pub message: String,
}

impl ConditionUpdate {
    /// It is so.
    pub fn yes(kind: &'static str, reason: &str, message: impl Into<String>) -> ConditionUpdate {
        ConditionUpdate { kind, status: "True", reason: reason.to_owned(), message: message.into() }
    }

    /// It is not so.
    pub fn no(kind: &'static str, reason: &str, message: impl Into<String>) -> ConditionUpdate {
        ConditionUpdate { kind, status: "False", reason: reason.to_owned(), message: message.into() }
    }

    /// Nobody knows yet.
    pub fn unknown(kind: &'static str, reason: &str, message: impl Into<String>) -> ConditionUpdate {
        ConditionUpdate { kind, status: "Unknown", reason: reason.to_owned(), message: message.into() }
    }

    /// Whether it is `True`.
    pub fn holds(&self) -> bool {
        self.status == "True"
    }

    /// Writes it among conditions. The time of the last transition stays while the status does.
    pub fn tell(&self, conditions: &mut Vec<Value>, generation: i64, now: &str) {
        let before = conditions.iter().position(|condition| condition["type"] == self.kind);
        let since = before.map(|at| &conditions[at]).filter(|told| told["status"] == self.status);
        let since = since.and_then(|told| told["lastTransitionTime"].as_str()).unwrap_or(now);
        let condition = json!({
            "type": self.kind,
            "status": self.status,
            "observedGeneration": generation,
            "lastTransitionTime": since,
            "reason": self.reason,
            "message": self.message,
        });
        match before {
            Some(at) => conditions[at] = condition,
            None => conditions.push(condition),
        }
    }

    /// Writes it into the status of an object.
    pub fn tell_of(&self, object: &mut Object, now: &str) {
        let generation = object.generation();
        let status = object.0.entry("status").or_insert_with(|| json!({}));
        let mut conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        self.tell(&mut conditions, generation, now);
        status["conditions"] = json!(conditions);
    }
}

/// A condition of an object as it is; nothing if it has none of this type.
pub fn find<'a>(conditions: &'a [Value], kind: &str) -> Option<ConditionView<'a>> {
    conditions.iter().find(|condition| condition["type"] == kind).map(|condition| ConditionView {
        status: condition["status"].as_str().unwrap_or_default(),
        reason: condition["reason"].as_str().unwrap_or_default(),
        message: condition["message"].as_str().unwrap_or_default(),
    })
}

/// The conditions of an object.
pub fn of(object: &Object) -> &[Value] {
    object.at("status.conditions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether a condition of an object is `True`.
pub fn holds(object: &Object, kind: &str) -> bool {
    find(of(object), kind).is_some_and(|found| found.is_true())
}

/// A condition as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConditionView<'a> {
    /// `True`, `False` or `Unknown`.
    pub status: &'a str,
    /// Machine-readable reason.
    pub reason: &'a str,
    /// Details for people.
    pub message: &'a str,
}

impl ConditionView<'_> {
    /// Whether it is `True`.
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }
}
