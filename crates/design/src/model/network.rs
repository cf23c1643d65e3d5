//! Network: a subnet with its VLAN, addresses, routes and name servers.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{
    DocumentRef, Field, Set,
    section::{Reading, Section},
};

/// Labels; a value may be left empty.
pub type Labels = IndexMap<String, Field<String>>;

/// A subnet.
#[derive(Clone, Debug)]
pub struct Network {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// The subnet, as written.
    pub cidr: Set<String>,
    /// The VLAN tag; none is untagged.
    pub vlan: Field<String>,
    /// The largest packet.
    pub mtu: Field<i64>,
    /// The route domain it belongs to.
    pub routedomain: Field<String>,
    /// DNS domain. Defaults to `local`.
    pub dns_domain: Field<String>,
    /// Name servers, comma-separated.
    pub dns_servers: Field<String>,
    /// Domains that short names are looked for in, after the network's own; our own dialect only.
    pub dns_search: Vec<Set<String>>,
    /// Address ranges.
    pub ranges: Vec<Range>,
    /// Static routes.
    pub routes: Vec<Route>,
    /// Where DHCP requests are relayed to.
    pub dhcp_relay: Option<DhcpRelay>,
    /// Labels.
    pub labels: Labels,
}

/// A range of addresses and its use.
#[derive(Clone, Debug)]
pub struct Range {
    /// `static`, `dhcp` or `reserved`.
    pub kind: Field<String>,
    /// The first address.
    pub start: Field<String>,
    /// The last address.
    pub end: Field<String>,
}

/// A static route, or with a route domain instead of a subnet the template of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Where to.
    pub subnet: Option<String>,
    /// By which neighbour.
    pub gateway: Option<String>,
    /// How dear it is.
    pub metric: Option<String>,
    /// The route domain it opens.
    pub routedomain: Option<String>,
}

/// Where DHCP requests go.
#[derive(Clone, Debug)]
pub struct DhcpRelay {
    /// The relay's own address.
    pub self_ip: Field<String>,
    /// The server.
    pub upstream_target: Field<String>,
}

const FIELDS: [&str; 9] =
    ["cidr", "vlan", "mtu", "routedomain", "dns", "ranges", "routes", "dhcp_relay", "labels"];

impl Network {
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Option<Self> {
        data.only(reading, &FIELDS);
        let dns = data.section(reading, "dns");
        if let Some(dns) = &dns {
            let more: &[&str] = if reading.is_extended() { &["search"] } else { &[] };
            dns.only(reading, &["domain", "servers"].iter().chain(more).copied().collect::<Vec<_>>());
        }
        let ranges = data.sections(reading, "ranges").unwrap_or_default();
        let routes = data.sections(reading, "routes").unwrap_or_default();
        let relay = data.section(reading, "dhcp_relay");
        if !data.has("cidr") {
            reading.missing(&data.at, "cidr", "`cidr` is required".to_owned());
        }
        let (vlan, mtu) = (data.text(reading, "vlan"), data.integer(reading, "mtu"));
        let ranges = ranges.iter().map(|range| Range::read(reading, range)).collect();
        let routes = routes.iter().map(|route| Route::read(reading, route)).collect();
        let dhcp_relay = relay.map(|relay| DhcpRelay::read(reading, &relay));
        let labels = labels(reading, data);
        let routedomain = data.text(reading, "routedomain");
        let dns_domain = dns.as_ref().and_then(|dns| dns.text(reading, "domain"));
        let dns_servers = dns.as_ref().and_then(|dns| servers(reading, dns));
        let dns_search = dns.filter(|_| reading.is_extended()).and_then(|dns| dns.texts(reading, "search"));
        let cidr = data.text(reading, "cidr")?;
        let document = reading.document();
        Some(Self {
            document,
            cidr,
            vlan,
            mtu,
            routedomain,
            dns_domain,
            dns_servers,
            dns_search: dns_search.unwrap_or_default(),
            ranges,
            routes,
            dhcp_relay,
            labels,
        })
    }

    /// The network's name.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// Its name servers, one by one.
    pub fn name_servers(&self) -> impl Iterator<Item = &str> {
        let written = super::text(&self.dns_servers).unwrap_or_default();
        written.split([',', ' ']).map(str::trim).filter(|server| !server.is_empty())
    }

    /// The domain its hosts are named in.
    pub fn domain(&self) -> &str {
        super::text(&self.dns_domain).filter(|domain| !domain.is_empty()).unwrap_or("local")
    }
}

/// One text with commas, or in our own dialect a list.
fn servers(reading: &mut Reading, dns: &Section) -> Field<String> {
    let is_list = dns.raw("servers").is_some_and(|node| node.value.as_list().is_some());
    if !is_list || !reading.is_extended() {
        return dns.text(reading, "servers");
    }
    let list = dns.texts(reading, "servers")?;
    let first = list.first()?.clone();
    Some(first.map(|_| super::values(&list).collect::<Vec<_>>().join(",")))
}

impl Range {
    fn read(reading: &mut Reading, range: &Section) -> Self {
        range.only(reading, &["type", "start", "end"]);
        Self {
            kind: range.text(reading, "type"),
            start: range.text(reading, "start"),
            end: range.text(reading, "end"),
        }
    }
}

impl Route {
    fn read(reading: &mut Reading, route: &Section) -> Self {
        route.only(reading, &["subnet", "gateway", "metric", "routedomain"]);
        let mut text = |key| route.text(reading, key).map(|set| set.value);
        let (subnet, gateway, routedomain) = (text("subnet"), text("gateway"), text("routedomain"));
        let metric = route.number_text(reading, "metric").map(|metric| metric.value);
        Self { subnet, gateway, metric, routedomain }
    }
}

impl DhcpRelay {
    fn read(reading: &mut Reading, relay: &Section) -> Self {
        relay.only(reading, &["self_ip", "upstream_target"]);
        Self {
            self_ip: relay.text(reading, "self_ip"),
            upstream_target: relay.text(reading, "upstream_target"),
        }
    }
}

/// The `labels` of a link or network.
pub(super) fn labels(reading: &mut Reading, data: &Section) -> Labels {
    let mut labels = Labels::new();
    let Some(section) = data.section(reading, "labels") else { return labels };
    for (name, node) in section.members(reading) {
        let path = section.path_of(&name.value);
        let value = if node.value.is_null() { None } else { reading.coerced(node, &path) };
        labels.insert(name.value, value);
    }
    labels
}
