//! NetworkLink: how ports are bonded and trunked, and which networks they may carry.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::substitution::Substitution;

/// What a switch and a server have to agree on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NetworkLink {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: NetworkLinkSpec,
}

/// How ports are used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkLinkSpec {
    /// How several ports become one.
    pub bonding: Option<Bonding>,
    /// The largest packet; 1500 unless said.
    pub mtu: Option<i64>,
    /// The speed, for people.
    pub linkspeed: Option<String>,
    /// Whether tagged networks are carried.
    pub trunking: Option<Trunking>,
    /// The networks it may carry.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub allowed_networks: Option<Vec<String>>,
    /// Labels; `noconfig` keeps every driver away from the link.
    pub labels: Option<BTreeMap<String, Option<String>>>,
    /// What is taken from other documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
}

/// How several ports become one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bonding {
    /// `disabled`, `802.3ad`, `balance-rr` or `active-backup`.
    pub mode: Option<String>,
    /// By what traffic is spread; LACP only.
    pub hash: Option<String>,
    /// How often the peer is heard; LACP only.
    pub peer_rate: Option<String>,
    /// How often the ports are looked at, in milliseconds.
    pub mon_rate: Option<i64>,
    /// How long a port waits before it is used, in milliseconds.
    pub up_delay: Option<i64>,
    /// How long a port waits before it is given up, in milliseconds.
    pub down_delay: Option<i64>,
}

/// Whether tagged networks are carried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trunking {
    /// `disabled` or `802.1q`.
    pub mode: Option<String>,
    /// The network that is carried untagged.
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
