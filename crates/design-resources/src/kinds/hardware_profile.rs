//! HardwareProfile: what a model of machine is, and the names its devices go by.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::host::MachineSettings;

/// A model of machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HardwareProfile {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: HardwareProfileSpec,
}

/// What a model of machine is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HardwareProfileSpec {
    /// Who makes it.
    pub vendor: Option<String>,
    /// The generation of the chassis.
    pub generation: Option<String>,
    /// The version within the generation.
    pub hw_version: Option<String>,
    /// The firmware it is certified with.
    pub bios_version: Option<String>,
    /// `bios` or `uefi`.
    pub boot_mode: Option<String>,
    /// `pxe`, `usb` or `hdd`.
    pub bootstrap_protocol: Option<String>,
    /// The interface it boots from, as its BMC counts them.
    pub pxe_interface: Option<f64>,
    /// Names for devices.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub device_aliases: Option<Vec<DeviceAlias>>,
    /// Named sets of processors.
    pub cpu_sets: Option<BTreeMap<String, String>>,
    /// Named pools of huge pages.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub hugepages: Option<Vec<Hugepages>>,
    /// How its disks are treated.
    pub storage: Option<Disks>,
    /// What hosts can have otherwise.
    #[serde(flatten)]
    pub machine: MachineSettings,
}

/// How disks are treated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disks {
    /// The disk to boot from.
    pub boot_device: Option<String>,
    /// What becomes of them when the machine is given back: `none`, `quick`, `full` or `secure`.
    pub wipe: Option<String>,
}

/// A name for a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceAlias {
    /// The name.
    pub name: String,
    /// Where it is on its bus; `regexp:` makes the rest a pattern.
    pub address: Option<String>,
    /// `pci` or `scsi`.
    pub bus_type: Option<String>,
    /// What should be there.
    pub dev_type: Option<String>,
    /// The MAC address, where that identifies it.
    pub mac: Option<String>,
    /// The serial number, where that identifies it.
    pub serial: Option<String>,
}

/// A pool of huge pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hugepages {
    /// Its name.
    pub name: String,
    /// The size of a page.
    pub size: Option<String>,
    /// How many.
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
