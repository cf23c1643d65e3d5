//! A compiled node: effective settings, hardware and FQDN.

use std::{collections::HashMap, sync::Arc};

use indexmap::IndexMap;

use super::{
    kernel_params,
    lshw::Lshw,
    nic_selectors::{self, Selector},
};
use crate::{
    inherit::{Effective, Explanation, Ledger, Refusal, explain_with, machine},
    model::{
        Address, Addressing, BaremetalNode, Design, DocumentRef, Field, HardwareProfile, HostSettings,
        MachineSettings, Network, Origin, Texts, text, values,
    },
};

/// A node after inheritance.
#[derive(Clone, Debug)]
pub struct Node {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// The profile it inherits from.
    pub parent: Field<String>,
    /// What it comes to. References to the hardware profile stand as written.
    pub effective: Effective,
    /// Its addresses.
    pub addressing: Vec<Addressing>,
    /// The MAC address it boots from.
    pub boot_mac: Field<String>,
    /// Its kernel parameters with references resolved.
    pub kernel_params: Texts,
    /// Per interface, how each device under it is found.
    pub selectors: Vec<Vec<Selector>>,
    /// What the system calls each alias, where the hardware was looked at.
    pub logical_names: IndexMap<String, String>,
    /// The aliases that were looked for in the hardware and not found.
    pub unresolved: Vec<String>,
    /// What the machine is set to below its operating system: its hardware profile's settings, then its own over them.
    pub machine: MachineSettings,
    /// Its full name.
    pub fqdn: String,
    /// Whom it asks for names: the servers of its primary network.
    pub name_servers: Vec<String>,
    /// Where it looks for short names: the domain and search list of its primary network.
    pub search_domains: Vec<String>,
    /// Who set the DNS servers and the domain.
    dns: Dns,
}

/// Who set the DNS settings of a node: its primary network.
#[derive(Clone, Debug, Default)]
struct Dns {
    servers: Option<Origin>,
    domain: Option<Origin>,
}

impl Dns {
    fn of(network: &Network) -> Self {
        let by = |field: &Field<String>| field.as_ref().map(|set| set.by.clone());
        Self { servers: by(&network.dns_servers), domain: by(&network.dns_domain) }
    }
}

/// What a node looks up by name.
pub(super) struct Surroundings<'d> {
    hardware: HashMap<&'d str, &'d Arc<HardwareProfile>>,
    networks: HashMap<&'d str, &'d Arc<Network>>,
}

impl<'d> Surroundings<'d> {
    pub(super) fn of(design: &'d Design) -> Self {
        let hardware = design.hardware_profiles.iter().map(|profile| (profile.name(), profile));
        let networks = design.networks.iter().map(|network| (network.name(), network));
        Self { hardware: hardware.collect(), networks: networks.collect() }
    }

    /// The hardware profile and the primary network of a host.
    pub(super) fn around(
        &self,
        settings: &HostSettings,
    ) -> (Option<&'d Arc<HardwareProfile>>, Option<&'d Arc<Network>>) {
        let hardware = text(&settings.hardware_profile).and_then(|name| self.hardware.get(name).copied());
        let primary = text(&settings.primary_network).and_then(|name| self.networks.get(name).copied());
        (hardware, primary)
    }
}

impl Node {
    pub(super) fn of(
        node: &BaremetalNode,
        effective: Effective,
        surroundings: &Surroundings,
        lshw: Option<&Lshw>,
    ) -> Result<Self, Refusal> {
        let settings = &effective.settings;
        let Some(wanted) = &settings.hardware_profile else {
            return Err(Refusal::NoHardwareProfile { node: node.document.to_string() });
        };
        let Some(profile) = surroundings.hardware.get(wanted.value.as_str()) else {
            return Err(Refusal::UnknownHardwareProfile {
                node: node.document.to_string(),
                at: wanted.by.clone(),
                missing: wanted.value.clone(),
            });
        };
        let primary = text(&settings.primary_network).and_then(|network| surroundings.networks.get(network));
        let domain = primary.map_or("local", |network| network.domain());
        let searched = primary.into_iter().flat_map(|network| values(&network.dns_search));
        let machine = machine_of(&node.document, profile, &effective);
        Ok(Self {
            document: Arc::clone(&node.document),
            parent: node.parent.clone(),
            addressing: node.addressing.clone(),
            boot_mac: node.boot_mac.clone(),
            kernel_params: kernel_params::resolve(&settings.kernel_params, profile),
            selectors: settings.interfaces.iter().map(|one| nic_selectors::of(one, profile)).collect(),
            logical_names: lshw.map(|lshw| lshw.logical_names(profile)).unwrap_or_default(),
            unresolved: lshw
                .map(|lshw| lshw.missing(profile).map(|one| one.alias.value.clone()).collect())
                .unwrap_or_default(),
            fqdn: format!("{}.{domain}", node.name()),
            name_servers: primary
                .into_iter()
                .flat_map(|network| network.name_servers())
                .map(str::to_owned)
                .collect(),
            search_domains: [domain].into_iter().chain(searched).map(str::to_owned).collect(),
            dns: primary.map(|network| Dns::of(network)).unwrap_or_default(),
            machine,
            effective,
        })
    }

    /// The node's name, which is its hostname.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// Every value of the node and who set it: what it inherits, then what is its own.
    pub fn explain(&self) -> Vec<Explanation> {
        let mut values = explain_with(&self.effective.settings, &self.machine, &self.effective.ledger);
        values.extend(self.own_values());
        values.extend(self.dns_values());
        values
    }

    /// What follows from its primary network.
    fn dns_values(&self) -> Vec<Explanation> {
        let value = |path: &str, list: &[String], by: &Option<Origin>| Explanation {
            path: path.to_owned(),
            value: list.join(","),
            by: by.clone(),
            overrode: Vec::new(),
        };
        let mut values = vec![value("dns.search", &self.search_domains, &self.dns.domain)];
        if !self.name_servers.is_empty() {
            values.insert(0, value("dns.servers", &self.name_servers, &self.dns.servers));
        }
        values
    }

    /// What is never inherited.
    pub(crate) fn own_values(&self) -> Vec<Explanation> {
        let mut values = Vec::new();
        if let Some(mac) = &self.boot_mac {
            values.push(Explanation::set("metadata.boot_mac", mac));
        }
        for entry in &self.addressing {
            let Some(network) = &entry.network else { continue };
            let path = format!("addressing.{}", network.value);
            values.push(match &entry.address {
                Address::Static(address) => Explanation::set(path, address),
                Address::Dhcp => Explanation::set(path, &network.clone().map(|_| "dhcp")),
            });
        }
        values
    }

    /// Its static addresses with their networks, in order.
    pub fn static_addresses(&self) -> impl Iterator<Item = (&str, &str)> {
        self.addressing.iter().filter_map(|entry| match &entry.address {
            Address::Static(address) => {
                Some((text(&entry.network).unwrap_or_default(), address.value.as_str()))
            }
            Address::Dhcp => None,
        })
    }

    /// Its address on a network: that of the first entry, nothing for DHCP.
    pub fn address_on(&self, network: &str) -> Option<&str> {
        let entry = self.addressing.iter().find(|entry| text(&entry.network) == Some(network))?;
        match &entry.address {
            Address::Static(address) => Some(&address.value),
            Address::Dhcp => None,
        }
    }

    /// What the system calls a device: the name found in the hardware, else the one written.
    pub fn logical_name<'n>(&'n self, device: &'n str) -> &'n str {
        self.logical_names.get(device).map_or(device, String::as_str)
    }
}

/// A hardware profile speaks for its model; what host profiles and the node say stands over it.
fn machine_of(node: &Arc<DocumentRef>, profile: &HardwareProfile, effective: &Effective) -> MachineSettings {
    if profile.machine == MachineSettings::default() {
        return effective.settings.machine.clone();
    }
    let mut ledger = Ledger::of(node, None);
    let own = machine::merge(&mut ledger, &MachineSettings::default(), &profile.machine);
    effective.machines.iter().fold(own, |under, over| machine::merge(&mut ledger, &under, over))
}
