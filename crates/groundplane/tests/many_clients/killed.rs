//! The server is killed while everybody writes and watches: what was acknowledged is there when it is back, and
//! watchers go on where they were.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use testbed::server::{Client, Server};
use tokio::task::JoinSet;

use crate::follower::{Told, listed, version};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const KILLS: usize = 4;
const WRITERS: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_no_change_is_told_twice_or_not_at_all() {
    let folder = tempfile::TempDir::new().unwrap();
    let data = folder.path().join("data");
    let mut server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = server.client();
    let (_, start) = listed(&client, MAPS, 100).await;
    let done = Arc::new(AtomicBool::new(false));
    let mut writing = JoinSet::new();
    for writer in 0..WRITERS {
        let (client, done) = (client.apart(), done.clone());
        writing.spawn(async move { write(&client, writer, &done).await });
    }
    let mut watching = JoinSet::new();
    for _ in 0..8 {
        let client = client.apart();
        watching.spawn(async move { follow(&client, start).await });
    }
    for _ in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(400)).await;
        server.kill();
        server = Server::start_on(GROUNDPLANE, &data, client.address(), &[]).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    done.store(true, Ordering::Relaxed);
    let acknowledged: BTreeMap<String, u64> = writing.join_all().await.into_iter().flatten().collect();
    let client = client.apart();
    assert_eq!(client.post(MAPS, &json!({"metadata": {"name": "the-end"}})).await.unwrap().code, 201);
    eprintln!("{} objects were acknowledged across {KILLS} kills", acknowledged.len());
    assert!(acknowledged.len() > KILLS * WRITERS);

    let (there, _) = listed(&client, MAPS, 500).await;
    for (name, acknowledged) in &acknowledged {
        let found = there.get(name).unwrap_or_else(|| panic!("{name} was acknowledged, and is gone"));
        assert!(version(found) >= *acknowledged, "{name} was acknowledged at {acknowledged}: {found}");
    }
    // Whoever was there all the time, broken connections and all, was told exactly what one who asks now is told.
    let told_now = follow(&client, start).await;
    for told in watching.join_all().await {
        let versions = |told: &[Told]| told.iter().map(|told| told.version).collect::<Vec<_>>();
        assert_eq!(versions(&told), versions(&told_now), "a change was told twice, or not at all");
        assert_eq!(told, told_now);
    }
}

/// Makes objects and changes them once, until it is told to stop; those that were acknowledged, and at which version.
async fn write(client: &Client, writer: usize, done: &AtomicBool) -> Vec<(String, u64)> {
    let mut acknowledged = Vec::new();
    let mut number = 0;
    while !done.load(Ordering::Relaxed) {
        number += 1;
        let name = format!("map-{writer}-{number}");
        let map = json!({"metadata": {"name": name}, "data": {"n": "0"}});
        let Ok(answer) = client.post(MAPS, &map).await else {
            pause().await;
            continue;
        };
        assert_eq!(answer.code, 201, "{}", answer.text());
        acknowledged.push((name.clone(), version(&answer.json())));
        let Ok(answer) = client.merge(&format!("{MAPS}/{name}"), &json!({"data": {"n": "1"}})).await else {
            pause().await;
            continue;
        };
        assert_eq!(answer.code, 200, "{}", answer.text());
        acknowledged.push((name, version(&answer.json())));
    }
    acknowledged
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// Everything that is told from `start` on until the end, whatever happens to the connection.
async fn follow(client: &Client, start: u64) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    loop {
        let last = told.last().map_or(start, |told| told.version);
        let Ok(mut lines) = client.watch(&format!("{MAPS}?watch=1&resourceVersion={last}")).await else {
            pause().await;
            continue;
        };
        assert_eq!(lines.code, 200);
        while let Some(line) = lines.next().await {
            told.extend(Told::read(&line));
            if told.last().is_some_and(|told| told.name == "the-end") {
                return told;
            }
        }
        pause().await;
    }
}
