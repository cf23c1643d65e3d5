//! Network: a subnet with its VLAN, addresses, routes and name servers.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::substitution::Substitution;

/// A subnet of the site.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: NetworkSpec,
}

/// What a network is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkSpec {
    /// The subnet.
    pub cidr: Option<String>,
    /// The VLAN tag; none is untagged.
    pub vlan: Option<String>,
    /// The largest packet.
    pub mtu: Option<i64>,
    /// The route domain it belongs to.
    pub routedomain: Option<String>,
    /// Names of hosts whose primary network it is.
    pub dns: Option<Dns>,
    /// What its addresses are for.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub ranges: Option<Vec<Range>>,
    /// Static routes.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub routes: Option<Vec<Route>>,
    /// Where DHCP requests are relayed to.
    pub dhcp_relay: Option<DhcpRelay>,
    /// Labels.
    pub labels: Option<BTreeMap<String, Option<String>>>,
    /// What is taken from other documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
}

/// Names of hosts whose primary network it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dns {
    /// Their domain; `local` unless said.
    pub domain: Option<String>,
    /// The servers they ask.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub servers: Option<Vec<String>>,
    /// Where they look for short names, after the domain.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub search: Option<Vec<String>>,
}

/// A range of addresses and its use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// `static`, `dhcp` or `reserved`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The first address.
    pub start: Option<String>,
    /// The last address.
    pub end: Option<String>,
}

/// A static route, or with a route domain instead of a subnet the template of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Route {
    /// Where to.
    pub subnet: Option<String>,
    /// By which neighbour.
    pub gateway: Option<String>,
    /// How dear it is.
    pub metric: Option<f64>,
    /// The route domain it opens.
    pub routedomain: Option<String>,
}

/// Where DHCP requests go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DhcpRelay {
    /// The relay's own address.
    pub self_ip: Option<String>,
    /// The server.
    pub upstream_target: Option<String>,
}

impl Resource for Network {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Network";
    const PLURAL: &'static str = "networks";

    fn declare() -> Declaration<Network> {
        document()
            .selects(&["spec.cidr", "spec.vlan", "spec.routedomain", "spec.dns.domain"])
            .searches(&["spec.cidr", "spec.vlan", "spec.dns.domain"])
            .prints("CIDR", "string", ".spec.cidr")
            .prints("VLAN", "string", ".spec.vlan")
            .prints("Domain", "string", ".spec.dns.domain")
            .prints_wide("Servers", "string", ".spec.dns.servers[*]")
            .prints_wide("Route-Domain", "string", ".spec.routedomain")
            .prints_age()
    }
}
