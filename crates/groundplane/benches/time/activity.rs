//! A page of activities over 1,000,000 records, by every filter, also for what is nowhere.

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
    let memory = server.memory();
    let begun = Instant::now();
    let first = query(&client, &json!({})).await;
    report.time("activities: the first question", begun.elapsed(), Some(FLOOR));
    assert_eq!(first["status"]["results"].as_array().unwrap().len(), 100);
    let uid = first["status"]["results"][7]["spec"]["resource"]["uid"].as_str().unwrap().to_owned();
    let begun = Instant::now();
    let pages = all_pages(&client, &json!({ "actorName": "nobody" })).await;
    report.time(&format!("activities: the whole log read, in {pages} pages"), begun.elapsed(), None);
    for (what, more) in [
        ("the newest 100", json!({})),
        ("one user", json!({ "actorName": "admin" })),
        ("one kind", json!({ "resourceKind": "ConfigMap", "apiGroup": "" })),
        ("one object", json!({ "filter": "spec.resource.name == 'map-000007'" })),
        ("one uid", json!({ "resourceUID": uid })),
        ("one verb", json!({ "verb": "create" })),
        ("one minute long ago", json!({ "startTime": "now-1d", "endTime": "now-12h" })),
        ("words", json!({ "search": "updated map-000007" })),
        ("an expression", json!({ "filter": "spec.summary.contains('map-000007')" })),
        ("nobody", json!({ "actorName": "nobody" })),
        ("no object", json!({ "filter": "spec.resource.name == 'zeppelin'" })),
        ("words that are nowhere", json!({ "search": "zeppelin" })),
        ("an expression that never holds", json!({ "filter": "spec.summary.contains('zeppelin')" })),
        ("a user that no expression finds", json!({ "filter": "spec.actor.name.startsWith('zeppelin')" })),
    ] {
        let mut times = Vec::new();
        for _ in 0..READS {
            let begun = Instant::now();
            query(&client, &more).await;
            times.push(begun.elapsed());
        }
        let begun = Instant::now();
        let pages = all_pages(&client, &more).await;
        report.time(&format!("activities: a page of {what}"), median(times), Some(FLOOR));
        report.time(&format!("activities: until 100 of {what}, in {pages} pages"), begun.elapsed(), None);
    }
    let grown = server.memory().saturating_sub(memory);
    report.line("activities: memory that the server has taken to answer", grown as f64, "MiB", None);
    report.line("activities: memory of the server", server.memory() as f64, "MiB", None);
}

/// Asks for page after page until there are a hundred or no more; how many pages that were.
async fn all_pages(client: &Client, more: &Value) -> usize {
    let mut more = more.clone();
    let (mut pages, mut found) = (0, 0);
    loop {
        let page = query(client, &more).await;
        pages += 1;
        found += page["status"]["results"].as_array().unwrap().len();
        let next = page["status"]["continue"].as_str().unwrap_or_default();
        if next.is_empty() || found >= 100 {
            return pages;
        }
        more["continue"] = next.into();
    }
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
