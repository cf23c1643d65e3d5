//! Region: a part of the world that sites are in.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{inventoried, prints_ready};
use crate::Status;
use crate::questions::tree;

/// A part of the world that sites are in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: RegionSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// What a region is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegionSpec {
    /// What people call it.
    #[schemars(length(min = 1))]
    pub display_name: String,
    /// Where its middle is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<Coordinates>,
}

/// A place on the globe, in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.latitude >= -90.0 && self.latitude <= 90.0", "message": "latitude must be between -90 and 90 degrees"},
    {"rule": "self.longitude >= -180.0 && self.longitude <= 180.0", "message": "longitude must be between -180 and 180 degrees"},
]))]
pub struct Coordinates {
    /// North of the equator.
    pub latitude: f64,
    /// East of Greenwich.
    pub longitude: f64,
}

impl Resource for Region {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Region";
    const PLURAL: &'static str = "regions";

    fn declare() -> Declaration<Region> {
        let region = inventoried("vregion.inventory.miloapis.com", &["Site"])
            .searches(&["spec.displayName"])
            .prints("Display", "string", ".spec.displayName")
            .prints_age()
            .answers("tree", "InventoryTree", tree::answer_tree)
            .answers("summary", "InventorySummary", tree::answer_summary);
        prints_ready(region)
    }
}
