//! A demo fleet on a server.

use std::time::Duration;

use inventory::demo::{Size, fleet};
use serde_json::{Value, json};
use testbed::server::Client;

/// Where the inventory is served.
pub const ROOT: &str = "/apis/inventory.miloapis.com/v1alpha1";
const TRANSACTIONS: &str = "/apis/groundplane.dev/v1alpha1/transactions";
/// Objects in one transaction.
const TOGETHER: usize = 2_000;

/// A fleet of a size.
pub struct Fleet {
    pub size: Size,
    pub objects: usize,
}

impl Fleet {
    /// About so many objects.
    pub fn of_about(objects: u32) -> Fleet {
        let size = Size::of_about(objects);
        Fleet { size, objects: fleet(size, 1).len() }
    }

    /// Writes it, two thousand objects in a commit.
    pub async fn load(&self, client: &Client) {
        let objects = fleet(self.size, 1);
        for chunk in objects.chunks(TOGETHER) {
            let items: Vec<Value> = chunk
                .iter()
                .map(|object| json!({"operation": "create", "object": Value::Object(object.0.clone())}))
                .collect();
            let body = json!({
                "apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": {"items": items},
            });
            let answer = client.post(TRANSACTIONS, &body).await.unwrap();
            assert_eq!(answer.code, 201, "{}", answer.text());
        }
    }

    /// Waits until the controllers have nothing more to do.
    pub async fn settled(&self, client: &Client) {
        for plural in ["virtualmachines", "cables", "ports"] {
            while !is_ready(client, plural).await {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

/// Whether all objects of a kind are ready. They become so in any order, so all are looked at, a page at a time.
async fn is_ready(client: &Client, plural: &str) -> bool {
    let mut resume = String::new();
    loop {
        let path = format!("{ROOT}/{plural}?limit=5000&continue={resume}");
        let page = client.get(&path).await.unwrap().json();
        let is_ready = |object: &Value| {
            let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
            conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
        };
        if !page["items"].as_array().unwrap().iter().all(is_ready) {
            return false;
        }
        match page["metadata"]["continue"].as_str().filter(|next| !next.is_empty()) {
            Some(next) => resume = next.to_owned(),
            None => return true,
        }
    }
}
