//! A demo fleet on a server.

use std::time::{Duration, Instant};

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

    /// How many racks it has.
    pub fn racks(&self) -> u32 {
        self.size.sites * (self.size.racks + 1)
    }

    /// Writes it.
    pub async fn load(&self, client: &Client) {
        let objects = fleet(self.size, 1).into_iter().map(|object| object.into_value());
        write(client, objects.collect()).await;
    }

    /// Adds racks with a few hosts to the first site, until there are so many.
    pub async fn fill_up_to(&self, racks: u32, client: &Client) {
        let mut objects = Vec::new();
        for number in self.racks()..racks {
            let rack = format!("fra1-store{number}");
            let feed = |name: &str| json!({"name": name, "voltage": 230, "ampsRated": 32});
            let spec = json!({
                "siteRef": {"name": "fra1"}, "heightU": 42, "row": format!("S{}", number / 20),
                "powerFeeds": [feed("A"), feed("B")],
            });
            objects.push(object("Rack", &rack, spec));
            for host in 0..1 + number % 4 {
                let placement =
                    json!({"rackRef": {"name": rack}, "startUnit": 1 + host * 9, "unitHeight": 2});
                let spec = json!({
                    "siteRef": {"name": "fra1"}, "placement": placement, "drawnWatts": 600,
                    "hardware": {"cpuCores": 32, "cpuArchitecture": "amd64", "memoryBytes": 1_i64 << 38},
                });
                objects.push(object("Node", &format!("{rack}-host{host}"), spec));
            }
        }
        write(client, objects).await;
    }
}

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": "inventory.miloapis.com/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// Two thousand objects in a commit.
async fn write(client: &Client, objects: Vec<Value>) {
    for chunk in objects.chunks(TOGETHER) {
        let items: Vec<Value> =
            chunk.iter().map(|object| json!({"operation": "create", "object": object})).collect();
        let body = json!({
            "apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": {"items": items},
        });
        let answer = client.post(TRANSACTIONS, &body).await.unwrap();
        assert_eq!(answer.code, 201, "{}", answer.text());
    }
}

/// Waits until the controllers have nothing more to do: nothing is written for a while, and all are ready. Gives the time of
/// the last write.
pub async fn settled(client: &Client) -> Instant {
    let (mut last, mut since) = (revision(client).await, Instant::now());
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = revision(client).await;
        if now != last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() > Duration::from_secs(2) {
            if all_ready(client).await {
                return since;
            }
            since = Instant::now();
        }
    }
}

/// The number of the newest commit.
pub async fn revision(client: &Client) -> u64 {
    let list = client.get(&format!("{ROOT}/regions?limit=1")).await.unwrap().json();
    list["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() / 65_536
}

async fn all_ready(client: &Client) -> bool {
    for plural in ["virtualmachines", "cables", "ports"] {
        if !is_ready(client, plural).await {
            return false;
        }
    }
    true
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
