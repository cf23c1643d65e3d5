//! Rollouts: one at a time, from the highest ordinal down, and never stuck.

use std::time::Duration;

use containers::simulated::Script;
use serde_json::{Value, json};

use super::place::{COMPUTE, Place, condition, of, workload};
use super::server::until;

fn image_of(instance: &Value) -> String {
    instance["spec"]["runtime"]["sandbox"]["containers"][0]["image"].as_str().unwrap().to_owned()
}

async fn images(place: &Place) -> Vec<String> {
    place.instances().await.iter().map(image_of).collect()
}

#[tokio::test]
async fn a_new_image_rolls_from_the_highest_ordinal_down_and_one_at_a_time() {
    let place = Place::new(&["DFW"]).await;
    for tag in ["1", "2"] {
        let script = Script { start_takes: Duration::from_millis(60), ..Script::default() };
        place.runtime.script(format!("ghcr.io/acme/api:{tag}"), script);
    }
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW"], 3)).await;
    place.until_phase("api", "Done").await;
    let instances = of(COMPUTE, "instances");
    let version = place.get(&instances).await["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut watch =
        place.client.watch(&format!("{instances}?watch=1&resourceVersion={version}")).await.unwrap();
    place.set_image("api", "ghcr.io/acme/api:2").await;
    // What a watcher sees: ordinals in the order in which they go, and never fewer than two that are ready.
    let mut ready = std::collections::BTreeSet::from([0u32, 1, 2]);
    let (mut order, mut renewed) = (Vec::new(), 0);
    while renewed < 3 {
        let event = watch.next().await.unwrap();
        let instance = &event["object"];
        let ordinal: u32 = instance["metadata"]["labels"]["compute.datumapis.com/instance-index"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        let is_ready = condition(instance, "Ready").starts_with("True")
            && instance["metadata"].get("deletionTimestamp").is_none();
        if instance["metadata"].get("deletionTimestamp").is_some() && !order.contains(&ordinal) {
            order.push(ordinal);
        }
        if is_ready && event["type"] != "DELETED" {
            if ready.insert(ordinal) {
                renewed += 1;
            }
        } else {
            ready.remove(&ordinal);
        }
        assert!(ready.len() >= 2, "only {ready:?} are ready");
    }
    assert_eq!(order, [2, 1, 0]);
    place.until_phase("api", "Done").await;
    assert_eq!(images(&place).await, ["ghcr.io/acme/api:2"; 3]);
}

#[tokio::test]
async fn a_bad_image_stops_at_one_instance_and_a_good_one_or_an_undo_repairs_it() {
    let place = Place::new(&["DFW"]).await;
    place.script_unavailable("ghcr.io/acme/api:bad");
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW"], 3)).await;
    place.until_phase("api", "Done").await;
    place.set_image("api", "ghcr.io/acme/api:bad").await;
    let blocked = place.until_phase("api", "Blocked").await;
    assert_eq!(blocked["status"]["rollout"]["reason"], "ImageUnavailable");
    assert_eq!(condition(&blocked, "Available"), "True:AvailablePlacementFound", "the others keep serving");
    assert_eq!(blocked["status"]["readyReplicas"], 2);
    assert_eq!(blocked["status"]["updatedReplicas"], 0);
    place.set_image("api", "ghcr.io/acme/api:2").await;
    place.until_phase("api", "Done").await;
    // The same with an undo.
    place.set_image("api", "ghcr.io/acme/api:bad").await;
    place.until_phase("api", "Blocked").await;
    let undo = format!("{}/api/undo", of(COMPUTE, "workloads"));
    let answer = place.client.post(&undo, &json!({"steps": 1})).await.unwrap();
    assert_eq!(answer.code, 200, "{}", answer.text());
    place.until_phase("api", "Done").await;
    assert_eq!(images(&place).await, ["ghcr.io/acme/api:2"; 3]);
}

#[tokio::test]
async fn a_workload_whose_first_image_is_bad_is_repaired_too() {
    let place = Place::new(&["DFW"]).await;
    place.script_unavailable("ghcr.io/acme/api:bad");
    place.deploy(&workload("api", "ghcr.io/acme/api:bad", &["DFW"], 2)).await;
    place.until_phase("api", "Blocked").await;
    place.set_image("api", "ghcr.io/acme/api:1").await;
    place.until_phase("api", "Done").await;
    assert_eq!(images(&place).await, ["ghcr.io/acme/api:1"; 2]);
}

#[tokio::test]
async fn a_failed_rollout_goes_back_by_itself_if_it_is_asked_to() {
    let place = Place::new(&["DFW"]).await;
    place.script_unavailable("ghcr.io/acme/api:bad");
    let mut api = workload("api", "ghcr.io/acme/api:1", &["DFW"], 2);
    api["spec"]["rollout"] = json!({"autoRollback": true});
    place.deploy(&api).await;
    place.until_phase("api", "Done").await;
    place.set_image("api", "ghcr.io/acme/api:bad").await;
    until("it is rolled back", || async {
        let workload = place.workload("api").await;
        workload["metadata"]["generation"] == 3 && workload["status"]["rollout"]["phase"] == "Done"
    })
    .await;
    assert_eq!(images(&place).await, ["ghcr.io/acme/api:1"; 2]);
    let events = place
        .get(&super::place::inside("/api/v1/namespaces/default/events?fieldSelector=reason%3DRolledBack"))
        .await;
    assert_eq!(events["items"].as_array().unwrap().len(), 1, "{events}");
}

#[tokio::test]
async fn a_canary_waits_until_it_is_promoted_and_a_pause_until_it_ends() {
    let place = Place::new(&["DFW", "IAD"]).await;
    let mut api = workload("api", "ghcr.io/acme/api:1", &["DFW", "IAD"], 2);
    api["spec"]["rollout"] = json!({"canary": true});
    place.deploy(&api).await;
    place.until_phase("api", "Done").await;
    place.set_image("api", "ghcr.io/acme/api:2").await;
    let waiting = place.until_phase("api", "Canary").await;
    until("one instance is tried", || async {
        images(&place).await.iter().filter(|image| image.ends_with(":2")).count() == 1
    })
    .await;
    let canary = place.instance("api-default-dfw-1").await.unwrap();
    assert_eq!(image_of(&canary), "ghcr.io/acme/api:2");
    let hash = waiting["status"]["templateHash"].clone();
    place.change("api", json!({"spec": {"rollout": {"promoted": hash}}})).await;
    place.until_phase("api", "Done").await;
    assert_eq!(images(&place).await, ["ghcr.io/acme/api:2"; 4]);
    place.change("api", json!({"spec": {"rollout": {"canary": false, "paused": true}}})).await;
    place.set_image("api", "ghcr.io/acme/api:3").await;
    place.until_phase("api", "Paused").await;
    assert_eq!(images(&place).await, ["ghcr.io/acme/api:2"; 4]);
    place.change("api", json!({"spec": {"rollout": {"paused": false, "surge": 1}}})).await;
    place.until_phase("api", "Done").await;
    until("the further instances are gone", || async { images(&place).await == ["ghcr.io/acme/api:3"; 4] })
        .await;
}

#[tokio::test]
async fn a_restart_of_one_city_restarts_that_city_once() {
    let place = Place::new(&["DFW", "IAD"]).await;
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW", "IAD"], 2)).await;
    place.until_phase("api", "Done").await;
    let uids = async || -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = place.instances().await;
        all.iter().map(|one| (text(&one["metadata"]["name"]), text(&one["metadata"]["uid"]))).collect()
    };
    let before = uids().await;
    let restarted = json!({"annotations": {"compute.datumapis.com/restartedAt.IAD": "2026-06-04T10:00:00Z"}});
    place.change("api", json!({"spec": {"template": {"metadata": restarted}}})).await;
    place.until_phase("api", "Done").await;
    let after = uids().await;
    assert_eq!(before[..2], after[..2], "DFW is as it was");
    assert!(before[2] != after[2] && before[3] != after[3], "IAD was restarted");
    // Nothing restarts it again.
    place.change("api", json!({"metadata": {"labels": {"a": "b"}}})).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(uids().await, after);
    // Scaling keeps those that are there.
    let settings = json!({"placements": [{"name": "default", "cityCodes": ["DFW", "IAD"], "scaleSettings": {"minReplicas": 3}}]});
    place.change("api", json!({ "spec": settings })).await;
    let done = place.until_phase("api", "Done").await;
    assert_eq!((&done["status"]["readyReplicas"], place.instances().await.len()), (&json!(6), 6));
    let settings = json!({"placements": [{"name": "default", "cityCodes": ["DFW", "IAD"], "scaleSettings": {"minReplicas": 1}}]});
    place.change("api", json!({ "spec": settings })).await;
    until("one is left in each city", || async {
        uids().await.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
            == ["api-default-dfw-0", "api-default-iad-0"]
    })
    .await;
    assert_eq!(uids().await[0], after[0]);
}
