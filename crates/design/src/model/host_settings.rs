//! The settings that host profiles and nodes share, and that are inherited.

use std::fmt;

use super::{
    Field, Interface, MachineSettings, Set, StorageDevice, Texts, VolumeGroup, machine,
    section::{Reading, Section},
};

/// The settings that pass down a chain of profiles to a node.
#[derive(Clone, Default, PartialEq)]
pub struct HostSettings {
    /// The model of machine.
    pub hardware_profile: Field<String>,
    /// The network that gives the host its name and default route.
    pub primary_network: Field<String>,
    /// How its BMC is spoken to.
    pub oob_type: Field<String>,
    /// With which parameters.
    pub oob_parameters: Texts,
    /// The operating system image.
    pub image: Field<String>,
    /// The kernel.
    pub kernel: Field<String>,
    /// Its command line, in order.
    pub kernel_params: Texts,
    /// Free tags.
    pub tags: Vec<Set<String>>,
    /// Labels for the workload platform.
    pub owner_data: Texts,
    /// Rack of the host.
    pub rack: Field<String>,
    /// Its interfaces, in order.
    pub interfaces: Vec<Interface>,
    /// Its disks, in order.
    pub storage_devices: Vec<StorageDevice>,
    /// Its volume groups, in order.
    pub volume_groups: Vec<VolumeGroup>,
    /// Machine settings below the operating system.
    pub machine: MachineSettings,
}

/// Of the way to the BMC only the names are shown: the values may be secrets.
impl fmt::Debug for HostSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSettings")
            .field("hardware_profile", &self.hardware_profile)
            .field("primary_network", &self.primary_network)
            .field("oob_type", &self.oob_type)
            .field("oob_parameters", &self.oob_parameters.keys().collect::<Vec<_>>())
            .field("image", &self.image)
            .field("kernel", &self.kernel)
            .field("kernel_params", &self.kernel_params)
            .field("tags", &self.tags)
            .field("owner_data", &self.owner_data)
            .field("rack", &self.rack)
            .field("interfaces", &self.interfaces)
            .field("storage_devices", &self.storage_devices)
            .field("volume_groups", &self.volume_groups)
            .field("machine", &self.machine)
            .finish()
    }
}

/// The fields of a host profile; a node has some more.
const FIELDS: [&str; 8] = [
    "host_profile",
    "hardware_profile",
    "primary_network",
    "oob",
    "storage",
    "platform",
    "metadata",
    "interfaces",
];

/// The fields a document of this dialect may have.
pub(super) fn fields(reading: &Reading) -> Vec<&'static str> {
    let more: &[&str] = if reading.is_extended() { &machine::FIELDS } else { &[] };
    FIELDS.iter().chain(more).copied().collect()
}

impl HostSettings {
    /// The settings, and the boot MAC address, which is not inherited.
    pub(super) fn read(reading: &mut Reading, data: &Section) -> (Self, Field<String>) {
        let mut boot_mac = None;
        let mut settings = Self {
            hardware_profile: data.text(reading, "hardware_profile"),
            primary_network: data.text(reading, "primary_network"),
            interfaces: Interface::read_all(reading, data),
            machine: MachineSettings::read(reading, data),
            ..Self::default()
        };
        if let Some(oob) = data.section(reading, "oob") {
            settings.read_oob(reading, &oob);
        }
        if let Some(storage) = data.section(reading, "storage") {
            settings.storage_devices = StorageDevice::read_all(reading, &storage);
            settings.volume_groups = VolumeGroup::read_all(reading, &storage);
        }
        if let Some(platform) = data.section(reading, "platform") {
            settings.read_platform(reading, &platform);
        }
        if let Some(metadata) = data.section(reading, "metadata") {
            settings.read_metadata(reading, &metadata);
            boot_mac = metadata.text(reading, "boot_mac");
        }
        (settings, boot_mac)
    }

    fn read_oob(&mut self, reading: &mut Reading, oob: &Section) {
        self.oob_type = oob.text(reading, "type");
        for known in ["network", "account", "credential"] {
            oob.text(reading, known);
        }
        self.oob_parameters = oob.as_texts(reading, &["type"], Reading::coerced);
    }

    fn read_platform(&mut self, reading: &mut Reading, platform: &Section) {
        platform.only(reading, &["image", "kernel", "kernel_params"]);
        self.image = platform.text(reading, "image");
        self.kernel = platform.text(reading, "kernel");
        self.kernel_params =
            platform.text_map(reading, "kernel_params", Reading::coerced).unwrap_or_default();
    }

    fn read_metadata(&mut self, reading: &mut Reading, metadata: &Section) {
        metadata.only(reading, &["tags", "owner_data", "rack", "boot_mac"]);
        self.tags = metadata.texts(reading, "tags").unwrap_or_default();
        self.owner_data = metadata.text_map(reading, "owner_data", Reading::text).unwrap_or_default();
        self.rack = metadata.text(reading, "rack");
    }
}
