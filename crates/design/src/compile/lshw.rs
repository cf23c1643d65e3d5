//! What lshw saw on a machine, and what the system calls the devices that a hardware profile names.

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
}

#[derive(Clone, Debug)]
struct Device {
    is_network: bool,
    bus_info: String,
    logical_name: Option<String>,
}

/// The output of lshw is not XML: it was cut off, or is something else.
#[derive(Debug, Error)]
#[error("not the XML that lshw writes")]
pub struct LshwError(#[from] roxmltree::Error);

impl Lshw {
    /// Reads what `lshw -xml` wrote.
    pub fn parse(xml: &str) -> Result<Self, LshwError> {
        let options = roxmltree::ParsingOptions { allow_dtd: false, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(xml, options)?;
        let nodes = document.descendants().filter(|node| node.has_tag_name("node"));
        Ok(Self { devices: nodes.filter_map(Device::of).collect() })
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
        let address = text(&alias.address)?;
        let device = match address.strip_prefix("regexp:") {
            Some(pattern) => self.matching(pattern)?,
            None => {
                let bus_info = format!("{}@{address}", text(&alias.bus_type)?);
                self.devices.iter().find(|device| device.bus_info == bus_info)?
            }
        };
        let name = device.logical_name.as_deref()?;
        Some(name.rsplit_once('/').map_or(name, |(_, last)| last))
    }

    /// The first network device whose PCI address begins with what the pattern matches.
    fn matching(&self, pattern: &str) -> Option<&Device> {
        let pattern = Regex::new(&format!("^(?:{pattern})")).ok()?;
        let mut cards = self.devices.iter().filter(|device| device.is_network);
        cards.find(|card| pattern.is_match(card.bus_info.strip_prefix("pci@").unwrap_or(&card.bus_info)))
    }
}

impl Device {
    /// A device that says where it is; others cannot be asked for.
    fn of(node: roxmltree::Node) -> Option<Self> {
        let child = |name: &str| {
            let mut found = node.children().filter(|child| child.has_tag_name(name));
            found.next().and_then(|child| child.text()).map(str::to_owned)
        };
        let bus_info = child("businfo")?;
        let is_network = node.attribute("class") == Some("network");
        Some(Self { is_network, bus_info, logical_name: child("logicalname") })
    }
}
