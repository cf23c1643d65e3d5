//! BaremetalNode: one host, with what is its own and what it inherits.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::host::{HostSettings, asked_by};

/// One host of the site.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BaremetalNode {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: BaremetalNodeSpec,
}

/// What is the host's own; the rest it inherits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaremetalNodeSpec {
    /// Its addresses; never inherited.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub addressing: Option<Vec<Addressing>>,
    /// What else it says.
    #[serde(flatten)]
    pub host: HostSettings,
}

/// An address on a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Addressing {
    /// The network.
    pub network: Option<String>,
    /// The address, or `dhcp`.
    pub address: Option<String>,
}

impl Resource for BaremetalNode {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "BaremetalNode";
    const PLURAL: &'static str = "baremetalnodes";

    fn declare() -> Declaration<BaremetalNode> {
        asked_by(document().short(&["bmn"]))
            .selects(&["spec.metadata.boot_mac"])
            .searches(&["spec.metadata.boot_mac"])
            .prints("Rack", "string", ".spec.metadata.rack")
            .prints("Addresses", "string", ".spec.addressing[*].address")
            .prints_wide("Boot-MAC", "string", ".spec.metadata.boot_mac")
            .prints_wide("Tags", "string", ".spec.metadata.tags[*]")
            .prints_age()
    }
}
