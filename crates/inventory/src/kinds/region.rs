//! Region: a geographic area that contains sites.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{declare_inventory, prints_ready};
use crate::Status;
use crate::questions::tree;

/// A geographic area that contains sites. It cannot be deleted while a Site refers to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the region. Set by users.
    pub spec: RegionSpec,
    /// Observation state of the region. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// Specification of a region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegionSpec {
    /// Human-readable name. Must not be empty.
    #[schemars(length(min = 1))]
    pub display_name: String,
    /// Geographic center of the region, in degrees. Informational.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<Coordinates>,
}

/// A geographic position, in decimal degrees (WGS 84).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.latitude >= -90.0 && self.latitude <= 90.0", "message": "latitude must be between -90 and 90 degrees"},
    {"rule": "self.longitude >= -180.0 && self.longitude <= 180.0", "message": "longitude must be between -180 and 180 degrees"},
]))]
pub struct Coordinates {
    /// Latitude in decimal degrees, from -90 (south) to 90 (north).
    pub latitude: f64,
    /// Longitude in decimal degrees, from -180 (west) to 180 (east).
    pub longitude: f64,
}

impl Resource for Region {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Region";
    const PLURAL: &'static str = "regions";

    fn declare() -> Declaration<Region> {
        let region = declare_inventory("vregion.inventory.miloapis.com", &["Site"])
            .tells_display_name()
            .searches(&["spec.displayName"])
            .prints("Display", "string", ".spec.displayName")
            .prints_age()
            .answers("impact", "Impact", crate::questions::impact::answer("Region"))
            .answers("tree", "InventoryTree", tree::answer_tree)
            .answers("summary", "InventorySummary", tree::answer_summary);
        prints_ready(region)
    }
}
