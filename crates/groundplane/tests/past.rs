//! What was can be seen, brought back and proved: stories of history, transactions and plans with the real binary.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "past/backed_up.rs"]
mod backed_up;
#[path = "past/brought_back.rs"]
mod brought_back;
#[path = "past/killed.rs"]
mod killed;
#[path = "past/marker.rs"]
mod marker;
#[path = "past/restore_guide.rs"]
mod restore_guide;
#[path = "past/restored_wrongly.rs"]
mod restored_wrongly;
#[path = "past/rolled_back.rs"]
mod rolled_back;
#[path = "past/tampered.rs"]
mod tampered;
#[path = "past/told.rs"]
mod told;

use serde_json::{Value, json};
use testbed::server::{Answer, Client};

/// The binary.
pub const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
/// Where ConfigMaps of the default namespace are.
pub const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const TRANSACTIONS: &str = "/apis/groundplane.dev/v1alpha1/transactions";

/// A ConfigMap.
pub fn map(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": {"k": value},
    })
}

/// One item of a transaction.
pub fn item(operation: &str, object: &Value) -> Value {
    json!({"operation": operation, "object": object})
}

/// Commits a transaction.
pub async fn commit(client: &Client, query: &str, spec: &Value) -> Answer {
    client.post(&format!("{TRANSACTIONS}{query}"), &json!({"spec": spec})).await.unwrap()
}
