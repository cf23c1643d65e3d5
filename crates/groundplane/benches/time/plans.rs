//! Planning and applying five thousand objects.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::server::{Client, Server};

use crate::report::Report;
use crate::{Arguments, GROUNDPLANE};

pub async fn measure(arguments: &Arguments, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    let objects = arguments.scaled(5_000);
    let plans = "/apis/groundplane.dev/v1alpha1/plans";
    let floor = Some(Duration::from_secs(2));
    for (name, operation) in [("new", "create"), ("changed", "apply")] {
        let mut items = items(0, objects);
        for item in &mut items {
            item["operation"] = operation.into();
            item["object"]["data"]["k"] = operation.into();
        }
        let plan = json!({"metadata": {"name": name}, "spec": {"items": items, "force": true}});
        let begun = Instant::now();
        let made = client.post(plans, &plan).await.unwrap();
        let planned = begun.elapsed();
        assert_eq!(made.code, 201, "{}", made.text());
        report.time(&format!("plan of 5,000 objects, {name}"), planned, None);
        let begun = Instant::now();
        let applied = client.post(&format!("{plans}/{name}/apply"), &json!({})).await.unwrap();
        let took = begun.elapsed();
        assert_eq!(applied.code, 201, "{}", applied.text());
        report.time(&format!("apply of that plan, {name}"), took, None);
        report.time(&format!("plan and apply of 5,000 objects, {name}"), planned + took, floor);
    }
    let begun = Instant::now();
    commit(&client, items(objects, objects)).await;
    report.time("transaction of 5,000 new objects", begun.elapsed(), None);
}

/// Items that make ConfigMaps of about a kilobyte.
pub fn items(first: usize, many: usize) -> Vec<Value> {
    let filling = "the same in every one ".repeat(40);
    (first..first + many)
        .map(|number| {
            json!({"operation": "create", "object": {
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": format!("map-{number:06}"), "namespace": "default", "labels": {"row": (number % 50).to_string()}},
                "data": {"k": "v", "filling": filling},
            }})
        })
        .collect()
}

/// Commits them all.
pub async fn commit(client: &Client, items: Vec<Value>) {
    let body = json!({"spec": {"items": items}});
    let answer = client.post("/apis/groundplane.dev/v1alpha1/transactions", &body).await.unwrap();
    assert_eq!(answer.code, 201, "{}", answer.text());
}
