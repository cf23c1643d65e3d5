//! A backup that is taken while the server runs, and a server made from it.

use serde_json::json;
use store::Embedded;
use testbed::server::Server;

use crate::{GROUNDPLANE, MAPS, map};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_streamed_and_restored_with_its_history() {
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    for number in 0..300 {
        client.post(MAPS, &map(&format!("map-{number}"), &"x".repeat(4000))).await.unwrap();
    }
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"word": "xyzzy"}});
    client.post("/api/v1/namespaces/default/secrets", &secret).await.unwrap();
    client.merge(&format!("{MAPS}/map-7"), &json!({"data": {"k": "changed"}})).await.unwrap();
    let stranger = server.client().with("impersonate-user", "eve");
    let backups = "/apis/groundplane.dev/v1alpha1/backups";
    assert_eq!(stranger.post(backups, &json!({})).await.unwrap().code, 403);
    let backup = client.post(backups, &json!({})).await.unwrap();
    assert_eq!(backup.code, 200);
    assert_eq!(backup.headers["content-type"], "application/vnd.groundplane.backup");
    assert!(!backup.text().contains("xyzzy"), "what was sealed stays so");

    let data = folder.path().join("data");
    let store = data.join("store");
    std::fs::create_dir_all(&store).unwrap();
    for key in ["sealing.keys", "signing.key"] {
        std::fs::copy(server.data().join("store").join(key), store.join(key)).unwrap();
    }
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&data, private).unwrap();
    let cut = &backup.body[..backup.body.len() - 10];
    assert!(Embedded::restore(&store, &mut &cut[..]).await.is_err(), "one that was cut off is noticed");
    let summary = Embedded::restore(&store, &mut &backup.body[..]).await.unwrap();
    assert!(summary.objects >= 301);
    let restored = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = restored.client();
    assert_eq!(client.get(&format!("{MAPS}/map-7")).await.unwrap().json()["data"]["k"], "changed");
    let history = client.get(&format!("{MAPS}/map-7/history")).await.unwrap().json();
    assert_eq!(history["items"].as_array().unwrap().len(), 2, "{history}");
    let secret = client.get("/api/v1/namespaces/default/secrets/s").await.unwrap().json();
    assert_eq!(secret["data"]["word"], "eHl6enk=");
    let report =
        client.post("/apis/groundplane.dev/v1alpha1/verifications", &json!({})).await.unwrap().json();
    assert_eq!(report["status"]["verified"], true, "{report}");
}
