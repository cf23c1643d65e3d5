//! Clusters: a HostedCluster with its secrets, and a NodePool for each node set.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::Object;
use serde_json::{Value, json};

use super::{
    AGENTS, HOSTED_CLUSTERS, HYPERSHIFT, NODE_POOLS, SECRETS, condition, decoded, encoded, holds, text,
};
use crate::hubs::{Call, Link};
use crate::provisioners::{self, ClusterFacts, ClusterStep, HubFacts, labels};

/// Keeps HostedClusters until this server has seen them go.
const FINALIZER: &str = "fulfillment-controller";

/// Makes a cluster, and tells how far it is.
pub fn make(hub: &HubFacts, cluster: &ClusterFacts, link: &Link) -> ClusterStep {
    let own = own(cluster);
    let mut calls = Vec::new();
    for secret in secrets(hub, cluster, &own) {
        calls.extend(provisioners::ensure(link, SECRETS, secret));
    }
    let hosted = link.object(HOSTED_CLUSTERS, &cluster.alias);
    if hosted.as_ref().is_some_and(|hosted| hosted.is_deleting()) {
        let trouble =
            Some(("HostedClusterDeleted".to_owned(), "its control plane is being deleted".to_owned()));
        return ClusterStep { trouble, ..ClusterStep::default() };
    }
    calls.extend(hosted_cluster(hub, cluster, &own, hosted.as_deref()));
    for (set, size) in &cluster.node_sets {
        // A pool shrinks once the agent of the host that leaves is no longer selected: otherwise it could let go of another one.
        let size = &(*size).max(selected(cluster, set, link));
        calls.extend(provisioners::ensure(link, NODE_POOLS, node_pool(hub, cluster, set, *size, &own)));
    }
    let pools = pools_of(cluster, link);
    for pool in &pools {
        let is_wanted = set_of(cluster, pool).is_some_and(|set| cluster.node_sets.contains_key(set));
        if !is_wanted {
            calls.extend(provisioners::remove(link, NODE_POOLS, pool.name()));
        }
    }
    let mut step = ClusterStep { calls, ..ClusterStep::default() };
    for pool in &pools {
        if let Some(set) = set_of(cluster, pool) {
            let number = pool.at("status.replicas").and_then(Value::as_i64).unwrap_or_default();
            step.nodes.insert(set.to_owned(), i32::try_from(number).unwrap_or_default());
        }
    }
    if let Some(hosted) = hosted {
        read(&hosted, &pools, link, &mut step);
    }
    step
}

/// What a HostedCluster says of itself.
fn read(hosted: &Object, pools: &[Arc<Object>], link: &Link, step: &mut ClusterStep) {
    step.is_available = holds(hosted, "Available");
    let wrong = ["ValidConfiguration", "ValidReleaseImage", "SupportedHostedCluster"];
    let invalid =
        wrong.iter().find_map(|kind| condition(hosted, kind).filter(|(status, ..)| *status == "False"));
    let degraded = condition(hosted, "Degraded").filter(|(status, ..)| *status == "True");
    step.trouble = invalid.or(degraded).map(|(_, reason, message)| (reason.to_owned(), message.to_owned()));
    let host = text(hosted, "status.controlPlaneEndpoint.host");
    let port = hosted.at("status.controlPlaneEndpoint.port").and_then(Value::as_i64);
    step.endpoint = port
        .and_then(|port| i32::try_from(port).ok())
        .filter(|_| !host.is_empty())
        .map(|port| (host.to_owned(), port));
    let newest = hosted.at("status.version.history").and_then(|history| history.get(0));
    let done =
        newest.filter(|newest| newest["state"] == "Completed").and_then(|newest| newest["image"].as_str());
    let follows = |pool: &Arc<Object>| text(pool, "spec.release.image") == done.unwrap_or_default();
    let is_updating = |pool: &Arc<Object>| holds(pool, "UpdatingVersion");
    let is_whole = pools.iter().all(|pool| follows(pool) && !is_updating(pool));
    step.image = done.filter(|_| is_whole).map(str::to_owned);
    let value = |path: &str, key: &str| {
        let secret = link.object(SECRETS, text(hosted, path))?;
        decoded(&secret, key)
    };
    step.kubeconfig = value("status.kubeconfig.name", "kubeconfig");
    step.password = value("status.kubeadminPassword.name", "password");
}

/// Removes a cluster: its NodePools and HostedCluster, and its secrets once those are gone.
pub fn retire(cluster: &ClusterFacts, link: &Link) -> ClusterStep {
    let mut step = ClusterStep::default();
    let hosted = link.object(HOSTED_CLUSTERS, &cluster.alias).filter(|hosted| is_ours(cluster, hosted));
    for pool in pools_of(cluster, link) {
        step.remains.push(format!("NodePool {}", pool.name()));
        step.calls.extend(provisioners::remove(link, NODE_POOLS, pool.name()));
    }
    if let Some(hosted) = hosted {
        step.remains.push(format!("HostedCluster {}", hosted.name()));
        match hosted.finalizers().as_slice() {
            [FINALIZER] if hosted.is_deleting() => step.calls.push(Call::Merge {
                plural: HOSTED_CLUSTERS.to_owned(),
                name: hosted.name().to_owned(),
                patch: json!({"metadata": {"finalizers": null, "resourceVersion": hosted.resource_version()}}),
            }),
            _ => step.calls.extend(provisioners::remove(link, HOSTED_CLUSTERS, hosted.name())),
        }
    }
    if !step.remains.is_empty() {
        return step;
    }
    for name in [format!("{}-pull", cluster.alias), format!("{}-ssh", cluster.alias)] {
        let found = link.object(SECRETS, &name).filter(|found| is_ours(cluster, found));
        if found.is_some() {
            step.remains.push(format!("Secret {name}"));
            step.calls.extend(provisioners::remove(link, SECRETS, &name));
        }
    }
    step
}

fn is_ours(cluster: &ClusterFacts, object: &Object) -> bool {
    object.label(labels::CLUSTER_ID) == Some(&cluster.id)
}

fn pools_of(cluster: &ClusterFacts, link: &Link) -> Vec<Arc<Object>> {
    link.objects(NODE_POOLS).into_iter().filter(|pool| is_ours(cluster, pool)).collect()
}

/// The number of agents that the pool of a node set selects.
fn selected(cluster: &ClusterFacts, set: &str, link: &Link) -> i32 {
    let is_selected = |agent: &Arc<Object>| {
        is_ours(cluster, agent) && agent.label(labels::NODE_SET) == Some(set) && !agent.is_deleting()
    };
    i32::try_from(link.objects(AGENTS).iter().filter(|agent| is_selected(agent)).count()).unwrap_or_default()
}

/// The node set of a NodePool.
fn set_of<'a>(cluster: &ClusterFacts, pool: &'a Object) -> Option<&'a str> {
    pool.name().strip_prefix(&cluster.alias)?.strip_prefix('-')
}

fn own(cluster: &ClusterFacts) -> Value {
    labels::of(&[(labels::CLUSTER_ID, &cluster.id), (labels::CLUSTER_NAME, &cluster.name)])
}

fn secrets(hub: &HubFacts, cluster: &ClusterFacts, own: &Value) -> Vec<Value> {
    let secret = |name: String, kind: &str, key: &str, value: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": kind,
            "metadata": {"name": name, "namespace": hub.namespace, "labels": own},
            "data": {key: encoded(value)},
        })
    };
    let (pull, ssh) = (format!("{}-pull", cluster.alias), format!("{}-ssh", cluster.alias));
    let credentials = super::prepared::credentials(hub);
    vec![
        secret(pull, "kubernetes.io/dockerconfigjson", ".dockerconfigjson", credentials),
        secret(ssh, "Opaque", "id_rsa.pub", hub.ssh_public_key.trim()),
    ]
}

fn hosted_cluster(
    hub: &HubFacts,
    cluster: &ClusterFacts,
    own: &Value,
    found: Option<&Object>,
) -> Option<Call> {
    let ClusterFacts { alias, domain, .. } = cluster;
    let route = |service: &str| json!({"service": service, "servicePublishingStrategy": {"type": "Route"}});
    let mut spec = json!({
        "controllerAvailabilityPolicy": "SingleReplica",
        "infrastructureAvailabilityPolicy": "SingleReplica",
        "infraID": cluster.id,
        "issuerURL": "https://kubernetes.default.svc",
        "olmCatalogPlacement": "guest",
        "dns": {"baseDomain": domain},
        "etcd": {
            "managementType": "Managed",
            "managed": {"storage": {"type": "PersistentVolume", "persistentVolume": {"size": "8Gi"}}},
        },
        "networking": {
            "networkType": "OVNKubernetes",
            "clusterNetwork": [{"cidr": "10.132.0.0/14"}],
            "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
        },
        "platform": {"type": "Agent", "agent": {"agentNamespace": hub.namespace}},
        "pullSecret": {"name": format!("{alias}-pull")},
        "sshKey": {"name": format!("{alias}-ssh")},
        "release": {"image": cluster.image},
        "services": [
            {"service": "APIServer", "servicePublishingStrategy": {
                "type": "NodePort", "nodePort": {"address": format!("api.{alias}.{domain}"), "port": cluster.port},
            }},
            route("OAuthServer"), route("OIDC"), route("Konnectivity"), route("Ignition"),
        ],
    });
    if domain.is_empty() {
        let address = json!({"address": hub_address(hub), "port": cluster.port});
        spec["services"][0]["servicePublishingStrategy"]["nodePort"] = address;
        spec["dns"] = json!({"baseDomain": "cluster.local"});
    }
    let mut wanted = json!({
        "apiVersion": HYPERSHIFT, "kind": "HostedCluster",
        "metadata": {"name": alias, "namespace": hub.namespace, "labels": own},
        "spec": spec,
    });
    let is_there = found.is_some_and(|found| {
        provisioners::includes(&Value::Object(found.0.clone()), &wanted)
            && found.finalizers().contains(&FINALIZER)
    });
    // Other finalizers are in the same list, so that it is not part of the comparison.
    wanted["metadata"]["finalizers"] = json!([FINALIZER]);
    (!is_there).then_some(Call::Apply(wanted))
}

/// Where the API is reached without names.
fn hub_address(hub: &HubFacts) -> &str {
    &hub.ip
}

fn node_pool(hub: &HubFacts, cluster: &ClusterFacts, set: &str, size: i32, own: &Value) -> Value {
    let selector: BTreeMap<&str, &str> =
        BTreeMap::from([(labels::CLUSTER_ID, cluster.id.as_str()), (labels::NODE_SET, set)]);
    json!({
        "apiVersion": HYPERSHIFT, "kind": "NodePool",
        "metadata": {"name": format!("{}-{set}", cluster.alias), "namespace": hub.namespace, "labels": own},
        "spec": {
            "arch": "amd64",
            "clusterName": cluster.alias,
            "replicas": size,
            "management": {"upgradeType": "Replace"},
            "platform": {"type": "Agent", "agent": {"agentLabelSelector": {"matchLabels": selector}}},
            "release": {"image": cluster.image},
        },
    })
}
