//! Output of lshw, and the device names of the aliases of a hardware profile.

mod device;

use std::collections::HashMap;

use indexmap::IndexMap;
use regex::Regex;
use serde_json::Value as Json;
use thiserror::Error;

use crate::model::{DeviceAlias, HardwareProfile, text};
pub(crate) use device::Device;

/// What lshw saw, per node.
pub type LshwInputs = HashMap<String, Lshw>;

/// The devices that lshw saw on one machine, in document order.
#[derive(Clone, Debug, Default)]
pub struct Lshw {
    devices: Vec<Device>,
}

/// The output of lshw cannot be read: it was cut off, or is something else.
#[derive(Debug, Error)]
pub enum LshwError {
    /// Not what `lshw -xml` writes.
    #[error("not the XML output of lshw")]
    Xml(#[from] roxmltree::Error),
    /// Not what `lshw -json` writes.
    #[error("not the JSON output of lshw")]
    Json(#[from] serde_json::Error),
}

/// The device that an alias stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'l> {
    /// The device at the address, which tells product and vendor.
    pub(crate) device: &'l Device,
    /// The device that the operating system uses: the same, or a part of it.
    pub(crate) used: &'l Device,
}

impl<'l> Found<'l> {
    /// What the system calls it.
    pub(crate) fn name(&self) -> Option<&'l str> {
        self.used.name()
    }
}

impl Lshw {
    /// Reads what `lshw -xml` or `lshw -json` wrote.
    pub fn parse(text: &str) -> Result<Self, LshwError> {
        let mut devices = Vec::new();
        if text.trim_start().starts_with(['{', '[']) {
            // Some versions print several devices one after another.
            for value in serde_json::Deserializer::from_str(text).into_iter::<Json>() {
                Device::add_json(&value?, &mut devices);
            }
            return Ok(Self { devices });
        }
        let options = roxmltree::ParsingOptions { allow_dtd: false, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(text, options)?;
        let root = document.root_element();
        match root.has_tag_name("node") {
            true => Device::add_xml(&root, &mut devices),
            false => {
                let tops = root.children().filter(|child| child.has_tag_name("node"));
                tops.for_each(|top| Device::add_xml(&top, &mut devices));
            }
        }
        Ok(Self { devices })
    }

    /// The machine as a whole.
    pub(crate) fn system(&self) -> Option<&Device> {
        self.devices.iter().find(|device| device.class == "system")
    }

    /// The BIOS.
    pub(crate) fn firmware(&self) -> Option<&Device> {
        self.devices.iter().find(|device| device.id == "firmware")
    }

    /// What the system calls each alias of a profile; an alias that is not found stands for itself.
    pub fn logical_names(&self, profile: &HardwareProfile) -> IndexMap<String, String> {
        let named = profile.aliases.iter().map(|alias| {
            let name = self.find(alias).unwrap_or(&alias.alias.value);
            (alias.alias.value.clone(), name.to_owned())
        });
        named.collect()
    }

    /// The aliases of a profile that lshw saw no device for.
    pub fn missing<'p>(&self, profile: &'p HardwareProfile) -> impl Iterator<Item = &'p DeviceAlias> {
        profile.aliases.iter().filter(|alias| self.find(alias).is_none())
    }

    /// What the system calls one device; nothing if lshw did not see it.
    pub fn find(&self, alias: &DeviceAlias) -> Option<&str> {
        self.device(alias)?.name()
    }

    /// The device an alias stands for: by its address, else by its MAC address or serial number.
    pub(crate) fn device(&self, alias: &DeviceAlias) -> Option<Found<'_>> {
        let index = match text(&alias.address).map(|address| (address, address.strip_prefix("regexp:"))) {
            Some((_, Some(pattern))) => self.matching(pattern),
            Some((address, None)) => self.at(&bus_info(alias, address)?),
            None => self.identified(alias),
        }?;
        Some(Found { device: &self.devices[index], used: self.used(index) })
    }

    /// The disk that the system calls by a name.
    pub(crate) fn disk(&self, name: &str) -> Option<Found<'_>> {
        let disk =
            self.devices.iter().find(|device| device.class == "disk" && device.name() == Some(name))?;
        Some(Found { device: disk, used: disk })
    }

    fn identified(&self, alias: &DeviceAlias) -> Option<usize> {
        self.devices.iter().position(|device| {
            let mac = text(&alias.mac).filter(|_| device.class == "network");
            device.serial.as_deref().is_some_and(|serial| {
                mac.is_some_and(|mac| mac.eq_ignore_ascii_case(serial)) || text(&alias.serial) == Some(serial)
            })
        })
    }

    fn at(&self, place: &str) -> Option<usize> {
        let is_at =
            |device: &Device| device.bus_info.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(place));
        self.devices.iter().position(is_at)
    }

    /// The first network device whose PCI address begins with what the pattern matches.
    fn matching(&self, pattern: &str) -> Option<usize> {
        let pattern = Regex::new(&format!("^(?:{pattern})")).ok()?;
        self.devices.iter().position(|card| {
            let place = card.bus_info.as_deref().filter(|_| card.class == "network");
            place.is_some_and(|place| pattern.is_match(place.strip_prefix("pci@").unwrap_or(place)))
        })
    }

    /// The part of a device that the system uses. A virtio card has no name, but the device on its virtio bus has; an NVMe
    /// controller has a name, but its namespace is the disk.
    fn used(&self, index: usize) -> &Device {
        let device = &self.devices[index];
        let parts = &self.devices[index + 1..=index + device.parts];
        let of_class = |class: &'static str| {
            parts
                .iter()
                .filter(move |part| part.class == class && part.name().is_some() && !part.is_monitor())
        };
        if device.class == "storage" {
            let mut disks = of_class("disk");
            if let (Some(only), None) = (disks.next(), disks.next()) {
                return only;
            }
        }
        if device.name().is_some() {
            return device;
        }
        let same = parts.iter().find(|part| part.class == device.class && part.name().is_some());
        let other = || of_class("network").chain(of_class("disk")).next();
        same.or_else(other).or_else(|| parts.iter().find(|part| part.name().is_some())).unwrap_or(device)
    }
}

/// `pci@0000:00:03.0`; an address that names its bus stands for itself.
fn bus_info(alias: &DeviceAlias, address: &str) -> Option<String> {
    match address.contains('@') {
        true => Some(address.to_owned()),
        false => Some(format!("{}@{address}", text(&alias.bus_type)?)),
    }
}

impl Device {
    /// NVMe controllers list their temperature sensor and their character device beside the disk.
    fn is_monitor(&self) -> bool {
        self.name().is_some_and(|name| name.starts_with("hwmon") || name.starts_with("ng"))
    }
}
