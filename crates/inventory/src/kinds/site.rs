//! Site: a data center, availability zone, edge location or virtual location.

use krm::kind::{Declaration, Metadata, Missing, Reference, Resource, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Provider, Region, declare_inventory, prints_ready};
use crate::choice::choice;
use crate::{LocalObjectReference, Status};

/// A data center, availability zone, edge location or virtual location. It cannot be deleted while a Node, Cluster,
/// NetworkDevice, Circuit or Rack refers to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Site {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the site. Set by users.
    pub spec: SiteSpec,
    /// Observation state of the site. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// The type of a site.
    SiteType: Datacenter, AvailabilityZone, Edge, Virtual
}

/// Specification of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.regionRef == oldSelf.regionRef", "message": "regionRef is immutable"},
]))]
pub struct SiteSpec {
    /// Human-readable name. Must not be empty.
    #[schemars(length(min = 1))]
    pub display_name: String,
    /// Region that contains the site. Immutable. While the Region does not exist, the site is not Ready (`RegionNotFound`).
    pub region_ref: LocalObjectReference,
    /// Type of location. Copied to the label `topology.inventory.miloapis.com/site-type` of everything at the site.
    #[serde(rename = "type")]
    pub kind: SiteType,
    /// Postal address. Free text, not validated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Provider that operates the site. While the Provider does not exist, the site is not Ready (`ProviderNotFound`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<LocalObjectReference>,
}

impl Resource for Site {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Site";
    const PLURAL: &'static str = "sites";

    fn declare() -> Declaration<Site> {
        let region = Reference::to::<Region>("spec.regionRef.name");
        let provider = Reference::to::<Provider>("spec.providerRef.name");
        let order = &["Node", "Cluster", "NetworkDevice", "Circuit", "Rack"];
        let site = declare_inventory("vsite.inventory.miloapis.com", order)
            .tells_display_name()
            .tells_created(&[Sentence {
                when: "has($.regionRef)",
                says: "created @ in region {{ $.regionRef.name }}",
            }])
            .refers(region.missing(Missing::NotReady("RegionNotFound")))
            .refers(provider.missing(Missing::NotReady("ProviderNotFound")))
            .selects(&["spec.regionRef.name", "spec.providerRef.name", "spec.type"])
            .searches(&["spec.displayName", "spec.address"])
            .prints("Region", "string", ".spec.regionRef.name")
            .prints("Provider", "string", ".spec.providerRef.name")
            .prints("Type", "string", ".spec.type")
            .prints_age()
            .answers("impact", "Impact", crate::questions::impact::answer("Site"));
        prints_ready(site)
    }
}
