//! The controllers of workloads: from placements to deployments, from deployments to instances, and what instances wait for.

pub mod deployment;
pub mod instance;
pub(crate) mod network;
pub mod workload;

use krm::Object;
use serde_json::Value;

/// A text of an object; empty if it has none there.
fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

/// A reference of an owner that manages what it owns.
fn owner_reference(owner: &Object) -> Value {
    serde_json::json!({
        "apiVersion": owner.api_version(), "kind": owner.kind(), "name": owner.name(), "uid": owner.uid(),
        "controller": true, "blockOwnerDeletion": true,
    })
}
