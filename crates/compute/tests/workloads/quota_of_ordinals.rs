//! Quota: each ordinal claims, waits if there is no room, and goes on by itself once there is.

use serde_json::{Value, json};

use super::place::{COMPUTE, PROJECT, Place, QUOTA, condition, message, object, of, workload};
use super::server::until;

const GRANTS: &str = "/apis/quota.miloapis.com/v1alpha1/namespaces/milo-system/resourcegrants";

fn allowances(instances: i64) -> Value {
    json!([
        {"resourceType": "compute.datumapis.com/instances", "buckets": [{"amount": instances}]},
        {"resourceType": "compute.datumapis.com/vcpus", "buckets": [{"amount": 40000}]},
    ])
}

async fn metered(place: &Place, instances: i64) {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "milo-system"}});
    place.make("/api/v1/namespaces", &namespace).await;
    for (name, kind) in [("instances", "Entity"), ("vcpus", "Allocation")] {
        let spec = json!({
            "resourceType": format!("compute.datumapis.com/{name}"), "type": kind,
            "consumerType": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"},
            "baseUnit": "unit", "displayUnit": "unit", "unitConversionFactor": 1,
            "claimingResources": [{"apiGroup": "compute.datumapis.com", "kind": "Instance"}],
        });
        let registrations = format!("/apis/{QUOTA}/resourceregistrations");
        place
            .make(&registrations, &object(QUOTA, "ResourceRegistration", &format!("compute-{name}"), spec))
            .await;
    }
    let consumer = json!({"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": PROJECT});
    let spec = json!({"consumerRef": consumer, "allowances": allowances(instances)});
    place.make(GRANTS, &object(QUOTA, "ResourceGrant", "acme", spec)).await;
}

async fn claims(place: &Place) -> Vec<(String, bool)> {
    let all = place.list(QUOTA, "resourceclaims").await;
    let claim = |claim: &Value| {
        let name = claim["metadata"]["name"].as_str().unwrap().to_owned();
        (name, condition(claim, "Granted").starts_with("True"))
    };
    all.iter().map(claim).collect()
}

#[tokio::test]
async fn three_of_four_ordinals_run_and_the_fourth_follows_when_more_is_granted() {
    let place = Place::new(&["DFW", "IAD"]).await;
    metered(&place, 3).await;
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW", "IAD"], 2)).await;
    until("three are ready", || async { place.workload("api").await["status"]["readyReplicas"] == 3 }).await;
    until("the fourth waits", || async {
        place.instances().await.iter().any(|found| super::place::shown(found) == "Pending (quota exceeded)")
    })
    .await;
    let waiting = place
        .instances()
        .await
        .into_iter()
        .find(|found| !condition(found, "Ready").starts_with("True"))
        .unwrap();
    assert_eq!(condition(&waiting, "QuotaGranted"), "False:QuotaExceeded");
    assert_eq!(condition(&waiting, "Ready"), "False:PendingQuota");
    assert_eq!(condition(&waiting, "Programmed"), "False:PendingQuota");
    assert!(
        message(&waiting, "QuotaGranted")
            .contains("instances: Resource quota exceeded: requested 1, available 0"),
        "{}",
        message(&waiting, "QuotaGranted")
    );
    let name =
        waiting["metadata"]["labels"]["compute.datumapis.com/workload-deployment-name"].as_str().unwrap();
    let deployment = format!("{}/{name}", of(COMPUTE, "workloaddeployments"));
    until("the deployment says so", || async {
        condition(&place.get(&deployment).await, "ReplicasReady") == "False:QuotaExceeded"
    })
    .await;
    assert_eq!(
        message(&place.get(&deployment).await, "ReplicasReady"),
        "1 of 2 desired replicas are pending quota"
    );
    let blocked = place.until_phase("api", "Blocked").await;
    assert_eq!(condition(&blocked, "Available"), "True:AvailablePlacementFound");
    assert_eq!(claims(&place).await.iter().filter(|(_, granted)| *granted).count(), 3);
    // A rollout goes on all the same, and keeps what it has.
    place.set_image("api", "ghcr.io/acme/api:2").await;
    until("three are renewed", || async { place.workload("api").await["status"]["updatedReplicas"] == 3 })
        .await;
    // Another grant is enough; nobody has to do anything.
    let more =
        place.client.merge(&format!("{GRANTS}/acme"), &json!({"spec": {"allowances": allowances(4)}})).await;
    assert_eq!(more.unwrap().code, 200);
    place.until_phase("api", "Done").await;
    assert_eq!(claims(&place).await.iter().filter(|(_, granted)| *granted).count(), 4);
    // Claims pay for instances: they can't be given up while those run.
    let claim = format!("{}/instance-api-default-dfw-0", of(QUOTA, "resourceclaims"));
    let refused = place.client.delete(&claim).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
    // Scaling down gives them back, and so does the end.
    let settings = json!({"placements": [{"name": "default", "cityCodes": ["DFW", "IAD"], "scaleSettings": {"minReplicas": 1}}]});
    place.change("api", json!({ "spec": settings })).await;
    until("two claims are left", || async {
        claims(&place).await.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>()
            == ["instance-api-default-dfw-0", "instance-api-default-iad-0"]
    })
    .await;
    let path = format!("{}/api", of(COMPUTE, "workloads"));
    assert_eq!(place.client.delete(&path).await.unwrap().code, 200);
    until("no claim is left", || async { claims(&place).await.is_empty() }).await;
    until("the bucket is empty", || async {
        let buckets = place.get(&format!("/apis/{QUOTA}/namespaces/milo-system/allowancebuckets")).await;
        buckets["items"].as_array().unwrap().iter().all(|bucket| bucket["status"]["allocated"] == 0)
    })
    .await;
}

#[tokio::test]
async fn claims_are_made_with_the_deployment_before_any_instance() {
    // Without an agent, only the first ordinal is started: the others have their quota all the same.
    let place = Place::bare(&["DFW"]).await;
    metered(&place, 10).await;
    place.deploy(&workload("api", "ghcr.io/acme/api:1", &["DFW"], 4)).await;
    until("all claims are granted", || async {
        let all = claims(&place).await;
        all.len() == 4 && all.iter().all(|(_, granted)| *granted)
    })
    .await;
    assert!(place.instances().await.len() <= 1);
    let claim = place.get(&format!("{}/instance-api-default-dfw-3", of(QUOTA, "resourceclaims"))).await;
    assert_eq!(
        claim["spec"]["requests"],
        json!([
            {"resourceType": "compute.datumapis.com/instances", "amount": 1},
            {"resourceType": "compute.datumapis.com/vcpus", "amount": 1000},
        ])
    );
    assert_eq!(claim["metadata"]["labels"]["topology.datum.net/city-code"], "DFW");
}
