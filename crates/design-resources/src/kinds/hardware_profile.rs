//! HardwareProfile: a server model and the aliases of its devices.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::host::MachineSettings;

/// A server model: boot settings, device aliases, CPU sets and huge pages. Hosts name it in `hardware_profile`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HardwareProfile {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the hardware profile document. Set by users or "groundplane design import".
    pub spec: HardwareProfileSpec,
}

/// Content of a hardware profile document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HardwareProfileSpec {
    /// Vendor of the server, such as `HP`.
    pub vendor: Option<String>,
    /// Generation of the chassis, such as `8`.
    pub generation: Option<String>,
    /// Hardware version within the generation, such as `3`.
    pub hw_version: Option<String>,
    /// Certified BIOS version. "design check-hardware" compares it with the machine.
    pub bios_version: Option<String>,
    /// Boot mode: `bios` or `uefi`.
    pub boot_mode: Option<String>,
    /// How the first boot is done: `pxe`, `usb` or `hdd`.
    pub bootstrap_protocol: Option<String>,
    /// Index of the PXE interface, as the BMC counts them.
    pub pxe_interface: Option<f64>,
    /// Aliases of devices by bus address. Interfaces and storage refer to them. Names are unique.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub device_aliases: Option<Vec<DeviceAlias>>,
    /// Named CPU sets, such as `sriov: 2,4`. Kernel parameters refer to them.
    pub cpu_sets: Option<BTreeMap<String, String>>,
    /// Named pools of huge pages. Kernel parameters refer to them. Names are unique.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub hugepages: Option<Vec<Hugepages>>,
    /// Defaults for the disks of hosts with this hardware profile.
    pub storage: Option<Disks>,
    /// Defaults that hosts may override.
    #[serde(flatten)]
    pub machine: MachineSettings,
}

/// Defaults for disks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disks {
    /// Boot disk: an alias or a device name.
    pub boot_device: Option<String>,
    /// How disks are wiped when the host is released: `none`, `quick`, `full` or `secure`.
    pub wipe: Option<String>,
}

/// An alias of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceAlias {
    /// Alias, unique within the hardware profile.
    pub name: String,
    /// Bus address of the device, such as `0000:00:03.0`. With the prefix `regexp:`, a regular expression.
    pub address: Option<String>,
    /// Type of bus: `pci` or `scsi`.
    pub bus_type: Option<String>,
    /// Expected device model. "design check-hardware" compares it with the machine.
    pub dev_type: Option<String>,
    /// MAC address, if it identifies the device.
    pub mac: Option<String>,
    /// Serial number, if it identifies the device.
    pub serial: Option<String>,
}

/// A pool of huge pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hugepages {
    /// Name of the pool, unique within the hardware profile.
    pub name: String,
    /// Size of a page, such as `2M` or `1G`.
    pub size: Option<String>,
    /// Number of pages in the pool.
    pub count: Option<i64>,
}

impl Resource for HardwareProfile {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "HardwareProfile";
    const PLURAL: &'static str = "hardwareprofiles";

    fn declare() -> Declaration<HardwareProfile> {
        document()
            .short(&["hwp"])
            .selects(&["spec.vendor", "spec.generation", "spec.bios_version", "spec.boot_mode"])
            .searches(&["spec.vendor", "spec.generation"])
            .prints("Vendor", "string", ".spec.vendor")
            .prints("Generation", "string", ".spec.generation")
            .prints("BIOS", "string", ".spec.bios_version")
            .prints("Boot", "string", ".spec.boot_mode")
            .prints_wide("Aliases", "string", ".spec.device_aliases[*].name")
            .prints_age()
    }
}
