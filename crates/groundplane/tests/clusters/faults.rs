//! Clusters when things go wrong: hosts that never boot or can't be cleaned, hubs and name servers that don't answer, crashes.

use serde_json::{Value, json};
use sim::hub::Fault;

use super::site::{Site, phase};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_never_boots_is_replaced_and_one_that_is_not_cleaned_is_never_free() {
    let site = Site::start(5).await;
    let class = format!("{}/hostclasses/gpu", super::site::FULFILLMENT);
    site.change(&class, json!({"provisioningLimitSeconds": 10})).await;
    for number in 1..=2 {
        site.simulator.fault(Fault::NeverBoots(format!("node{number:03}")));
    }
    site.simulator.fault(Fault::FailsCleaning("node003".to_owned()));
    site.create_cluster("one", json!({"template": "small"})).await;
    let cluster = site.settled("one").await;
    let all = serde_json::to_string(&cluster["status"]["nodeSets"]).unwrap();
    assert!(!all.contains("node001") && !all.contains("node002"), "{all}");
    // Those of them that were tried are in quarantine by now; the others are not to be used either.
    for number in 1..=2 {
        let quarantine = json!({"spec": {"quarantine": {"reason": "it does not boot"}}});
        site.change(&format!("{}/hosts/node{number:03}", super::site::FULFILLMENT), quarantine).await;
    }
    let path = format!("{}/one", site.clusters());
    assert_eq!(site.client().delete(&path).await.unwrap().code, 200);
    site.until("the cluster is gone", || async { site.cluster("one").await.is_null() }).await;
    site.until("the host says that it is not clean", || async {
        site.get("hosts/node003").await["status"]["provisioning"]["phase"] == "CleaningFailed"
    })
    .await;
    site.create_cluster("two", json!({"template": "small"})).await;
    site.until("the second cluster waits for hosts", || async {
        let cluster = site.cluster("two").await;
        let waits = cluster["status"]["waitingFor"].as_str().unwrap_or_default().to_owned();
        phase(&cluster) == "Claiming" && waits.contains("needs 2 more hosts of class gpu")
    })
    .await;
    // Once it is clean, and the others are mended, there are enough.
    site.simulator.mend();
    for number in 1..=2 {
        let host = format!("{}/hosts/node{number:03}", super::site::FULFILLMENT);
        site.change(&host, json!({"spec": {"quarantine": null}})).await;
    }
    site.settled("two").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_survives_crashes_of_the_server_at_any_moment() {
    let mut site = Site::start(4).await;
    let before = site.traces().await;
    site.create_cluster("one", json!({"template": "small"})).await;
    let mut seed = 0x2545_f491_u64;
    let path = format!("{}/one", site.clusters());
    for round in 0..20 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        tokio::time::sleep(std::time::Duration::from_millis((seed >> 33) % 400)).await;
        site.crash();
        never_shared(&site).await;
        if round == 9 {
            site.settled("one").await;
            assert_eq!(site.client().delete(&path).await.unwrap().code, 200);
        }
    }
    site.until("the cluster is gone", || async { site.cluster("one").await.is_null() }).await;
    site.until("nothing is left", || async { site.traces().await == before }).await;
}

/// A host is in one cluster at most, and none that is dirty is free.
async fn never_shared(site: &Site) {
    let hosts = site.get("hosts").await["items"].as_array().cloned().unwrap_or_default();
    let claims = site.get("hostclaims").await["items"].as_array().cloned().unwrap_or_default();
    for host in hosts {
        let claim = claims.iter().find(|claim| claim["metadata"]["name"] == host["metadata"]["name"]);
        let is_held = claim.is_some_and(|claim| claim["spec"].get("holder").is_some());
        let is_dirty = host["status"]["provisioning"]["isDirty"] == Value::Bool(true);
        assert!(is_held || !is_dirty, "a dirty host is free: {host}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_is_cut_off_and_a_dead_name_server_block_nothing() {
    let mut site = Site::start(3).await;
    site.create_cluster("one", json!({"template": "small"})).await;
    site.settled("one").await;
    let condition = |object: &Value, kind: &str| {
        let all = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|it| it["type"] == kind).unwrap_or_default()
    };
    signal(&site, "-STOP");
    site.until("the hub is cut off", || async {
        let reachable = condition(&site.get("hubs/hub-1").await, "Reachable");
        reachable["status"] == "False" && reachable["reason"] == "HubUnreachable"
    })
    .await;
    site.until("the cluster says so", || async {
        let cluster = site.cluster("one").await;
        condition(&cluster, "Degraded")["status"] == "True"
            && condition(&cluster, "Ready")["status"] == "True"
    })
    .await;
    signal(&site, "-CONT");
    site.until("all is well again", || async {
        let hub = site.get("hubs/hub-1").await;
        let is_back = condition(&hub, "Ready")["status"] == "True";
        is_back && condition(&site.cluster("one").await, "Degraded")["status"] == "False"
    })
    .await;

    // Without its name server, the cluster goes, and says what is left behind.
    if site.bind.take().is_none() {
        return;
    }
    assert_eq!(site.client().delete(&format!("{}/one", site.clusters())).await.unwrap().code, 200);
    site.until("the cluster is gone", || async { site.cluster("one").await.is_null() }).await;
    let placements = site.get("clusterplacements").await["items"].as_array().cloned().unwrap_or_default();
    assert_eq!(placements.len(), 1);
    let remains = placements[0]["status"]["remains"].as_array().cloned().unwrap_or_default();
    assert!(
        remains.iter().any(|it| it.as_str().unwrap().starts_with("DNS names api.one.example.test")),
        "{remains:?}"
    );
    assert_eq!(condition(&placements[0], "Removed")["reason"], "DnsFailed");
}

fn signal(site: &Site, signal: &str) {
    let pid = site.hub.pid().to_string();
    assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
}
