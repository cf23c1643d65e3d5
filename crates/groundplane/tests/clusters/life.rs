//! The life of a cluster: created, scaled, a host replaced, upgraded, deleted, and nothing left.

use serde_json::json;

use super::site::{FULFILLMENT, Site, hub_path, phase};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_is_made_changed_and_removed_without_a_trace() {
    let site = Site::start(6).await;
    let before = site.traces().await;
    site.create_cluster("my-cluster", json!({"template": "small"})).await;
    let cluster = site.settled("my-cluster").await;
    let status = &cluster["status"];
    assert_eq!(status["state"], "CLUSTER_STATE_READY");
    assert_eq!(status["release"], "4.19.18");
    assert_eq!(status["nodeSets"]["workers"]["installed"], 2, "{status}");
    assert_eq!(status["nodeSets"]["infra"]["hosts"].as_array().unwrap().len(), 1, "{status}");
    assert!(status.get("waitingFor").is_none(), "{status}");
    let api =
        if site.bind.is_some() { "https://api.my-cluster.example.test:" } else { "https://203.0.113.10:" };
    assert!(status["apiUrl"].as_str().unwrap().starts_with(api), "{status}");
    let told = serde_json::to_string(&cluster).unwrap();
    assert!(!told.contains("hub"), "tenants learn nothing of hubs: {told}");

    // Workers are spread over racks.
    let mut racks = Vec::new();
    for host in status["nodeSets"]["workers"]["hosts"].as_array().unwrap() {
        let host = site.get(&format!("hosts/{}", host.as_str().unwrap())).await;
        assert_eq!(host["status"]["cluster"], cluster["metadata"]["uid"]);
        assert_eq!(host["status"]["provisioning"]["phase"], "Installed");
        assert_eq!(host["status"]["hub"], "hub-1");
        racks.push(host["spec"]["rack"].clone());
    }
    assert_ne!(racks[0], racks[1]);

    // The tenant gets its kubeconfig from where credentials are.
    let credentials =
        site.client().get(&format!("{}/my-cluster/credentials", site.clusters())).await.unwrap();
    assert_eq!(credentials.code, 200, "{}", credentials.text());
    assert!(credentials.text().contains("password-of-my-cluster"), "{}", credentials.text());

    if let Some(bind) = &site.bind {
        use dns::Provider;
        let zone = bind.zone();
        let apps = zone.lookup(&"x.apps.my-cluster.example.test".parse().unwrap()).await.unwrap();
        assert_eq!(apps.addresses.len(), 3, "{apps:?}");
        let api = zone.lookup(&"api-int.my-cluster.example.test".parse().unwrap()).await.unwrap();
        assert_eq!(api.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(), ["203.0.113.10"]);
    }

    // Drift in the hub is repaired.
    let role = hub_path("/apis/rbac.authorization.k8s.io/v1", "roles/capi-provider-role");
    let emptied = site.hub.client().merge(&role, &json!({"rules": []})).await.unwrap();
    assert_eq!(emptied.code, 200, "{}", emptied.text());
    site.until("the role is repaired", || async {
        let role = site.hub.client().get(&role).await.unwrap().json();
        role["rules"][0]["resources"] == json!(["agents"])
    })
    .await;

    // More hosts, then fewer: the one that was named goes.
    let path = format!("{}/my-cluster", site.clusters());
    site.change(&path, json!({"spec": {"nodeSets": {"workers": {"size": 3}}}})).await;
    site.until("three workers", || async {
        let cluster = site.cluster("my-cluster").await;
        phase(&cluster) == "Ready" && cluster["status"]["nodeSets"]["workers"]["installed"] == 3
    })
    .await;
    let going = site.cluster("my-cluster").await["status"]["nodeSets"]["workers"]["hosts"][0].clone();
    let smaller = json!({"spec": {"nodeSets": {"workers": {"size": 2, "leaveFirst": [going]}}}});
    site.change(&path, smaller).await;
    let name = going.as_str().unwrap();
    site.until("the host is clean and free", || async {
        let host = site.get(&format!("hosts/{name}")).await;
        host["status"].get("claim").is_none() && host["status"].get("provisioning").is_none()
    })
    .await;
    let cluster = site.settled("my-cluster").await;
    assert_eq!(cluster["status"]["nodeSets"]["workers"]["installed"], 2);

    // A host is replaced, and stays until the other one is there.
    let old = cluster["status"]["nodeSets"]["workers"]["hosts"][0].as_str().unwrap().to_owned();
    let quarantine = json!({"spec": {"quarantine": {"reason": "memory errors", "replace": true}}});
    site.change(&format!("{FULFILLMENT}/hosts/{old}"), quarantine).await;
    site.until("another host took its place", || async {
        let cluster = site.cluster("my-cluster").await;
        let hosts = cluster["status"]["nodeSets"]["workers"]["hosts"].as_array().cloned().unwrap_or_default();
        phase(&cluster) == "Ready" && hosts.len() == 2 && !hosts.contains(&json!(old))
    })
    .await;

    site.change(&path, json!({"spec": {"release": "4.20.1"}})).await;
    site.until("the new release runs", || async {
        let cluster = site.cluster("my-cluster").await;
        phase(&cluster) == "Ready" && cluster["status"]["release"] == "4.20.1"
    })
    .await;
    let wrong = site.client().merge(&path, &json!({"spec": {"release": "9.9"}})).await.unwrap();
    assert!(wrong.code == 422 && wrong.text().contains("'4.19.18' and '4.20.1'"), "{}", wrong.text());

    let gone = site.client().delete(&path).await.unwrap();
    assert_eq!(gone.code, 200, "{}", gone.text());
    site.until("the cluster is gone", || async { site.cluster("my-cluster").await.is_null() }).await;
    site.until("nothing is left", || async { site.traces().await == before }).await;
    if let Some(bind) = &site.bind {
        use dns::Provider;
        let left = bind.zone().lookup(&"api.my-cluster.example.test".parse().unwrap()).await.unwrap();
        assert!(left.addresses.is_empty(), "{left:?}");
    }
    let host = site.get(&format!("hosts/{old}")).await;
    assert_eq!(host["spec"]["quarantine"]["reason"], "memory errors", "and it is not chosen again");
    let considered = site.get("hostclasses/gpu/considered?size=5").await;
    let told =
        considered["hosts"].as_array().unwrap().iter().find(|it| it["name"] == json!(old)).unwrap().clone();
    assert_eq!(told["ruledOutBy"], "it is quarantined: memory errors", "{considered}");
}
