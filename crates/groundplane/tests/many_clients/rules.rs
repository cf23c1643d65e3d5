//! All on one object with rules: between its fields, and between what it was and what it becomes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::server::Client;
use tokio::task::JoinSet;

use crate::CLIENTS;
use crate::dice::Dice;
use crate::ground::Ground;

const GAUGES: &str = "/apis/rules.example.com/v1/namespaces/default/gauges";
const GAUGE: &str = "/apis/rules.example.com/v1/namespaces/default/gauges/one";
/// How often each writes.
const TURNS: usize = 20;

/// Each changes one field without looking at the others. Every state that anybody is told keeps the rules.
pub async fn no_rule_is_ever_broken(ground: &Ground) {
    let admin = ground.client(0);
    define(&admin).await;
    let gauge = json!({
        "apiVersion": "rules.example.com/v1", "kind": "Gauge",
        "metadata": {"name": "one"}, "spec": {"low": 400, "high": 600, "count": 0},
    });
    let made = until(|| admin.post(GAUGES, &gauge), 201).await;
    // The other server hears of the kind a moment later.
    let other = ground.client(1);
    until(|| other.get(GAUGE), 200).await;
    let start = made["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut watching = JoinSet::new();
    for number in 0..4 {
        let (client, start) = (ground.client(number), start.clone());
        watching.spawn(async move { states(&client, &start).await });
    }
    let mut writing = JoinSet::new();
    for number in 0..CLIENTS {
        let client = ground.client(number);
        writing.spawn(async move { write(&client, number).await });
    }
    let refused: usize = writing.join_all().await.into_iter().sum();
    let end = admin.merge(GAUGE, &json!({"metadata": {"labels": {"the": "end"}}})).await.unwrap();
    assert_eq!(end.code, 200, "{}", end.text());
    let told = watching.join_all().await;
    eprintln!("{} states, {refused} writes refused", told[0].len());
    assert!(refused > 0 && told[0].len() > CLIENTS, "nothing was at stake: this shows nothing");
    for states in &told {
        assert_eq!(states, &told[0], "all are told the same");
    }
    let mut before = 0;
    for (low, high, count) in &told[0] {
        assert!(low <= high, "low {low}, high {high}");
        assert!(*count >= before, "from {before} to {count}");
        before = *count;
    }
}

async fn define(client: &Client) {
    let definition: Value = serde_json::from_str(include_str!("../fixtures/gauges.json")).unwrap();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let answer = client.post(path, &definition).await.unwrap();
    assert_eq!(answer.code, 201, "{}", answer.text());
}

/// Asks again until the answer has this code, while a new kind becomes known.
async fn until<F>(ask: impl Fn() -> F, code: u16) -> Value
where
    F: Future<Output = Result<testbed::server::Answer, testbed::server::Failed>>,
{
    let begun = Instant::now();
    loop {
        let answer = ask().await.unwrap();
        if answer.code == code {
            return answer.json();
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{}", answer.text());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// How many of its writes were refused.
async fn write(client: &Client, number: usize) -> usize {
    let mut dice = Dice::of(number);
    let mut refused = 0;
    for _ in 0..TURNS {
        let field = ["low", "high", "count"][dice.below(3) as usize];
        let patch = json!({"spec": {field: dice.below(1_000)}});
        let answer = client.merge(GAUGE, &patch).await.unwrap();
        match answer.code {
            200 | 409 => {}
            422 => {
                let said = answer.text();
                assert!(said.contains("above high") || said.contains("a count never falls"), "{said}");
                refused += 1;
            }
            other => panic!("{other}: {}", answer.text()),
        }
    }
    refused
}

/// Low, high and count of every state until the end.
async fn states(client: &Client, start: &str) -> Vec<(u64, u64, u64)> {
    let mut lines = client.watch(&format!("{GAUGES}?watch=1&resourceVersion={start}")).await.unwrap();
    assert_eq!(lines.code, 200);
    let mut states = Vec::new();
    loop {
        let line = lines.next().await.expect("the stream ended");
        let (object, number) =
            (&line["object"], |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{line}")));
        let spec = &object["spec"];
        states.push((number(&spec["low"]), number(&spec["high"]), number(&spec["count"])));
        if object["metadata"]["labels"]["the"] == "end" {
            return states;
        }
    }
}
