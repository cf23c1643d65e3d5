//! What the controllers of a server say of themselves.

use std::time::{Duration, Instant};

use serde_json::Value;
use testbed::server::Client;

const CONTROLLERS: &str = "/apis/groundplane.dev/v1alpha1/controllers";
/// How long all queues have to be empty.
const QUIET: Duration = Duration::from_secs(2);

/// How many commits all controllers have made.
pub async fn commits(client: &Client) -> u64 {
    all(client).await.iter().map(|item| number(item, "/status/writes/commits")).sum()
}

/// Waits until no controller has anything to do, whatever users do meanwhile. Gives the time since when.
pub async fn empty(client: &Client) -> Instant {
    let (mut last, mut since) = (0, Instant::now());
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let controllers = all(client).await;
        let waiting: u64 = controllers
            .iter()
            .map(|item| number(item, "/status/queue/ready") + number(item, "/status/queue/working"))
            .sum();
        let attempts = controllers.iter().map(|item| number(item, "/status/attempts/succeeded")).sum();
        if waiting > 0 || attempts != last {
            (last, since) = (attempts, Instant::now());
        } else if since.elapsed() > QUIET {
            return since;
        }
    }
}

async fn all(client: &Client) -> Vec<Value> {
    let list = client.get(CONTROLLERS).await.unwrap().json();
    // What a user of the bench changes keeps the controllers busy that see every object.
    let is_generic = |item: &&Value| item["metadata"]["name"] == "garbage-collector";
    list["items"].as_array().unwrap().iter().filter(|item| !is_generic(item)).cloned().collect()
}

fn number(item: &Value, path: &str) -> u64 {
    item.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}
