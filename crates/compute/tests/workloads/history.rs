//! The history of rollouts is the store's: who, when, what, and back again.

use serde_json::{Value, json};

use super::place::{COMPUTE, Place, of, workload};

#[tokio::test]
async fn every_change_is_a_revision_and_an_undo_is_another() {
    let place = Place::new(&["DFW"]).await;
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW"], 2)).await;
    place.until_phase("api", "Done").await;
    let api = format!("{}/api", of(COMPUTE, "workloads"));
    let explained = place.client.apart().with("groundplane-change-message", "release 2");
    let containers = json!([{"name": "app", "image": "ghcr.io/acme/api:2", "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}]}]);
    let patch = json!({"spec": {"template": {"spec": {"runtime": {"sandbox": {"containers": containers}}}}}});
    assert_eq!(explained.merge(&api, &patch).await.unwrap().code, 200);
    place.until_phase("api", "Done").await;
    let settings = json!({"placements": [{"name": "default", "cityCodes": ["DFW"], "scaleSettings": {"minReplicas": 3}}]});
    place.change("api", json!({ "spec": settings })).await;
    place.until_phase("api", "Done").await;
    let history = format!("{api}/rollout-history");
    let told = place.get(&format!("{history}?diff=true")).await;
    let items = told["items"].as_array().unwrap();
    let column = |field: &str| -> Vec<Value> { items.iter().map(|item| item[field].clone()).collect() };
    assert_eq!(column("revision"), [3, 2, 1].map(Value::from), "status and labels are no revisions");
    assert_eq!(
        column("changes"),
        ["min replicas: 2 → 3", "image: ghcr.io/acme/api:1 → ghcr.io/acme/api:2", "initial deploy"]
            .map(Value::from)
    );
    assert_eq!(items[1]["message"], "release 2");
    assert_eq!((&items[0]["active"], items[1].get("active")), (&json!(true), None));
    assert_eq!(items[0]["templateHash"], items[1]["templateHash"], "scaling rolls nothing out");
    assert_ne!(items[1]["templateHash"], items[2]["templateHash"]);
    assert!(items.iter().all(|item| item["user"].as_str().is_some_and(|user| !user.is_empty())), "{told}");
    assert_eq!(
        items[1]["diff"][0]["path"], "spec.template.spec.runtime.sandbox.containers[0].image",
        "{}",
        items[1]["diff"]
    );
    // The whole specification comes back, the number of instances too, as a new revision.
    let undo = place
        .client
        .post(&format!("{api}/undo"), &json!({"toGeneration": 1, "message": "rollback to rev #1"}))
        .await
        .unwrap();
    assert_eq!(undo.code, 200, "{}", undo.text());
    assert_eq!(undo.json()["metadata"]["generation"], 4);
    let done = place.until_phase("api", "Done").await;
    assert_eq!(done["status"]["desiredReplicas"], 2);
    let one = place.get(&format!("{history}?revision=1")).await;
    assert_eq!(one["spec"], done["spec"]);
    let gone = place.client.post(&format!("{api}/undo"), &json!({"toGeneration": 99})).await.unwrap();
    assert_eq!(gone.code, 404, "{}", gone.text());
    assert!(gone.text().contains("has no revision 99"), "{}", gone.text());
    // Clients that know the ConfigMap read it.
    let map = place.get(&format!("{history}?as=configmap")).await;
    assert_eq!(map["metadata"]["name"], "compute.datumapis.com-revision-history.api");
    assert_eq!(map["metadata"]["annotations"]["compute.datumapis.com/current-revision"], "4");
    let entry: Value = serde_json::from_str(map["data"]["2"].as_str().unwrap()).unwrap();
    assert_eq!((&entry["rev"], &entry["image"]), (&json!(2), &json!("ghcr.io/acme/api:2")));
    let spec: Value = serde_json::from_str(entry["spec"].as_str().unwrap()).unwrap();
    assert_eq!(spec["placements"][0]["name"], "default");
    // Kinds that declare no rollout have no such history.
    let none = format!("{}/api-default-dfw/rollout-history", of(COMPUTE, "workloaddeployments"));
    assert_eq!(place.client.get(&none).await.unwrap().code, 404);
}

#[tokio::test]
async fn twenty_revisions_are_told_and_the_numbers_go_on() {
    let place = Place::bare(&["DFW"]).await;
    place.deploy(&workload("api", "ghcr.io/acme/api:0", &["DFW"], 1)).await;
    for tag in 1..25 {
        place.set_image("api", &format!("ghcr.io/acme/api:{tag}")).await;
    }
    let api = format!("{}/api", of(COMPUTE, "workloads"));
    let told = place.get(&format!("{api}/rollout-history")).await;
    let numbers: Vec<i64> =
        told["items"].as_array().unwrap().iter().map(|item| item["revision"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (6..=25).rev().collect::<Vec<i64>>());
    assert_eq!(
        place.get(&format!("{api}/rollout-history?limit=100")).await["items"].as_array().unwrap().len(),
        25
    );
}
