//! Events on Ready transitions, for users and the activity log.

use std::collections::BTreeMap;

use krm::Object;
use krm::condition::Finding;
use reconcile::plan::Event;
use serde_json::Value;

/// The Event for a change of `Ready`.
pub fn of(object: &Object, ready: &Finding) -> Event {
    let (kind, name) = (object.kind(), object.name());
    let (outcome, word) = if ready.holds { ("ready", "Ready") } else { ("not_ready", "NotReady") };
    let display = object.at("spec.displayName").and_then(Value::as_str).unwrap_or(name);
    let annotations = [
        ("event-type", format!("inventory.{}.{outcome}", kind.to_lowercase())),
        ("observed-generation", object.generation().to_string()),
        ("resource-kind", kind.to_owned()),
        ("resource-name", name.to_owned()),
        ("display-name", display.to_owned()),
        ("condition-reason", ready.reason.to_owned()),
    ];
    let annotation = |(key, value)| (format!("inventory.miloapis.com/{key}"), value);
    Event {
        is_warning: !ready.holds,
        reason: word.to_owned(),
        note: ready.message.clone(),
        annotations: annotations.into_iter().map(annotation).collect::<BTreeMap<_, _>>(),
    }
}
