//! ClusterPlacement: where a tenant's cluster is hosted, in the root, where tenants don't see it.

use std::collections::BTreeMap;

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{
    Bucket, Change, Declaration, Metadata, Planes, Reference, Refusal, Resource, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dns_zone::DnsZone;
use super::hub::Hub;

/// Bucket of the placements with a port on a hub, as `HUB/PORT`.
pub const PORT: Bucket = Bucket::new("fulfillment.groundplane.dev/hub-port");
/// Bucket of the placements with an alias.
pub const ALIAS: Bucket = Bucket::new("fulfillment.groundplane.dev/cluster-alias");

/// Where a tenant's cluster is hosted: its hub, and its alias and port there. It is in the root, so that tenants learn nothing of
/// hubs. The Cluster of the private fulfillment API shows it as `status.hub`, `status.alias` and `status.port`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClusterPlacement {
    /// Standard object metadata. The name is the identifier of the cluster: the uid of the Cluster, or its `id` if that is set.
    pub metadata: Metadata,
    /// Specification of the placement. Set by the cluster controller.
    pub spec: ClusterPlacementSpec,
    /// Observed state of the cluster on its hub. Set by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ClusterPlacementStatus>,
}

/// Specification of a placement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterPlacementSpec {
    /// Name of the project of the cluster.
    #[schemars(length(min = 1, max = 63))]
    pub project: String,
    /// Name of the Cluster in its project.
    #[schemars(length(min = 1, max = 253))]
    pub cluster: String,
    /// Name of the Hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub hub: Option<String>,
    /// Short name of the cluster in the hub and in DNS, a DNS label. Unique among all placements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub alias: Option<String>,
    /// Port of the cluster's API on the hub. Unique among the placements on the hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<i32>,
    /// Name of the DNSZone that the names of the cluster are in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub zone: Option<String>,
    /// Whether the cluster is to be removed from its hub. The placement goes once nothing of the cluster is left there and in DNS;
    /// until then it keeps alias and port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<bool>,
}

/// Observed state of a cluster on its hub.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterPlacementStatus {
    /// Conditions of the placement. `Available` is `True` while the control plane can be used, `Resolves` while all names of the
    /// cluster resolve at the authoritative server, `Removed` is `False` while something of a retired cluster is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
    /// Host name of the cluster's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub api_host: Option<String>,
    /// Port of the cluster's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub api_port: Option<i32>,
    /// Host name of the cluster's console.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub console_host: Option<String>,
    /// Image of the release that the control plane and all node sets run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub image: Option<String>,
    /// Number of nodes of each node set, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 64))]
    pub nodes: BTreeMap<String, i32>,
    /// What is left of a retired cluster, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub remains: Vec<String>,
}

impl Resource for ClusterPlacement {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ClusterPlacement";
    const PLURAL: &'static str = "clusterplacements";

    fn declare() -> Declaration<ClusterPlacement> {
        Declaration::cluster()
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .status()
            .refers(Reference::to::<Hub>("spec.hub").tie("hosted on it"))
            .refers(Reference::to::<DnsZone>("spec.zone").tie("its names are in it"))
            .selects(&["spec.project", "spec.cluster", "spec.hub", "spec.alias"])
            .prints("Project", "string", ".spec.project")
            .prints("Cluster", "string", ".spec.cluster")
            .prints("Hub", "string", ".spec.hub")
            .prints("Alias", "string", ".spec.alias")
            .prints("Port", "integer", ".spec.port")
            .prints_age()
            .bucket(PORT, |placement: &ClusterPlacement| placement.port().into_iter().collect())
            .bucket(ALIAS, |placement: &ClusterPlacement| placement.spec.alias.clone().into_iter().collect())
            .validate(has_a_short_name)
            .rule(shares_nothing)
    }
}

impl ClusterPlacement {
    fn port(&self) -> Option<String> {
        Some(format!("{}/{}", self.spec.hub.as_ref()?, self.spec.port?))
    }
}

fn has_a_short_name(change: &Change<ClusterPlacement>) -> Vec<FieldError> {
    let Some(placement) = change.after() else { return Vec::new() };
    let Some(alias) = &placement.spec.alias else { return Vec::new() };
    let spec = Path::of("spec");
    let wrong = krm::names::dns1123_label(alias).into_iter();
    wrong.map(|why| FieldError::invalid_text(&spec.field("alias"), alias, why)).collect()
}

/// No two clusters have the same port on a hub, or the same alias.
fn shares_nothing(change: &Change<ClusterPlacement>, view: &mut View<'_>) -> Verdict {
    let Some(placement) = change.after() else { return allow() };
    let mine = [(PORT, "port", placement.port()), (ALIAS, "alias", placement.spec.alias.clone())];
    for (bucket, what, value) in mine {
        let Some(value) = value else { continue };
        let others = view.bucket_of::<ClusterPlacement>(bucket, &value);
        if let Some(other) = others.iter().find(|other| other.metadata.name != placement.metadata.name) {
            let name = &other.metadata.name;
            return Err(Refusal::Conflict(format!("cluster {name} has the {what} {value}")));
        }
    }
    allow()
}
