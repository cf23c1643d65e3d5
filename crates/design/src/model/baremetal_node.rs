//! BaremetalNode: one host, with its own settings and those it inherits.

use std::sync::Arc;

use super::{
    DocumentRef, Field, HostSettings, Set,
    host_settings::fields,
    section::{Reading, Section},
};

/// One host.
#[derive(Clone, Debug)]
pub struct BaremetalNode {
    /// The document; its name is the hostname.
    pub document: Arc<DocumentRef>,
    /// The profile it inherits from.
    pub parent: Field<String>,
    /// Its own settings, markers included.
    pub settings: HostSettings,
    /// Its addresses; never inherited.
    pub addressing: Vec<Addressing>,
    /// The MAC address it boots from; never inherited.
    pub boot_mac: Field<String>,
}

/// An address on a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Addressing {
    /// The network.
    pub network: Field<String>,
    /// How the address is had.
    pub address: Address,
}

/// How an address is had.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// From a DHCP server.
    Dhcp,
    /// By configuration.
    Static(Set<String>),
}

impl BaremetalNode {
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Self {
        let known: Vec<&str> = fields(reading).into_iter().chain(["addressing"]).collect();
        data.only(reading, &known);
        let written = data.sections(reading, "addressing").unwrap_or_default();
        // The rule counts what is written: a node whose only entry is empty has no address and is no mistake.
        if written.is_empty() {
            reading.missing(&data.at, "addressing", "at least one address is required".to_owned());
        }
        let (settings, boot_mac) = HostSettings::read(reading, data);
        Self {
            document: reading.document(),
            parent: data.text(reading, "host_profile"),
            settings,
            addressing: written.iter().filter_map(|entry| Addressing::read(reading, entry)).collect(),
            boot_mac,
        }
    }

    /// The node's name, which is its hostname.
    pub fn name(&self) -> &str {
        &self.document.name
    }
}

impl Addressing {
    /// An entry with an empty address is passed over.
    fn read(reading: &mut Reading, entry: &Section) -> Option<Self> {
        let network = entry.text(reading, "network");
        let address = entry.text(reading, "address").filter(|address| !address.value.is_empty());
        let Some(address) = address else {
            reading.ignored(&entry.at, &entry.path, "an address that is empty assigns none".to_owned());
            return None;
        };
        if network.is_none() {
            reading.invalid(&entry.at, &entry.path, "an address must say its `network`".to_owned());
        }
        let address = if address.value == "dhcp" { Address::Dhcp } else { Address::Static(address) };
        Some(Self { network, address })
    }
}
