//! A Host as it is stored, with who has set which of its fields.

use fulfillment::kinds::Host;
use krm::Object;
use krm::time::Moment;
use serde::Deserialize;
use serde_json::Value;

use crate::labels;

/// A Host as it is stored.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The host.
    pub host: Host,
    managers: Vec<Manager>,
}

#[derive(Debug, Clone)]
struct Manager {
    name: String,
    time: String,
    fields: Value,
}

impl Stored {
    /// Reads a Host.
    pub fn read(object: &Object) -> Option<Stored> {
        let host = Host::deserialize(&Value::Object(object.0.clone())).ok()?;
        let entries = object.meta("managedFields").and_then(Value::as_array);
        let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        let managers = entries
            .into_iter()
            .flatten()
            .filter(|entry| entry["subresource"].as_str().is_none_or(str::is_empty));
        let managers = managers.map(|entry| Manager {
            name: text(entry, "manager"),
            time: text(entry, "time"),
            fields: entry["fieldsV1"].clone(),
        });
        Some(Stored { managers: managers.collect(), host })
    }

    /// The source that owns it.
    pub fn owner(&self) -> Option<&str> {
        self.host.metadata.labels.get(labels::SOURCE).map(String::as_str)
    }

    /// Its identifier at its source.
    pub fn native_id(&self) -> &str {
        let native = self.host.metadata.annotations.get(labels::NATIVE_ID);
        native.map_or_else(|| self.host.identifier(), String::as_str)
    }

    /// Since when its source has not listed it.
    pub fn missing_since(&self) -> Option<Moment> {
        let since = self.host.metadata.annotations.get(labels::MISSING_SINCE)?;
        Moment::parse(since).ok()
    }

    /// Whether it is in a cluster, or somebody holds it.
    pub fn is_taken(&self) -> bool {
        self.host.cluster().is_some()
            || self.host.status.as_ref().is_some_and(|status| status.claim.is_some())
    }

    /// Who besides `own` has set a field, and when: the last one.
    pub fn set_by_others(&self, path: &str, own: &str) -> Option<(&str, &str)> {
        let owns = |manager: &&Manager| {
            let mut at = &manager.fields;
            for name in path.split('.') {
                let Some(below) = at.get(format!("f:{name}")) else { return false };
                at = below;
            }
            true
        };
        let mut owners: Vec<&Manager> = self.managers.iter().filter(owns).collect();
        if owners.iter().any(|manager| manager.name == own) {
            return None;
        }
        owners.sort_by(|one, other| one.time.cmp(&other.time));
        owners.last().map(|manager| (manager.name.as_str(), manager.time.as_str()))
    }
}
