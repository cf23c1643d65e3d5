//! A deleted object, a bad change of two hundred, and a plan that came too late.

use serde_json::{Value, json};
use testbed::server::Server;

use crate::{GROUNDPLANE, MAPS, commit, item, map};

#[tokio::test]
async fn a_deleted_object_is_restored_from_its_history() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    let made = client.post(MAPS, &map("a", "one")).await.unwrap().json();
    client.merge(&format!("{MAPS}/a"), &json!({"data": {"k": "two"}})).await.unwrap();
    assert_eq!(client.delete(&format!("{MAPS}/a")).await.unwrap().code, 200);
    let history = client.get(&format!("{MAPS}/a/history")).await.unwrap().json();
    let verbs: Vec<&str> =
        history["items"].as_array().unwrap().iter().map(|item| item["verb"].as_str().unwrap()).collect();
    assert_eq!(verbs, ["delete", "patch", "create"]);
    let restored = client.post(&format!("{MAPS}/a/restore"), &json!({})).await.unwrap();
    assert_eq!(restored.code, 201, "{}", restored.text());
    let object = client.get(&format!("{MAPS}/a")).await.unwrap().json();
    assert_eq!(object["data"]["k"], "two");
    assert_ne!(object["metadata"]["uid"], made["metadata"]["uid"]);
}

#[tokio::test]
async fn a_bad_change_of_two_hundred_objects_is_undone_as_one() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    let name = |number: usize| format!("map-{number:03}");
    let good: Vec<Value> =
        (0..200).map(|number| item("create", &map(&name(number), &format!("good {number}")))).collect();
    assert_eq!(commit(&client, "", &json!({"items": good})).await.code, 201);
    let before = client.get(MAPS).await.unwrap().json();
    let time = before["metadata"]["resourceVersion"].clone();
    // Not even one transaction: a loop in a shell, say.
    let anna = client.apart().with("impersonate-user", "anna").with("impersonate-group", "system:masters");
    for number in 0..200 {
        let changed = anna
            .merge(&format!("{MAPS}/{}", name(number)), &json!({"data": {"k": "bad", "more": "x"}}))
            .await;
        assert_eq!(changed.unwrap().code, 200);
    }
    let undo = json!({"undo": {"after": time, "user": "anna"}, "message": "that was the wrong loop"});
    let undone = commit(&client, "", &undo).await;
    let told = undone.json();
    assert_eq!(
        (undone.code, &told["status"]["summary"]["configured"]),
        (201, &json!(200)),
        "{}",
        undone.text()
    );
    let after = client.get(MAPS).await.unwrap().json();
    let data = |list: &Value| -> Vec<Value> {
        list["items"].as_array().unwrap().iter().map(|map| map["data"].clone()).collect()
    };
    assert_eq!(data(&after), data(&before));
    let revisions = after["items"].as_array().unwrap().iter().filter_map(|map| {
        let name = map["metadata"]["name"].as_str()?.strip_prefix("map-")?.to_owned();
        let version: u64 = map["metadata"]["resourceVersion"].as_str()?.parse().ok()?;
        Some((name, version >> 16))
    });
    let commits: std::collections::BTreeSet<u64> = revisions.map(|(_, commit)| commit).collect();
    assert_eq!(commits.len(), 1, "in one commit");
    let history = client.get(&format!("{MAPS}/map-000/history")).await.unwrap().json();
    assert_eq!(history["items"][0]["message"], "that was the wrong loop");
}

#[tokio::test]
async fn a_plan_that_went_stale_is_refused_also_after_a_restart() {
    let folder = tempfile::TempDir::new().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = server.client();
    client.post(MAPS, &map("a", "one")).await.unwrap();
    client.post(MAPS, &map("b", "one")).await.unwrap();
    let plans = "/apis/groundplane.dev/v1alpha1/plans";
    for (plan, object) in [("for-a", "a"), ("for-b", "b")] {
        let spec = json!({"items": [item("apply", &map(object, "two"))], "force": true});
        let made = client.post(plans, &json!({"metadata": {"name": plan}, "spec": spec})).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
    }
    client.merge(&format!("{MAPS}/a"), &json!({"data": {"other": "x"}})).await.unwrap();
    server.stop();
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = server.client();
    let stale = client.post(&format!("{plans}/for-a/apply"), &json!({})).await.unwrap();
    assert_eq!(stale.code, 409);
    assert!(stale.text().contains("configmaps default/a"), "{}", stale.text());
    let fresh = client.post(&format!("{plans}/for-b/apply"), &json!({})).await.unwrap();
    assert_eq!(fresh.code, 201, "{}", fresh.text());
    assert_eq!(client.get(&format!("{MAPS}/b")).await.unwrap().json()["data"]["k"], "two");
}
