//! Link: what connects two assets, physically or logically, and how well.

use krm::kind::{Declaration, Metadata, OnDelete, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{inventoried, prints_ready};
use crate::choice::choice;
use crate::{AssetReference, LocalObjectReference, Quantity, Status};

/// What connects two assets, and how well.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: LinkSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// What a link is made of.
    LinkType: Physical, Logical, Internet
}

/// What a link is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.endpoints[0] != self.endpoints[1]", "message": "link endpoints must be distinct"},
]))]
pub struct LinkSpec {
    /// What it connects.
    #[schemars(length(equal = 2), extend("x-kubernetes-list-type" = "atomic"))]
    pub endpoints: Vec<AssetReference>,
    /// What it is made of.
    #[serde(rename = "type")]
    pub kind: LinkType,
    /// What it carries, in megabits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub capacity_mbps: Option<i64>,
    /// How long it takes one way, in milliseconds: `250m` is a quarter of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Quantity>,
    /// The cables that it runs over.
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
        // What a link ends at may go: the link then says so. It tells of a connection, and holds nothing in place.
        let end = |plural, kind, says| {
            let end = Reference::at("spec.endpoints[].name", super::GROUP, plural);
            end.when_kind(kind).absent(says).on_delete(OnDelete::NotReady("EndpointNotFound"))
        };
        let cable = Reference::at("spec.cableRefs[].name", super::GROUP, "cables");
        let link = inventoried("vlink.inventory.miloapis.com", &[])
            .refers(end("sites", "Site", "endpoint Site/{} not found"))
            .refers(end("clusters", "Cluster", "endpoint Cluster/{} not found"))
            .refers(end("networkdevices", "NetworkDevice", "endpoint NetworkDevice/{} not found"))
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
