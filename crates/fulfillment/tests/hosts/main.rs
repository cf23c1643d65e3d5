//! Hosts through the API: their claims under concurrency, their sealed credentials, and their join with the inventory.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "../../../apiserver/tests/shelves/objects.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod objects;
#[path = "../../../apiserver/tests/shelves/server.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod server;

mod claimed;
mod declared;
mod joined;
mod sealed;

use serde_json::{Value, json};

/// The kinds that the servers of these tests serve.
mod served {
    pub fn all() -> Vec<krm::kind::Kind> {
        let mut kinds = fulfillment::all();
        kinds.extend(inventory::all());
        kinds
    }
}

/// Where the objects of a fulfillment kind are.
fn of(plural: &str) -> String {
    format!("/apis/fulfillment.groundplane.dev/v1alpha1/{plural}")
}

/// Where the objects of an inventory kind are.
fn inventory_of(plural: &str) -> String {
    format!("/apis/inventory.miloapis.com/v1alpha1/{plural}")
}

/// An object of a fulfillment kind, with these fields beside its name.
fn object(kind: &str, name: &str, fields: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": kind, "metadata": {"name": name},
    });
    for (field, value) in fields.as_object().unwrap() {
        object[field] = value.clone();
    }
    object
}

fn host(name: &str, spec: &Value) -> Value {
    object("Host", name, &json!({"spec": spec}))
}
