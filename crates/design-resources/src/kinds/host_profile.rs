//! HostProfile: settings that several hosts share, by inheritance.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::host::{HostSettings, asked_by};

/// Settings that several hosts share.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HostProfile {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: HostProfileSpec,
}

/// What hosts of this profile come to, as far as it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostProfileSpec {
    /// What it says of a host.
    #[serde(flatten)]
    pub host: HostSettings,
}

impl Resource for HostProfile {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "HostProfile";
    const PLURAL: &'static str = "hostprofiles";

    fn declare() -> Declaration<HostProfile> {
        asked_by(document().short(&["hop"]))
            .prints("Image", "string", ".spec.platform.image")
            .prints_wide("Network", "string", ".spec.primary_network")
            .prints_wide("Tags", "string", ".spec.metadata.tags[*]")
            .prints_age()
    }
}
