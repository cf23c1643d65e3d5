//! Merges an observation into an object's status.

use krm::Object;
use serde_json::{Value, json};

use super::observe::{ConditionState, Observation};

/// A change of the Ready condition that is worth an Event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// Whether the object is ready now.
    pub is_ready: bool,
    /// Reason of the condition.
    pub reason: String,
    /// Message of the condition.
    pub message: String,
}

/// The object with its new status, and the transition of Ready if there was one.
pub fn with(object: &Object, observed: &Observation, now: &str) -> (Object, Option<Transition>) {
    let mut new = object.clone();
    let mut status = object.get("status").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut conditions = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let transition = transition(&conditions, &observed.ready);
    conditions.retain(|condition| {
        let kind = condition["type"].as_str().unwrap_or_default();
        // Conditions that apply only sometimes are removed when they no longer apply.
        !matches!(kind, "ServiceResolved" | "PowerWithinRating")
            || observed.conditions.iter().any(|found| found.kind == kind)
    });
    for found in std::iter::once(&observed.ready).chain(&observed.conditions) {
        set(&mut conditions, found, object.generation(), now);
    }
    status.insert("conditions".into(), conditions.into());
    if let Some(phase) = observed.phase {
        status.insert("phase".into(), phase.to_string().into());
    }
    new.set("status", Some(status.into()));
    (new, transition)
}

fn set(conditions: &mut Vec<Value>, found: &ConditionState, generation: i64, now: &str) {
    let status = if found.holds { "True" } else { "False" };
    let at = conditions.iter().position(|condition| condition["type"] == found.kind);
    let since = at.map(|at| &conditions[at]).filter(|old| old["status"] == status);
    let since = since.and_then(|old| old["lastTransitionTime"].as_str()).unwrap_or(now).to_owned();
    let condition = json!({
        "type": found.kind,
        "status": status,
        "observedGeneration": generation,
        "lastTransitionTime": since,
        "reason": found.reason,
        "message": found.message,
    });
    match at {
        Some(at) => conditions[at] = condition,
        None => conditions.push(condition),
    }
}

fn transition(before: &[Value], ready: &ConditionState) -> Option<Transition> {
    let old = before.iter().find(|condition| condition["type"] == "Ready");
    let was_ready = old.is_some_and(|old| old["status"] == "True");
    let is_news = match ready.holds {
        true => !was_ready,
        false => was_ready || old.is_none_or(|old| old["reason"] != ready.reason.as_str()),
    };
    is_news.then(|| Transition {
        is_ready: ready.holds,
        reason: ready.reason.clone(),
        message: ready.message.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(conditions: Value) -> Object {
        let value = json!({"metadata": {"name": "x", "generation": 2}, "status": {"conditions": conditions}});
        Object::from_value(value).unwrap()
    }

    fn observed(ready: ConditionState) -> Observation {
        Observation { ready, conditions: Vec::new(), labels: None, phase: None }
    }

    #[test]
    fn last_transition_time_changes_only_with_the_status_and_each_transition_is_reported_once() {
        let pending = object(json!([{"type": "Ready", "status": "False", "reason": "Pending", "message": "",
            "lastTransitionTime": "1970-01-01T00:00:00Z"}]));
        let missing = observed(ConditionState::fails("Ready", "SiteNotFound", "Site \"s\" not found".into()));
        let (first, told) = with(&pending, &missing, "2026-01-01T00:00:00Z");
        assert_eq!(first.0["status"]["conditions"][0]["lastTransitionTime"], "1970-01-01T00:00:00Z");
        assert!(told.is_some_and(|told| !told.is_ready));
        let (again, told) = with(&first, &missing, "2026-01-01T00:00:01Z");
        assert_eq!((again, told), (first.clone(), None));
        let (ready, told) = with(&first, &observed(ConditionState::accepted("Node")), "2026-01-01T00:00:02Z");
        assert_eq!(ready.0["status"]["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:02Z");
        assert_eq!(told.map(|told| (told.is_ready, told.message)), Some((true, "Node accepted".into())));
    }
}
