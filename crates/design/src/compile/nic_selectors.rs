//! How the device under an interface is found: by its PCI address if the hardware profile knows the alias, else by name.

use std::fmt;

use crate::model::{HardwareProfile, Interface, text};

/// How a device is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// By its address on the PCI bus.
    Address {
        /// The address.
        address: String,
        /// What should be there.
        device_type: Option<String>,
    },
    /// By its MAC address.
    Mac(String),
    /// By its serial number.
    Serial(String),
    /// By what the system calls it.
    Name(String),
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { address, device_type: Some(kind) } => write!(f, "{kind} at {address}"),
            Self::Address { address, device_type: None } => write!(f, "at {address}"),
            Self::Mac(mac) => write!(f, "MAC {mac}"),
            Self::Serial(serial) => write!(f, "serial {serial}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

pub(super) fn of(interface: &Interface, profile: &HardwareProfile) -> Vec<Selector> {
    interface.slaves.iter().map(|slave| select(&slave.value, profile)).collect()
}

fn select(slave: &str, profile: &HardwareProfile) -> Selector {
    let by_identity =
        profile.aliases.iter().find(|alias| alias.alias.value == slave && alias.address.is_none());
    match by_identity.map(|alias| (&alias.mac, &alias.serial)) {
        Some((Some(mac), _)) => return Selector::Mac(mac.value.clone()),
        Some((None, Some(serial))) => return Selector::Serial(serial.value.clone()),
        _ => {}
    }
    let mut cards = profile.aliases.iter().filter(|alias| text(&alias.bus_type) == Some("pci"));
    match cards.find(|card| card.alias.value == slave) {
        Some(alias) => Selector::Address {
            address: text(&alias.address).unwrap_or_default().to_owned(),
            device_type: text(&alias.dev_type).map(str::to_owned),
        },
        None => Selector::Name(slave.to_owned()),
    }
}
