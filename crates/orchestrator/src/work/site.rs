//! What all nodes of a site share: networks, keys, repositories, switches.

use design::compile::Site;
use design::model::{self, Design, Network};
use serde::{Deserialize, Serialize};

use super::{list, owned};

/// What all nodes of a site share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteWork {
    /// Links.
    pub links: Vec<LinkWork>,
    /// Networks, with the routes of their domains.
    pub networks: Vec<NetworkWork>,
    /// SSH public keys.
    pub keys: Vec<String>,
    /// Package repositories.
    pub repositories: Vec<RepositoryWork>,
    /// Whether repositories that are not named here are removed.
    pub removes_unlisted: bool,
    /// Switches of racks.
    pub switches: Vec<SwitchWork>,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkWork {
    /// Its name.
    pub name: String,
    /// Largest packet.
    pub mtu: i64,
    /// Whether drivers keep away from it.
    pub is_untouched: bool,
    /// Names of the networks that it may carry.
    pub networks: Vec<String>,
    /// Name of the network that is carried untagged.
    pub native: Option<String>,
}

/// A network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkWork {
    /// Its name.
    pub name: String,
    /// Subnet.
    pub cidr: String,
    /// VLAN id; 0 is untagged.
    pub vlan: i64,
    /// Largest packet.
    pub mtu: Option<i64>,
    /// DNS domain.
    pub domain: String,
    /// DNS servers.
    pub dns_servers: Vec<String>,
    /// Default gateway.
    pub gateway: Option<String>,
    /// Address ranges.
    pub ranges: Vec<RangeWork>,
    /// Static routes, without the default one.
    pub routes: Vec<RouteWork>,
    /// Where DHCP requests are relayed to.
    pub dhcp_relay: Option<String>,
    /// Whether it is not checked afterwards.
    pub is_unchecked: bool,
}

/// A range of addresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RangeWork {
    /// `static`, `dhcp` or `reserved`.
    pub kind: String,
    /// First address.
    pub start: String,
    /// Last address.
    pub end: String,
}

/// A static route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RouteWork {
    /// Destination.
    pub subnet: String,
    /// Gateway.
    pub gateway: String,
    /// Metric.
    pub metric: Option<String>,
}

/// A package repository.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RepositoryWork {
    /// Its name.
    pub name: String,
    /// URL.
    pub url: String,
    /// Distributions.
    pub distributions: Vec<String>,
    /// Components; `None` if they are not limited.
    pub components: Option<Vec<String>>,
    /// Pockets such as `security`; `None` if they are not limited.
    pub pockets: Option<Vec<String>>,
    /// Architectures.
    pub arches: Vec<String>,
    /// Signing key.
    pub key: Option<String>,
}

/// A switch of a rack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SwitchWork {
    /// Name of the rack.
    pub rack: String,
    /// Its name.
    pub name: String,
    /// Management address.
    pub address: Option<String>,
}

impl SiteWork {
    /// What a driver gets to know of a site.
    pub fn of(site: &Site, design: &Design) -> SiteWork {
        let links = design.network_links.iter().map(|link| LinkWork {
            name: link.document.name.clone(),
            mtu: link.mtu,
            is_untouched: link.labels.contains_key("noconfig"),
            networks: list(&link.allowed_networks),
            native: owned(&link.native_network),
        });
        let region = design.region.as_ref();
        let repositories = region.and_then(|region| region.repositories.as_ref());
        let switches = design.racks.iter().flat_map(|rack| {
            rack.tor_switches.iter().map(|switch| SwitchWork {
                rack: rack.document.name.clone(),
                name: switch.name.value.clone(),
                address: owned(&switch.mgmt_ip),
            })
        });
        SiteWork {
            links: links.collect(),
            networks: site.networks.iter().map(|network| network_work(network)).collect(),
            keys: region.map(|region| list(&region.authorized_keys)).unwrap_or_default(),
            repositories: repositories.iter().flat_map(|all| all.list.iter().map(repository)).collect(),
            removes_unlisted: repositories.is_some_and(|all| all.remove_unlisted),
            switches: switches.collect(),
        }
    }
}

/// The default gateway of a network: that of its first route to everywhere.
pub fn gateway(network: &Network) -> Option<String> {
    let mut routes = network.routes.iter();
    routes.find(|route| route.subnet.as_deref() == Some("0.0.0.0/0"))?.gateway.clone()
}

fn network_work(network: &Network) -> NetworkWork {
    let routes = network.routes.iter().filter(|route| route.subnet.as_deref() != Some("0.0.0.0/0"));
    NetworkWork {
        name: network.name().to_owned(),
        cidr: network.cidr.value.clone(),
        vlan: model::text(&network.vlan).and_then(|vlan| vlan.parse().ok()).unwrap_or(0),
        mtu: network.mtu.as_ref().map(|mtu| mtu.value),
        domain: network.domain().to_owned(),
        dns_servers: network.name_servers().map(str::to_owned).collect(),
        gateway: gateway(network),
        ranges: network
            .ranges
            .iter()
            .filter_map(|range| {
                Some(RangeWork {
                    kind: owned(&range.kind)?,
                    start: owned(&range.start)?,
                    end: owned(&range.end)?,
                })
            })
            .collect(),
        routes: routes
            .filter_map(|route| {
                let (subnet, gateway) = (route.subnet.clone()?, route.gateway.clone()?);
                Some(RouteWork { subnet, gateway, metric: route.metric.clone() })
            })
            .collect(),
        dhcp_relay: network.dhcp_relay.as_ref().and_then(|relay| owned(&relay.upstream_target)),
        is_unchecked: network.labels.contains_key("noconfig"),
    }
}

fn repository(repository: &model::Repository) -> RepositoryWork {
    let lists = |field: &Option<Vec<model::Set<String>>>| field.as_deref().map(list);
    RepositoryWork {
        name: repository.name.value.clone(),
        url: owned(&repository.url).unwrap_or_default(),
        distributions: lists(&repository.distributions).unwrap_or_default(),
        components: lists(&repository.components),
        pockets: lists(&repository.subrepos),
        arches: lists(&repository.arches).unwrap_or_else(|| vec!["amd64".to_owned()]),
        key: owned(&repository.gpgkey),
    }
}
