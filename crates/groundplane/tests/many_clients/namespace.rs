//! All against a namespace that is being deleted: a rule over many objects that no single write can break.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use crate::CLIENTS;
use crate::ground::Ground;

/// All make objects in a namespace while it goes. Some come in time, none comes too late, and nothing is left behind.
pub async fn nothing_is_left_in_a_namespace_that_went(ground: &Ground) {
    for round in 0..3 {
        let namespace = format!("going-{round}");
        let admin = ground.client(0);
        let made = admin.post("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await.unwrap();
        assert_eq!(made.code, 201);
        let mut making = JoinSet::new();
        for number in 0..CLIENTS {
            let (client, path) =
                (ground.client(number), format!("/api/v1/namespaces/{namespace}/configmaps"));
            making.spawn(async move {
                let (mut made, mut refused) = (0, 0);
                for turn in 0..20 {
                    let map = json!({"metadata": {"name": format!("map-{number}-{turn}")}});
                    let answer = client.post(&path, &map).await.unwrap();
                    match answer.code {
                        201 => made += 1,
                        403 if answer.text().contains("because it is being terminated") => refused += 1,
                        404 if answer.text().contains("namespaces") => refused += 1,
                        other => panic!("{other}: {}", answer.text()),
                    }
                }
                (made, refused)
            });
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
        let path = format!("/api/v1/namespaces/{namespace}");
        assert_eq!(ground.client(1).delete(&path).await.unwrap().code, 200);
        let counts = making.join_all().await;
        let (made, refused) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        eprintln!("{made} came in time, {refused} did not");
        assert!(refused > 0, "the namespace went after all was done: this shows nothing");
        let begun = Instant::now();
        while admin.get(&path).await.unwrap().code != 404 {
            assert!(begun.elapsed() < Duration::from_secs(30), "the namespace does not go");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for number in 0..2 {
            let left = ground.client(number).get("/api/v1/configmaps").await.unwrap().json();
            let left: Vec<_> =
                left["items"].as_array().unwrap().iter().map(|item| &item["metadata"]).collect();
            assert!(left.iter().all(|meta| meta["namespace"] != namespace.as_str()), "{left:?}");
        }
    }
}
