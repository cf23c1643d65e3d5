//! How the device under an interface is found: by its PCI address if the hardware profile knows the alias, else by name.

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
    /// By what the system calls it.
    Name(String),
}

pub(super) fn of(interface: &Interface, profile: &HardwareProfile) -> Vec<Selector> {
    interface.slaves.iter().map(|slave| select(&slave.value, profile)).collect()
}

fn select(slave: &str, profile: &HardwareProfile) -> Selector {
    let mut cards = profile.aliases.iter().filter(|alias| text(&alias.bus_type) == Some("pci"));
    match cards.find(|card| card.alias.value == slave) {
        Some(alias) => Selector::Address {
            address: text(&alias.address).unwrap_or_default().to_owned(),
            device_type: text(&alias.dev_type).map(str::to_owned),
        },
        None => Selector::Name(slave.to_owned()),
    }
}
