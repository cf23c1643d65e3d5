//! Site: a facility, an availability zone, an edge or virtual location.

use krm::kind::{Declaration, Metadata, Missing, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{inventoried, prints_ready};
use crate::choice::choice;
use crate::{LocalObjectReference, Status};

/// A facility, an availability zone, an edge or virtual location.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Site {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: SiteSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// What a site is.
    SiteType: Datacenter, AvailabilityZone, Edge, Virtual
}

/// What a site is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.regionRef == oldSelf.regionRef", "message": "regionRef is immutable"},
]))]
pub struct SiteSpec {
    /// What people call it.
    #[schemars(length(min = 1))]
    pub display_name: String,
    /// The region it is in.
    pub region_ref: LocalObjectReference,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: SiteType,
    /// Where letters and trucks go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<LocalObjectReference>,
}

impl Resource for Site {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Site";
    const PLURAL: &'static str = "sites";

    fn declare() -> Declaration<Site> {
        let region = Reference::at("spec.regionRef.name", super::GROUP, "regions");
        let provider = Reference::at("spec.providerRef.name", super::GROUP, "providers");
        let order = &["Node", "Cluster", "NetworkDevice", "Circuit", "Rack"];
        let site = inventoried("vsite.inventory.miloapis.com", order)
            .refers(region.missing(Missing::NotReady("RegionNotFound")))
            .refers(provider.missing(Missing::NotReady("ProviderNotFound")))
            .selects(&["spec.regionRef.name", "spec.providerRef.name", "spec.type"])
            .searches(&["spec.displayName", "spec.address"])
            .prints("Region", "string", ".spec.regionRef.name")
            .prints("Provider", "string", ".spec.providerRef.name")
            .prints("Type", "string", ".spec.type")
            .prints_age();
        prints_ready(site)
    }
}
