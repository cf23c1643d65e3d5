//! A page of activities over 1,000,000 records: the newest, those of one object, of one user, and words that are nowhere.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::server::{Client, Server};

use crate::report::{Report, median};
use crate::{Arguments, GROUNDPLANE};

const OBJECTS: usize = 50_000;
const AT_ONCE: usize = 5_000;
const READS: usize = 20;
const FLOOR: Duration = Duration::from_millis(100);

pub async fn measure(arguments: &Arguments, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    let rounds = arguments.scaled(1_000_000) / OBJECTS;
    for round in 0..rounds.max(1) {
        for first in (0..OBJECTS).step_by(AT_ONCE) {
            write(&client, round, first).await;
        }
    }
    let begun = Instant::now();
    let first = query(&client, &json!({})).await;
    report.time("activities: the first question, which reads the log", begun.elapsed(), None);
    assert_eq!(first["status"]["results"].as_array().unwrap().len(), 100);
    for (what, more) in [
        ("the newest 100", json!({})),
        ("those of one object", json!({ "filter": "spec.resource.name == 'map-000007'" })),
        ("those of one kind", json!({ "resourceKind": "ConfigMap" })),
        ("those of nobody", json!({ "actorName": "nobody" })),
        ("words that are nowhere", json!({ "search": "zeppelin" })),
        ("an expression that never holds", json!({ "filter": "spec.summary.contains('zeppelin')" })),
    ] {
        let mut times = Vec::new();
        for _ in 0..READS {
            let begun = Instant::now();
            query(&client, &more).await;
            times.push(begun.elapsed());
        }
        report.time(&format!("activities: a page of {what}"), median(times), Some(FLOOR));
    }
    report.line("activities: memory of the server", server.memory() as f64 / 1e6, "MB", None);
}

async fn write(client: &Client, round: usize, first: usize) {
    let items: Vec<Value> = (first..first + AT_ONCE)
        .map(|number| {
            json!({ "operation": "apply", "object": {
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": format!("map-{number:06}"), "namespace": "default" },
                "data": { "k": format!("{round}") },
            } })
        })
        .collect();
    let body = json!({ "spec": { "items": items } });
    let answer = client.post("/apis/groundplane.dev/v1alpha1/transactions", &body).await.unwrap();
    assert_eq!(answer.code, 201, "{}", answer.text());
}

async fn query(client: &Client, more: &Value) -> Value {
    let mut spec = json!({ "startTime": "now-1d", "endTime": "now" });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let body =
        json!({ "apiVersion": "activity.miloapis.com/v1alpha1", "kind": "ActivityQuery", "spec": spec });
    let answer = client.post("/apis/activity.miloapis.com/v1alpha1/activityqueries", &body).await.unwrap();
    assert_eq!(answer.code, 201, "{}", answer.text());
    answer.json()
}
