//! A node made effective: what it inherits, the hardware under it, its name in the domain.

use std::{collections::HashMap, sync::Arc};

use indexmap::IndexMap;

use super::{
    kernel_params,
    lshw::Lshw,
    nic_selectors::{self, Selector},
};
use crate::{
    inherit::{Effective, Refusal},
    model::{
        Address, Addressing, BaremetalNode, Design, DocumentRef, Field, HardwareProfile, Network, Texts, text,
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
    /// Its full name.
    pub fqdn: String,
}

/// What a node looks up by name.
pub(super) struct Surroundings<'d> {
    hardware: HashMap<&'d str, &'d HardwareProfile>,
    domains: HashMap<&'d str, &'d str>,
}

impl<'d> Surroundings<'d> {
    pub(super) fn of(design: &'d Design, networks: &'d [Network]) -> Self {
        let hardware = design.hardware_profiles.iter().map(|profile| (profile.name(), profile));
        let domains = networks.iter().map(|network| (network.name(), network.domain()));
        Self { hardware: hardware.collect(), domains: domains.collect() }
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
        let domain = text(&settings.primary_network).and_then(|network| surroundings.domains.get(network));
        Ok(Self {
            document: Arc::clone(&node.document),
            parent: node.parent.clone(),
            addressing: node.addressing.clone(),
            boot_mac: node.boot_mac.clone(),
            kernel_params: kernel_params::resolve(&settings.kernel_params, profile),
            selectors: settings.interfaces.iter().map(|one| nic_selectors::of(one, profile)).collect(),
            logical_names: lshw.map(|lshw| lshw.logical_names(profile)).unwrap_or_default(),
            fqdn: format!("{}.{}", node.name(), domain.unwrap_or(&"local")),
            effective,
        })
    }

    /// The node's name, which is its hostname.
    pub fn name(&self) -> &str {
        &self.document.name
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
