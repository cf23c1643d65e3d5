//! The server is killed while it commits five thousand objects at once: all of them are there, or none.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::server::Server;

use crate::{GROUNDPLANE, MAPS, commit, item, map};

const OBJECTS: usize = 5_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_objects_are_there_or_none_of_them() {
    let folder = tempfile::TempDir::new().unwrap();
    let data = folder.path().join("data");
    let mut server = Server::start(GROUNDPLANE, &data, &["--audit-log", "none"]).unwrap();
    let items = |round: usize| -> Vec<Value> {
        (0..OBJECTS).map(|number| item("create", &map(&format!("r{round}-{number}"), "v"))).collect()
    };
    let begun = Instant::now();
    let whole = commit(&server.client(), "", &json!({"items": items(0)})).await;
    assert_eq!(whole.code, 201, "{}", whole.text());
    let took = begun.elapsed();
    let (mut there, mut gone) = (0, 0);
    // Killed at moments spread over the time that one takes.
    for round in 1..=8_u32 {
        let client = server.client();
        let body = json!({"items": items(round as usize)});
        let sending = tokio::spawn(async move { commit_or_not(&client, &body).await });
        tokio::time::sleep(took.mul_f64(f64::from(round) / 8.0) + Duration::from_millis(3)).await;
        server.kill();
        let acknowledged = sending.await.unwrap();
        server = Server::start(GROUNDPLANE, &data, &["--audit-log", "none"]).unwrap();
        let list = server.client().get(MAPS).await.unwrap().json();
        let prefix = format!("r{round}-");
        let names =
            list["items"].as_array().unwrap().iter().filter_map(|map| map["metadata"]["name"].as_str());
        let found = names.filter(|name| name.starts_with(&prefix)).count();
        assert!(found == 0 || found == OBJECTS, "{found} of {OBJECTS} objects in round {round}");
        assert!(!acknowledged || found == OBJECTS, "what was acknowledged is there");
        if found == 0 { gone += 1 } else { there += 1 }
    }
    eprintln!("killed eight times: {there} transactions were there, {gone} were not; one takes {took:?}");
}

async fn commit_or_not(client: &testbed::server::Client, spec: &Value) -> bool {
    let body = json!({ "spec": spec });
    let sent = client.post("/apis/groundplane.dev/v1alpha1/transactions", &body).await;
    sent.is_ok_and(|answer| answer.code == 201)
}
