//! Output of lshw, and the device names of the aliases of a hardware profile.

use std::collections::HashMap;

use indexmap::IndexMap;
use regex::Regex;
use thiserror::Error;

use crate::model::{DeviceAlias, HardwareProfile, text};

/// What lshw saw, per node.
pub type LshwInputs = HashMap<String, Lshw>;

/// The devices that lshw saw on one machine, in document order.
#[derive(Clone, Debug, Default)]
pub struct Lshw {
    devices: Vec<Device>,
    /// What it says of the machine as a whole.
    pub(crate) system: Option<Device>,
    /// What it says of the BIOS.
    pub(crate) firmware: Option<Device>,
}

/// One device that lshw saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Device {
    class: String,
    bus_info: Option<String>,
    logical_name: Option<String>,
    pub(crate) product: Option<String>,
    pub(crate) vendor: Option<String>,
    pub(crate) serial: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) bytes: Option<u64>,
    pub(crate) capabilities: Vec<String>,
}

/// The output of lshw is not XML: it was cut off, or is something else.
#[derive(Debug, Error)]
#[error("not the XML output of lshw")]
pub struct LshwError(#[from] roxmltree::Error);

impl Lshw {
    /// Reads what `lshw -xml` wrote.
    pub fn parse(xml: &str) -> Result<Self, LshwError> {
        let options = roxmltree::ParsingOptions { allow_dtd: false, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(xml, options)?;
        let nodes = || document.descendants().filter(|node| node.has_tag_name("node"));
        let first = |attribute: &str, value: &str| {
            nodes().find(|node| node.attribute(attribute) == Some(value)).map(|node| Device::of(&node))
        };
        Ok(Self {
            devices: nodes().map(|node| Device::of(&node)).collect(),
            system: first("class", "system"),
            firmware: first("id", "firmware"),
        })
    }

    /// What the system calls each alias of a profile; an alias that is not found stands for itself.
    pub fn logical_names(&self, profile: &HardwareProfile) -> IndexMap<String, String> {
        let named = profile.aliases.iter().map(|alias| {
            let name = self.find(alias).filter(|name| !name.is_empty());
            (alias.alias.value.clone(), name.unwrap_or(&alias.alias.value).to_owned())
        });
        named.collect()
    }

    /// The aliases of a profile that lshw saw no device for.
    pub fn missing<'p>(&self, profile: &'p HardwareProfile) -> impl Iterator<Item = &'p DeviceAlias> {
        profile.aliases.iter().filter(|alias| self.find(alias).is_none_or(str::is_empty))
    }

    /// What the system calls one device; nothing if lshw did not see it.
    pub fn find(&self, alias: &DeviceAlias) -> Option<&str> {
        self.device(alias)?.name()
    }

    /// The device an alias stands for: by its address, else by its MAC address or serial number.
    pub(crate) fn device(&self, alias: &DeviceAlias) -> Option<&Device> {
        let Some(address) = text(&alias.address) else {
            let is_meant = |device: &&Device| {
                let mac = text(&alias.mac).filter(|_| device.class == "network");
                let serial = device.serial.as_deref();
                serial.is_some_and(|serial| {
                    mac.is_some_and(|mac| mac.eq_ignore_ascii_case(serial))
                        || text(&alias.serial) == Some(serial)
                })
            };
            return self.devices.iter().find(is_meant);
        };
        match address.strip_prefix("regexp:") {
            Some(pattern) => self.matching(pattern),
            None => {
                let bus_info = format!("{}@{address}", text(&alias.bus_type)?);
                self.devices.iter().find(|device| device.bus_info.as_deref() == Some(&bus_info))
            }
        }
    }

    /// The disk that the system calls by a name.
    pub(crate) fn disk(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.class == "disk" && device.name() == Some(name))
    }

    /// The first network device whose PCI address begins with what the pattern matches.
    fn matching(&self, pattern: &str) -> Option<&Device> {
        let pattern = Regex::new(&format!("^(?:{pattern})")).ok()?;
        let mut cards = self.devices.iter().filter(|device| device.class == "network");
        cards.find(|card| {
            let bus_info = card.bus_info.as_deref();
            bus_info.is_some_and(|place| pattern.is_match(place.strip_prefix("pci@").unwrap_or(place)))
        })
    }
}

impl Device {
    fn of(node: &roxmltree::Node) -> Self {
        let child = |name: &str| node.children().find(|child| child.has_tag_name(name));
        let text = |name: &str| child(name).and_then(|child| child.text()).map(|text| text.trim().to_owned());
        let capabilities = child("capabilities").into_iter().flat_map(|all| all.children());
        Self {
            class: node.attribute("class").unwrap_or_default().to_owned(),
            bus_info: text("businfo"),
            logical_name: text("logicalname"),
            product: text("product"),
            vendor: text("vendor"),
            serial: text("serial"),
            version: text("version"),
            bytes: child("size")
                .filter(|size| size.attribute("units") == Some("bytes"))
                .and_then(|size| size.text()?.trim().parse().ok()),
            capabilities: capabilities.filter_map(|one| one.attribute("id")).map(str::to_owned).collect(),
        }
    }

    /// What the system calls it: what follows the last slash.
    pub(crate) fn name(&self) -> Option<&str> {
        let name = self.logical_name.as_deref()?;
        Some(name.rsplit_once('/').map_or(name, |(_, last)| last))
    }
}
