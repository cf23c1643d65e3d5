//! HardwareProfile: a server model and the aliases of its devices.

use std::sync::Arc;

use super::{
    DocumentRef, Field, MachineSettings, Set, Texts, machine,
    section::{Reading, Section},
};

/// A model of machine.
#[derive(Clone, Debug)]
pub struct HardwareProfile {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// Who makes it.
    pub vendor: Field<String>,
    /// The generation of the chassis.
    pub generation: Field<String>,
    /// The version within the generation.
    pub hw_version: Field<String>,
    /// The firmware it is certified with.
    pub bios_version: Field<String>,
    /// `bios` or `uefi`.
    pub boot_mode: Field<String>,
    /// `pxe`, `usb` or `hdd`.
    pub bootstrap_protocol: Field<String>,
    /// The interface it boots from, as its BMC counts them.
    pub pxe_interface: Field<String>,
    /// Names for devices, by where they are plugged in.
    pub aliases: Vec<DeviceAlias>,
    /// Named sets of processors; the legacy envelope has none.
    pub cpu_sets: Option<Texts>,
    /// Named pools of huge pages; the legacy envelope has none.
    pub hugepages: Option<Vec<Hugepages>>,
    /// What machines of this model are set to below their operating system.
    pub machine: MachineSettings,
}

/// A name for the device at an address.
#[derive(Clone, Debug)]
pub struct DeviceAlias {
    /// The name.
    pub alias: Set<String>,
    /// Where it is on its bus; `regexp:` makes the rest a pattern over PCI addresses.
    pub address: Field<String>,
    /// `pci` or `scsi`.
    pub bus_type: Field<String>,
    /// What should be there.
    pub dev_type: Field<String>,
    /// The MAC address of a NIC, where that identifies it.
    pub mac: Field<String>,
    /// The serial number, where that identifies it.
    pub serial: Field<String>,
}

/// A pool of huge pages.
#[derive(Clone, Debug)]
pub struct Hugepages {
    /// Its name.
    pub name: Set<String>,
    /// The size of a page.
    pub size: Field<String>,
    /// How many.
    pub count: Field<i64>,
}

const FIELDS: [&str; 10] = [
    "vendor",
    "generation",
    "hw_version",
    "bios_version",
    "boot_mode",
    "bootstrap_protocol",
    "pxe_interface",
    "device_aliases",
    "cpu_sets",
    "hugepages",
];

impl HardwareProfile {
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Self {
        let more: &[&str] = if reading.is_extended() { &machine::FIELDS } else { &[] };
        let storage = reading.is_extended().then_some("storage");
        data.only(reading, &FIELDS.iter().chain(more).copied().chain(storage).collect::<Vec<_>>());
        let aliases = DeviceAlias::read_all(reading, data);
        let mut profile = Self {
            document: reading.document(),
            vendor: data.text(reading, "vendor"),
            generation: data.text(reading, "generation"),
            hw_version: data.text(reading, "hw_version"),
            bios_version: data.text(reading, "bios_version"),
            boot_mode: data.one_of(reading, "boot_mode", &["bios", "uefi"]),
            bootstrap_protocol: data.one_of(reading, "bootstrap_protocol", &["pxe", "usb", "hdd"]),
            pxe_interface: data.number_text(reading, "pxe_interface"),
            aliases,
            cpu_sets: None,
            hugepages: None,
            machine: MachineSettings::read(reading, data),
        };
        if reading.is_strict() {
            let pools = data.named_sections(reading, "hugepages");
            profile.cpu_sets = Some(data.text_map(reading, "cpu_sets", Reading::text).unwrap_or_default());
            profile.hugepages =
                Some(pools.into_iter().map(|(name, pool)| Hugepages::read(reading, name, &pool)).collect());
        }
        profile
    }

    /// The profile's name.
    pub fn name(&self) -> &str {
        &self.document.name
    }
}

impl DeviceAlias {
    /// The schema of the original lets anything be an alias; its model asks for an address on a bus.
    fn read_all(reading: &mut Reading, data: &Section) -> Vec<Self> {
        let Some(section) = data.section(reading, "device_aliases") else { return Vec::new() };
        let mut aliases = Vec::new();
        for (alias, node) in section.things(reading) {
            let path = section.path_of(&alias.value);
            if let Some(device) = Section::loose(reading, node, path) {
                aliases.push(Self::read(reading, alias, &device));
            }
        }
        aliases
    }

    fn read(reading: &mut Reading, alias: Set<String>, device: &Section) -> Self {
        let (mut mac, mut serial) = (None, None);
        if reading.is_extended() {
            device.only(reading, &["address", "bus_type", "dev_type", "mac", "serial"]);
            mac = device.loose_text(reading, "mac").map(|mac| mac.map(|mac| mac.to_ascii_lowercase()));
            serial = device.loose_text(reading, "serial");
        }
        let is_placed = mac.is_none() && serial.is_none() || device.has("address");
        let mut place = |key| if is_placed { device.needed_text(reading, key) } else { None };
        let (address, bus_type) = (place("address"), place("bus_type"));
        Self { alias, address, bus_type, dev_type: device.loose_text(reading, "dev_type"), mac, serial }
    }
}

impl Hugepages {
    fn read(reading: &mut Reading, name: Set<String>, pool: &Section) -> Self {
        pool.needed_text(reading, "count");
        let count = pool.loose_integer(reading, "count");
        if let Some(negative) = count.as_ref().filter(|count| count.value < 0) {
            let path = pool.path_of("count");
            reading.invalid(
                &negative.by.at,
                &path,
                format!("{} is not a valid number of pages", negative.value),
            );
        }
        Self { name, size: pool.needed_text(reading, "size"), count }
    }
}
