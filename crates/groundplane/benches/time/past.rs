//! A list of 50,000 objects as of a time since which one in a hundred has changed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::server::Server;

use crate::plans::{commit, items};
use crate::report::{Report, median};
use crate::{Arguments, GROUNDPLANE};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

pub async fn measure(arguments: &Arguments, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    let objects = arguments.scaled(50_000);
    for first in (0..objects).step_by(5_000) {
        commit(&client, items(first, 5_000.min(objects - first))).await;
    }
    let list = client.get(&format!("{MAPS}?limit=1")).await.unwrap().json();
    let revision = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let time = newest_time(&client).await;
    for number in (0..objects).step_by(100) {
        let patch = json!({"data": {"k": "changed"}});
        assert_eq!(client.merge(&format!("{MAPS}/map-{number:06}"), &patch).await.unwrap().code, 200);
    }
    for (what, query, floor) in [
        ("now", String::new(), None),
        ("as of a time", format!("?asOf={time}"), Some(Duration::from_millis(500))),
        ("as of a revision", format!("?asOf={revision}"), Some(Duration::from_millis(500))),
    ] {
        let mut times = Vec::new();
        for _ in 0..5 {
            let begun = Instant::now();
            let answer = client.get(&format!("{MAPS}{query}")).await.unwrap();
            times.push(begun.elapsed());
            assert_eq!(answer.code, 200);
            assert!(query.is_empty() || !answer.text().contains("changed"));
        }
        report.time(&format!("list of 50,000 objects, 1 % changed since: {what}"), median(times), floor);
    }
}

/// The server's time, as its newest change has it, a little later.
async fn newest_time(client: &testbed::server::Client) -> String {
    let map = json!({"metadata": {"name": "the-time"}});
    assert_eq!(client.post(MAPS, &map).await.unwrap().code, 201);
    let history: Value = client.get(&format!("{MAPS}/the-time/history")).await.unwrap().json();
    history["items"][0]["time"].as_str().unwrap().to_owned()
}
