//! Cluster: the footprint of a Kubernetes cluster.

use krm::kind::{Declaration, Metadata, Missing, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{inventoried, prints_ready};
use crate::choice::choice;
use crate::{LocalObjectReference, Status};

/// The footprint of a Kubernetes cluster.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Cluster {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: ClusterSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// What a cluster is for.
    ClusterRole: Compute, Management, Edge, Gateway
}

/// What a cluster is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.controlPlaneSiteRef == oldSelf.controlPlaneSiteRef", "message": "controlPlaneSiteRef is immutable"},
]))]
pub struct ClusterSpec {
    /// What people call it.
    #[schemars(length(min = 1))]
    pub display_name: String,
    /// Where its control plane is; its nodes may be elsewhere.
    pub control_plane_site_ref: LocalObjectReference,
    /// What it is for.
    pub role: ClusterRole,
    /// What runs it, such as `sidero-omni`: free text, not a Provider.
    #[schemars(length(min = 1))]
    pub provider: String,
    /// Where its API is.
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
        let site = Reference::at("spec.controlPlaneSiteRef.name", super::GROUP, "sites");
        let cluster = inventoried("vcluster.inventory.miloapis.com", &["Node", "NetworkDevice"])
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
