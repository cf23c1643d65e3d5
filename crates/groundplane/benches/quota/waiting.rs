//! How soon claims that wait are granted once the limit is raised.

use std::time::{Duration, Instant};

use serde_json::json;
use testbed::server::{Client, Server};

use crate::report::Report;
use crate::{GROUNDPLANE, QUOTA, all, grant, inside, make, make_project, meter};

const RESOURCE: &str = "bench.example.com/configmaps";

pub async fn measure(claims: usize, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    make_project(&client, "acme").await;
    meter(&client, RESOURCE, "v1", "ConfigMap", "Wait").await;
    let grants = format!("{QUOTA}/namespaces/milo-system/resourcegrants");
    make(&client, &grants, &grant("first", RESOURCE, 1)).await;
    all(&client, claims + 1, |client: Client, number| async move {
        let map = json!({"metadata": {"name": format!("map-{number}")}});
        make(&client, &inside("/api/v1/namespaces/default/configmaps"), &map).await;
    })
    .await;
    let begun = Instant::now();
    make(&client, &grants, &grant("rest", RESOURCE, claims)).await;
    let buckets = format!("{QUOTA}/namespaces/milo-system/allowancebuckets");
    loop {
        let list = client.get(&buckets).await.unwrap().json();
        let status = &list["items"][0]["status"];
        if status["claimCount"].as_u64() == Some(claims as u64 + 1) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{status}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    report.time(
        &format!("{claims} waiting claims granted after a raise"),
        begun.elapsed(),
        Some(Duration::from_secs(2)),
    );
}
