//! NetworkLink: bonding, trunking and allowed networks of ports.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::composition::Composition;
use super::document;

/// Bonding, trunking, MTU and allowed networks of ports, which switch and host must agree on. Interfaces name it in
/// `device_link`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NetworkLink {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the link document. Set by users or "groundplane design import".
    pub spec: NetworkLinkSpec,
}

/// Content of a network link document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkLinkSpec {
    /// Bonding (link aggregation) of the ports.
    pub bonding: Option<Bonding>,
    /// Maximum transmission unit (MTU) in bytes, 1280 to 65536. Defaults to 1500.
    pub mtu: Option<i64>,
    /// Link speed, such as `auto` or `10000baset-x`. Informational.
    pub linkspeed: Option<String>,
    /// VLAN trunking of the ports.
    pub trunking: Option<Trunking>,
    /// Names of the networks that interfaces on this link may carry.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub allowed_networks: Option<Vec<String>>,
    /// Free labels. `noconfig: enabled` excludes the link from configuration by drivers.
    pub labels: Option<BTreeMap<String, Option<String>>>,
    /// Layers, substitutions and secret values.
    #[serde(flatten)]
    pub composition: Composition,
}

/// Bonding parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bonding {
    /// Bonding mode: `disabled`, `802.3ad`, `balance-rr` or `active-backup`.
    pub mode: Option<String>,
    /// Transmit hash policy. Only for `802.3ad`. Defaults to `layer3+4`.
    pub hash: Option<String>,
    /// LACP rate. Only for `802.3ad`. Defaults to `fast`.
    pub peer_rate: Option<String>,
    /// Link monitoring interval (MII), in milliseconds. Defaults to 100.
    pub mon_rate: Option<i64>,
    /// Delay before a port that came up is used, in milliseconds. Defaults to 200. Must not be less than `mon_rate` for
    /// `802.3ad`.
    pub up_delay: Option<i64>,
    /// Delay before a port that went down is disabled, in milliseconds. Defaults to 200. Must not be less than `mon_rate`
    /// for `802.3ad`.
    pub down_delay: Option<i64>,
}

/// VLAN trunking parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trunking {
    /// Trunking mode: `disabled` or `802.1q`. More than one network needs `802.1q`.
    pub mode: Option<String>,
    /// Name of the network that is carried untagged (native VLAN).
    pub default_network: Option<String>,
}

impl Resource for NetworkLink {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "NetworkLink";
    const PLURAL: &'static str = "networklinks";

    fn declare() -> Declaration<NetworkLink> {
        document()
            .selects(&["spec.bonding.mode", "spec.trunking.mode", "spec.trunking.default_network"])
            .prints("Bonding", "string", ".spec.bonding.mode")
            .prints("Trunking", "string", ".spec.trunking.mode")
            .prints("Native", "string", ".spec.trunking.default_network")
            .prints("Networks", "string", ".spec.allowed_networks[*]")
            .prints_age()
    }
}
