//! Link: a physical or logical network connection between two assets.

use krm::kind::{Declaration, Metadata, OnDelete, Reference, Resource, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cable, Cluster, NetworkDevice, Site, declare_inventory, prints_ready, resolves_endpoints};
use crate::choice::choice;
use crate::{AssetReference, LocalObjectReference, Quantity, Status};

/// A network connection between two sites, clusters or network devices, with its capacity and latency. A link does not
/// block the deletion of its endpoints: it becomes not Ready (`EndpointNotFound`) instead.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the link. Set by users.
    pub spec: LinkSpec,
    /// Observation state of the link. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// The type of a link.
    LinkType: Physical, Logical, Internet
}

/// Specification of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.endpoints[0] != self.endpoints[1]", "message": "link endpoints must be distinct"},
]))]
pub struct LinkSpec {
    /// The two assets that the link connects. Exactly two, which must exist and differ.
    #[schemars(length(equal = 2), extend("x-kubernetes-list-type" = "atomic"))]
    pub endpoints: Vec<AssetReference>,
    /// Type of connection: `Physical` (over cables), `Logical` (such as a tunnel or VLAN) or `Internet` (over public
    /// networks).
    #[serde(rename = "type")]
    pub kind: LinkType,
    /// Capacity in megabits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub capacity_mbps: Option<i64>,
    /// One-way latency in milliseconds, as a Kubernetes quantity: `3` is 3 ms, `250m` is 0.25 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Quantity>,
    /// Cables that carry the link. They must exist, and cannot be deleted while the link refers to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub cable_refs: Vec<LocalObjectReference>,
}

impl Resource for Link {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Link";
    const PLURAL: &'static str = "links";

    fn declare() -> Declaration<Link> {
        // Deleting an endpoint is allowed: a link records a connection, so it becomes not Ready and blocks nothing.
        fn end<T: Resource>(says: &'static str) -> Reference {
            let end = Reference::to::<T>("spec.endpoints[].name");
            let end = end.when_kind(T::KIND).absent(says).unresolved(says);
            resolves_endpoints(end).on_delete(OnDelete::NotReady("EndpointNotFound"))
        }
        let cable = Reference::to::<Cable>("spec.cableRefs[].name");
        let link = declare_inventory("vlink.inventory.miloapis.com", &[])
            .tells_created(&[Sentence { when: "has($.type)", says: "created {{ $.type }} @" }])
            .refers(end::<Site>("endpoint Site/{} not found"))
            .refers(end::<Cluster>("endpoint Cluster/{} not found"))
            .refers(end::<NetworkDevice>("endpoint NetworkDevice/{} not found"))
            .refers(cable.absent("referenced Cable {} not found"))
            .selects(&["spec.endpoints.name", "spec.endpoints.kind", "spec.type", "spec.cableRefs.name"])
            .searches(&["spec.endpoints.name"])
            .prints("A-Kind", "string", ".spec.endpoints[0].kind")
            .prints("A-Name", "string", ".spec.endpoints[0].name")
            .prints("B-Kind", "string", ".spec.endpoints[1].kind")
            .prints("B-Name", "string", ".spec.endpoints[1].name")
            .prints("Type", "string", ".spec.type")
            .prints("Mbps", "integer", ".spec.capacityMbps")
            .prints("Latency", "string", ".spec.latencyMs")
            .prints_age();
        prints_ready(link)
    }
}
