//! HostProfile: settings that hosts inherit.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::host::{HostSettings, declare_host};

/// Settings that nodes and other host profiles inherit by naming it in `host_profile`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HostProfile {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the host profile document. Set by users or "groundplane design import".
    pub spec: HostProfileSpec,
}

/// Content of a host profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostProfileSpec {
    /// Host settings that nodes and other profiles inherit.
    #[serde(flatten)]
    pub host: HostSettings,
}

impl Resource for HostProfile {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "HostProfile";
    const PLURAL: &'static str = "hostprofiles";

    fn declare() -> Declaration<HostProfile> {
        declare_host(document().short(&["hop"]))
            .prints("Image", "string", ".spec.platform.image")
            .prints_wide("Network", "string", ".spec.primary_network")
            .prints_wide("Tags", "string", ".spec.metadata.tags[*]")
            .prints_age()
    }
}
