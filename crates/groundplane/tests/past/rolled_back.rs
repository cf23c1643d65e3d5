//! A store that is older than what was kept of it, that is gone or empty: the server says so and does not start.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use testbed::server::Server;

use crate::{GROUNDPLANE, MAPS, map};

const VERIFICATIONS: &str = "/apis/groundplane.dev/v1alpha1/verifications";

/// Waits until another checkpoint is kept than the one before.
async fn next_checkpoint(file: &Path, before: &[u8]) -> Vec<u8> {
    for _ in 0..1200 {
        let kept = std::fs::read(file).unwrap_or_default();
        if !kept.is_empty() && kept != before {
            return kept;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no checkpoint was kept in {}", file.display());
}

fn refusal(data: &Path) -> String {
    match Server::start(GROUNDPLANE, data, &["--audit-log", "none"]) {
        Ok(_) => panic!("the server started"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_rollback_is_noticed_at_start_and_data_that_is_gone_too() {
    let folder = tempfile::TempDir::new().unwrap();
    let data = folder.path().join("data");
    let (file, kept) = (data.join("store/store.redb"), data.join("checkpoint.json"));
    let old = folder.path().join("old.redb");
    let server = Server::start(GROUNDPLANE, &data, &["--audit-log", "none"]).unwrap();
    server.client().post(MAPS, &map("a", "0")).await.unwrap();
    let first = next_checkpoint(&kept, b"").await;
    assert!(server.stop().unwrap().success());
    std::fs::copy(&file, &old).unwrap();

    let server = Server::start(GROUNDPLANE, &data, &["--audit-log", "none"]).unwrap();
    server.client().post(MAPS, &map("b", "0")).await.unwrap();
    next_checkpoint(&kept, &first).await;
    // What is proven, and what is not, is said.
    let report = server.client().post(VERIFICATIONS, &json!({})).await.unwrap().json();
    assert_eq!(report["status"]["verified"], true, "{report}");
    let unproven = report["status"]["unproven"].as_array().unwrap();
    assert!(
        unproven.iter().all(|what| what.as_str().unwrap().contains("not covered by a checkpoint yet")),
        "{report}"
    );
    assert!(server.stop().unwrap().success());
    let new = std::fs::read(&file).unwrap();

    std::fs::copy(&old, &file).unwrap();
    let said = refusal(&data);
    assert!(said.contains("is not in the history") && said.contains("checkpoint.json"), "{said}");
    std::fs::remove_file(&file).unwrap();
    let said = refusal(&data);
    assert!(said.contains("store.redb is missing"), "{said}");
    assert!(!file.exists(), "nothing is made in its place");
    std::fs::write(&file, b"").unwrap();
    let said = refusal(&data);
    assert!(said.contains("store.redb is empty"), "{said}");

    std::fs::write(&file, new).unwrap();
    let server = Server::start(GROUNDPLANE, &data, &["--audit-log", "none"]).unwrap();
    assert_eq!(server.client().get(&format!("{MAPS}/b")).await.unwrap().code, 200);
    drop(server);
    // Whoever means to go back says so.
    std::fs::copy(&old, &file).unwrap();
    std::fs::remove_file(&kept).unwrap();
    let server = Server::start(GROUNDPLANE, &data, &["--audit-log", "none"]).unwrap();
    assert_eq!(server.client().get(&format!("{MAPS}/b")).await.unwrap().code, 404);
    let report = server.client().post(VERIFICATIONS, &json!({})).await.unwrap().json();
    let unproven = report["status"]["unproven"].to_string();
    assert!(unproven.contains("no checkpoint that was kept elsewhere was compared"), "{report}");
}
