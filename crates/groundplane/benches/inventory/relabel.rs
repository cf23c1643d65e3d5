//! How long it takes until everything below a site has the site's new type, and how much is written for it.

use std::time::{Duration, Instant};

use serde_json::json;
use testbed::server::Client;

use crate::fleet::{Fleet, ROOT, revision};
use crate::report::Report;

const LABEL: &str = "topology.inventory.miloapis.com/site-type";

pub async fn measure(fleet: &Fleet, client: &Client, report: &mut Report) {
    let of_site = "topology.inventory.miloapis.com/site=fra1";
    let plurals = ["racks", "clusters", "nodes", "networkdevices", "virtualmachines", "ports"];
    let mut below = 0;
    for plural in plurals {
        below += count(client, plural, of_site).await;
    }
    let before = revision(client).await;
    let begun = Instant::now();
    let change = json!({"spec": {"type": "Edge"}});
    assert_eq!(client.merge(&format!("{ROOT}/sites/fra1"), &change).await.unwrap().code, 200);
    for plural in plurals {
        while has_any(client, plural, &format!("{of_site},{LABEL}!=Edge")).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let took = begun.elapsed();
    let commits = revision(client).await - before;
    report.line("objects below the site that changes", below as f64, "", None);
    report.time("until all of them have its new label", took, None);
    report.line("for each of them", took.as_secs_f64() * 1e6 / below.max(1) as f64, "µs", None);
    report.line("commits for each of them", commits as f64 / below.max(1) as f64, "", Some(1.2));
    let share = below as f64 / fleet.objects as f64 * 100.0;
    report.line("which is this share of all objects", share, "%", None);
}

async fn count(client: &Client, plural: &str, selector: &str) -> u64 {
    // In one page: how many are left after one is not told where a selector chooses.
    let path = format!("{ROOT}/{plural}?labelSelector={}", selector.replace('!', "%21"));
    let list = client.get(&path).await.unwrap().json();
    list["items"].as_array().map_or(0, Vec::len) as u64
}

async fn has_any(client: &Client, plural: &str, selector: &str) -> bool {
    let path = format!("{ROOT}/{plural}?limit=1&labelSelector={}", selector.replace('!', "%21"));
    let list = client.get(&path).await.unwrap().json();
    list["items"].as_array().is_some_and(|items| !items.is_empty())
}
