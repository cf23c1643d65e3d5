//! Events on Ready transitions, for users and the activity log.

use std::time::{SystemTime, UNIX_EPOCH};

use apiserver::client::Client;
use krm::Object;
use serde_json::{Value, json};

use super::status::Transition;

const CONTROLLER: &str = "inventory.miloapis.com/inventory-controller";
const LONGEST_NAME: usize = 253;

/// Emits an Event for a transition, best effort: a failure is logged and ignored.
pub async fn tell(client: &Client, object: &Object, transition: &Transition) {
    if let Some(event) = Object::from_value(event(client, object, transition))
        && let Err(status) = client.create(event).await
    {
        tracing::debug!(object = object.name(), %status, "could not write the event");
    }
}

fn event(client: &Client, object: &Object, transition: &Transition) -> Value {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (kind, name) = (object.kind(), object.name());
    let (outcome, word, weight) = match transition.is_ready {
        true => ("ready", "Ready", "Normal"),
        false => ("not_ready", "NotReady", "Warning"),
    };
    let display = object.at("spec.displayName").and_then(Value::as_str).unwrap_or(name);
    let instance = std::env::var("POD_NAME").unwrap_or_else(|_| "groundplane".to_owned());
    let annotation = |key: &str| format!("inventory.miloapis.com/{key}");
    json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "name": ending(&format!("{name}.{:x}", since.as_nanos())),
            "namespace": std::env::var("INVENTORY_ACTIVITY_NAMESPACE").unwrap_or_else(|_| "default".to_owned()),
            "annotations": {
                (annotation("event-type")): format!("inventory.{}.{outcome}", kind.to_lowercase()),
                (annotation("observed-generation")): object.generation().to_string(),
                (annotation("resource-kind")): kind,
                (annotation("resource-name")): name,
                (annotation("display-name")): display,
                (annotation("condition-reason")): transition.reason,
            },
        },
        "type": weight,
        "reason": word,
        "action": word,
        "note": transition.message,
        "reportingController": CONTROLLER,
        "reportingInstance": instance,
        "eventTime": client.api().now().to_micros(),
        "regarding": {
            "apiVersion": object.api_version(),
            "kind": kind,
            "name": name,
            "uid": object.uid(),
        },
    })
}

/// The last 253 characters of a name.
fn ending(name: &str) -> String {
    let tail = &name[name.len().saturating_sub(LONGEST_NAME)..];
    tail.trim_start_matches(['.', '-']).to_owned()
}
