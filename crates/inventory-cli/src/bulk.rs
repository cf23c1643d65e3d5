//! Export of the inventory as YAML or CSV, and import as one transaction.

pub mod desired;
pub mod export;
pub mod import;
mod netbox;
mod parts;
mod ports;
mod source;
pub mod transact;

use serde_json::{Map, Value};

/// All kinds in dependency order.
pub const ORDER: [&str; inventory::kinds::ORDER.len()] = {
    let (mut names, mut at) = ([""; inventory::kinds::ORDER.len()], 0);
    while at < names.len() {
        names[at] = inventory::kinds::ORDER[at].0;
        at += 1;
    }
    names
};

/// An object as a user would write it: without the fields that the server and the controllers set.
pub fn as_written(object: &Value) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".into(), object["metadata"]["name"].clone());
    for (field, kept) in [("labels", is_own_label as fn(&str) -> bool), ("annotations", is_own_annotation)] {
        let own: Map<String, Value> = object["metadata"][field]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| kept(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if !own.is_empty() {
            metadata.insert(field.into(), Value::Object(own));
        }
    }
    let mut written = Map::new();
    written.insert("apiVersion".into(), object["apiVersion"].clone());
    written.insert("kind".into(), object["kind"].clone());
    written.insert("metadata".into(), Value::Object(metadata));
    written.insert("spec".into(), object["spec"].clone());
    Value::Object(written)
}

fn is_own_label(key: &str) -> bool {
    !inventory::topology::ALL.contains(&key)
}

fn is_own_annotation(key: &str) -> bool {
    key != "kubectl.kubernetes.io/last-applied-configuration"
}

/// Whether an object refers to others of its own kind, so that it must come after them.
pub fn refers_to_own_kind(object: &Value) -> bool {
    let spec = &object["spec"];
    ["passThrough", "inSlot"].iter().any(|field| !spec[field].is_null())
        || !spec["power"]["inletRef"].is_null()
}
