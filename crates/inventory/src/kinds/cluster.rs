//! Cluster: a Kubernetes cluster and where its control plane runs.

use krm::kind::{Declaration, Metadata, Missing, Reference, Resource, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Site, declare_inventory, prints_ready};
use crate::choice::choice;
use crate::{LocalObjectReference, Status};

/// A Kubernetes cluster and where its control plane runs. Nodes and network devices are assigned to it, possibly from
/// several sites. It cannot be deleted while a Node or NetworkDevice refers to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Cluster {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the cluster. Set by users.
    pub spec: ClusterSpec,
    /// Observation state of the cluster. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// The role of a cluster.
    ClusterRole: Compute, Management, Edge, Gateway
}

/// Specification of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.controlPlaneSiteRef == oldSelf.controlPlaneSiteRef", "message": "controlPlaneSiteRef is immutable"},
]))]
pub struct ClusterSpec {
    /// Human-readable name. Must not be empty.
    #[schemars(length(min = 1))]
    pub display_name: String,
    /// Site of the control plane. Immutable. Nodes of the cluster may be at other sites. While the Site does not exist, the
    /// cluster is not Ready (`SiteNotFound`).
    pub control_plane_site_ref: LocalObjectReference,
    /// What the cluster is used for: workloads (`Compute`), management services, edge workloads or network gateways.
    pub role: ClusterRole,
    /// Software or service that manages the cluster, such as `sidero-omni`. Free text; not a reference to a Provider. Must
    /// not be empty.
    #[schemars(length(min = 1))]
    pub provider: String,
    /// URL of the Kubernetes API server. Must begin with `http://` or `https://`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^https?://.+$"))]
    pub endpoint: Option<String>,
}

impl Resource for Cluster {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Cluster";
    const PLURAL: &'static str = "clusters";

    fn declare() -> Declaration<Cluster> {
        let site = Reference::to::<Site>("spec.controlPlaneSiteRef.name");
        let cluster = declare_inventory("vcluster.inventory.miloapis.com", &["Node", "NetworkDevice"])
            .tells_display_name()
            .tells_created(&[Sentence {
                when: "has($.controlPlaneSiteRef)",
                says: "created @ with control plane at site {{ $.controlPlaneSiteRef.name }}",
            }])
            .refers(site.missing(Missing::NotReady("SiteNotFound")))
            .selects(&["spec.controlPlaneSiteRef.name", "spec.role", "spec.provider"])
            .searches(&["spec.displayName", "spec.endpoint"])
            .prints("CP-Site", "string", ".spec.controlPlaneSiteRef.name")
            .prints("Role", "string", ".spec.role")
            .prints("Provider", "string", ".spec.provider")
            .prints_age();
        prints_ready(cluster)
    }
}
