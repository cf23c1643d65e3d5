//! BaremetalNode: one host, with its own settings and those it inherits.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::host::{HostSettings, declare_host};

/// One physical host of the site. It inherits from its host profile and hardware profile.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BaremetalNode {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the node document. Set by users or "groundplane design import".
    pub spec: BaremetalNodeSpec,
}

/// Content of a node document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaremetalNodeSpec {
    /// Addresses of the host, at most one per network. Not inherited.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub addressing: Option<Vec<Addressing>>,
    /// Host settings. Values set here override inherited ones.
    #[serde(flatten)]
    pub host: HostSettings,
}

/// Address of a host on a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Addressing {
    /// Name of the Network document.
    pub network: Option<String>,
    /// IP address within the network, or `dhcp`.
    pub address: Option<String>,
}

impl Resource for BaremetalNode {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "BaremetalNode";
    const PLURAL: &'static str = "baremetalnodes";

    fn declare() -> Declaration<BaremetalNode> {
        declare_host(document().short(&["bmn"]))
            .selects(&["spec.metadata.boot_mac"])
            .searches(&["spec.metadata.boot_mac"])
            .prints("Rack", "string", ".spec.metadata.rack")
            .prints("Addresses", "string", ".spec.addressing[*].address")
            .prints_wide("Boot-MAC", "string", ".spec.metadata.boot_mac")
            .prints_wide("Tags", "string", ".spec.metadata.tags[*]")
            .prints_age()
    }
}
