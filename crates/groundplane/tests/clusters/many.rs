//! Many clusters at once: no two get one host, on one server and on two.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::site::{Site, phase};

const CLUSTERS: usize = 64;
const HOSTS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_clusters_never_share_a_host_on_one_server() {
    none_is_shared(&Site::start(HOSTS).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_clusters_never_share_a_host_on_two_servers_of_one_etcd() {
    let Some(site) = Site::pair(HOSTS).await else { return };
    none_is_shared(&site).await;
}

/// All ask at once for three hosts of twelve: four get theirs, the others wait and hold nothing.
async fn none_is_shared(site: &Site) {
    let mut asking = JoinSet::new();
    for number in 0..CLUSTERS {
        let client = match &site.second {
            Some((second, _)) if number % 2 == 1 => second.client(),
            _ => site.client(),
        };
        let path = site.clusters();
        asking.spawn(async move {
            let cluster = json!({
                "apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": "Cluster",
                "metadata": {"name": format!("c{number:02}")}, "spec": {"template": "small"},
            });
            let answer = client.post(&path, &cluster).await.unwrap();
            assert_eq!(answer.code, 201, "{}", answer.text());
        });
    }
    asking.join_all().await;
    let all = || async {
        let found = site.client().get(&site.clusters()).await.unwrap().json();
        found["items"].as_array().cloned().unwrap_or_default()
    };
    site.until("four are ready and the others wait", || async {
        let all = all().await;
        let ready = all.iter().filter(|cluster| phase(cluster) == "Ready").count();
        let waiting = all.iter().filter(|cluster| {
            phase(cluster) == "Claiming"
                && cluster["status"]["waitingFor"].as_str().is_some_and(|it| it.contains("needs"))
        });
        ready == HOSTS / 3 && waiting.count() == CLUSTERS - HOSTS / 3
    })
    .await;
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for cluster in all().await {
        let sets = cluster["status"]["nodeSets"].as_object().cloned().unwrap_or_default();
        let hosts: Vec<Value> =
            sets.values().flat_map(|set| set["hosts"].as_array().cloned().unwrap_or_default()).collect();
        assert_eq!(hosts.len(), if phase(&cluster) == "Ready" { 3 } else { 0 }, "{cluster}");
        for host in hosts {
            assert!(taken.insert(host.as_str().unwrap().to_owned()), "{host} is in two clusters");
        }
    }
    assert_eq!(taken.len(), HOSTS);
}
