//! BaremetalNode: one host, with what is its own and what it inherits.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::host::{Interface, Notes, Platform, RaidVolume, Storage, asked_by};
use super::substitution::{SecretKey, Substitution};

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
    /// The profile it inherits from.
    pub host_profile: Option<String>,
    /// The model of machine.
    pub hardware_profile: Option<String>,
    /// The network that gives the host its name and default route.
    pub primary_network: Option<String>,
    /// Its addresses; never inherited.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub addressing: Option<Vec<Addressing>>,
    /// How its BMC is spoken to: `type`, `network`, `account` and whatever the type needs. Secrets stand in `oob_secrets`.
    pub oob: Option<BTreeMap<String, String>>,
    /// Which Secrets hold what must not be seen of it, such as `credential`.
    pub oob_secrets: Option<BTreeMap<String, SecretKey>>,
    /// Its storage.
    pub storage: Option<Storage>,
    /// Its operating system.
    pub platform: Option<Platform>,
    /// What is noted about it.
    pub metadata: Option<Notes>,
    /// Its interfaces, in order.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub interfaces: Option<Vec<Interface>>,
    /// The level of each component's firmware: a version, or `>=` and the lowest that will do.
    pub firmware: Option<BTreeMap<String, String>>,
    /// BIOS settings by the names the vendor gives them.
    pub bios_settings: Option<BTreeMap<String, String>>,
    /// Volumes that a RAID controller makes.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub raid: Option<Vec<RaidVolume>>,
    /// The driver packages it needs.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub drivers: Option<Vec<String>>,
    /// What is taken from other documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
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
