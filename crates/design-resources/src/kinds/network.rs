//! Network: a subnet with its VLAN, addresses, routes and name servers.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::composition::Composition;
use super::document;

/// A subnet of the site with its VLAN, address ranges, routes and DNS.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the network document. Set by users or "groundplane design import".
    pub spec: NetworkSpec,
}

/// Content of a network document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkSpec {
    /// Subnet in CIDR notation, such as `172.16.1.0/24`.
    pub cidr: Option<String>,
    /// VLAN id, 1 to 4094. Unset means untagged.
    pub vlan: Option<String>,
    /// Maximum transmission unit (MTU) in bytes, 1280 to 65536. Must not exceed that of the link on which the network is
    /// untagged.
    pub mtu: Option<i64>,
    /// Route domain of the network. Networks of a route domain get routes to each other.
    pub routedomain: Option<String>,
    /// DNS settings of hosts whose primary network it is.
    pub dns: Option<Dns>,
    /// Address ranges and their use.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub ranges: Option<Vec<Range>>,
    /// Static routes of hosts on the network.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub routes: Option<Vec<Route>>,
    /// DHCP relay of the network.
    pub dhcp_relay: Option<DhcpRelay>,
    /// Free labels of the network, as key-value pairs.
    pub labels: Option<BTreeMap<String, Option<String>>>,
    /// Layers, substitutions and secret values.
    #[serde(flatten)]
    pub composition: Composition,
}

/// DNS settings of a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dns {
    /// DNS domain of the hosts. Defaults to `local`.
    pub domain: Option<String>,
    /// IP addresses of the DNS servers.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub servers: Option<Vec<String>>,
    /// Additional search domains, after `domain`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub search: Option<Vec<String>>,
}

/// An address range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// Use of the range: `static`, `dhcp` or `reserved`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// First address of the range. Must be within the subnet.
    pub start: Option<String>,
    /// Last address of the range. Must be within the subnet.
    pub end: Option<String>,
}

/// A static route. With `routedomain` instead of `subnet`, one route per network of that domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Route {
    /// Destination subnet in CIDR notation.
    pub subnet: Option<String>,
    /// IP address of the gateway. Must be within the network's subnet.
    pub gateway: Option<String>,
    /// Metric of the route. Lower is preferred.
    pub metric: Option<f64>,
    /// Route domain whose networks are the destinations. Alternative to `subnet`.
    pub routedomain: Option<String>,
}

/// DHCP relay settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DhcpRelay {
    /// IP address of the relay on the network.
    pub self_ip: Option<String>,
    /// IP address of the DHCP server.
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
