//! What host profiles and nodes both say, and hardware profiles in part.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::substitution::{SecretKey, Substitution};

/// What a profile says of its hosts, and a host of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostSettings {
    /// The profile it inherits from.
    pub host_profile: Option<String>,
    /// The model of machine.
    pub hardware_profile: Option<String>,
    /// The network that gives the host its name and default route.
    pub primary_network: Option<String>,
    /// How its BMC is spoken to: `type`, `network`, `account` and whatever the type needs. Secrets stand in `oob_secrets`.
    pub oob: Option<BTreeMap<String, String>>,
    /// Which Secrets hold what must not be seen of it, such as `credential`.
    pub oob_secrets: Option<BTreeMap<String, SecretKey>>,
    /// Its storage.
    pub storage: Option<Storage>,
    /// Its operating system.
    pub platform: Option<Platform>,
    /// What is noted about it.
    pub metadata: Option<Notes>,
    /// Its interfaces, in order.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub interfaces: Option<Vec<Interface>>,
    /// What the model of machine says unless it is said here.
    #[serde(flatten)]
    pub machine: MachineSettings,
}

/// What a model of machine says, unless a profile or a host says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineSettings {
    /// The level of each component's firmware: a version, or `>=` and the lowest that will do.
    pub firmware: Option<BTreeMap<String, String>>,
    /// BIOS settings by the names the vendor gives them.
    pub bios_settings: Option<BTreeMap<String, String>>,
    /// Volumes that a RAID controller makes.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub raid: Option<Vec<RaidVolume>>,
    /// The driver packages it needs.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub drivers: Option<Vec<String>>,
    /// What is taken from other documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
}

/// Storage of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// The disk to boot from: an alias, a RAID volume, or what the system calls it.
    pub boot_device: Option<String>,
    /// What becomes of the disks when the machine is given back: `none`, `quick`, `full` or `secure`.
    pub wipe: Option<String>,
    /// Disks; a name that begins with `!` takes one away.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub physical_devices: Option<Vec<PhysicalDevice>>,
    /// Volume groups; a name that begins with `!` takes one away.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub volume_groups: Option<Vec<VolumeGroup>>,
}

/// A disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhysicalDevice {
    /// An alias of the hardware profile, or what the system calls it.
    pub name: String,
    /// Labels.
    pub labels: Option<BTreeMap<String, String>>,
    /// The volume group it gives its space to.
    pub volume_group: Option<String>,
    /// Its partitions, in order.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub partitions: Option<Vec<Partition>>,
}

/// A partition of a disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// Its name, by which levels of inheritance meet.
    pub name: Option<String>,
    /// Its size, such as `20g`, `>20g` or `50%`.
    pub size: Option<String>,
    /// Its identifier.
    pub part_uuid: Option<String>,
    /// The volume group it gives its space to.
    pub volume_group: Option<String>,
    /// Labels.
    pub labels: Option<BTreeMap<String, String>>,
    /// Whether the machine boots from it.
    pub bootable: Option<bool>,
    /// What it is formatted with.
    pub filesystem: Option<FileSystem>,
}

/// A volume group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeGroup {
    /// Its name.
    pub name: String,
    /// Its identifier.
    pub vg_uuid: Option<String>,
    /// Its volumes, in order.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub logical_volumes: Option<Vec<LogicalVolume>>,
}

/// A logical volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogicalVolume {
    /// Its name.
    pub name: Option<String>,
    /// Its size.
    pub size: Option<String>,
    /// Its identifier.
    pub lv_uuid: Option<String>,
    /// What it is formatted with.
    pub filesystem: Option<FileSystem>,
}

/// How space is formatted and where it is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystem {
    /// Where it is mounted.
    pub mountpoint: Option<String>,
    /// `ext4` unless said.
    pub fstype: Option<String>,
    /// `defaults` unless said.
    pub mount_options: Option<String>,
    /// Its identifier.
    pub fs_uuid: Option<String>,
    /// Its label.
    pub fs_label: Option<String>,
}

/// The operating system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Platform {
    /// The image.
    pub image: Option<String>,
    /// The kernel.
    pub kernel: Option<String>,
    /// The kernel's command line, in order; a name that begins with `!` takes a parameter away.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub kernel_params: Option<Vec<KernelParameter>>,
}

/// A parameter of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelParameter {
    /// Its name.
    pub name: String,
    /// Its value; `True` makes it a flag.
    pub value: Option<String>,
}

/// What is noted about a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notes {
    /// Free tags; one that begins with `!` is taken away.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub tags: Option<Vec<String>>,
    /// Labels for whoever runs on the host.
    pub owner_data: Option<BTreeMap<String, String>>,
    /// The rack it stands in.
    pub rack: Option<String>,
    /// The MAC address it boots from; never inherited.
    pub boot_mac: Option<String>,
}

/// An interface of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// Its name; one that begins with `!` takes it away.
    pub name: String,
    /// The link it is plugged into.
    pub device_link: Option<String>,
    /// Device names or aliases under it.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub slaves: Option<Vec<String>>,
    /// The networks on it.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub networks: Option<Vec<String>>,
    /// Virtual functions.
    pub sriov: Option<Sriov>,
}

/// Virtual functions of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sriov {
    /// How many.
    pub vf_count: Option<i64>,
    /// Whether they are trusted.
    pub trustedmode: Option<bool>,
}

/// A volume that a RAID controller makes of several disks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaidVolume {
    /// Its name; one that begins with `!` takes it away.
    pub name: String,
    /// `0`, `1`, `5`, `6`, `10`, `50` or `60`.
    pub level: Option<String>,
    /// The disks it is made of.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub disks: Option<Vec<String>>,
    /// Disks that take over when one fails.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub spares: Option<Vec<String>>,
    /// Its size; all there is unless said.
    pub size: Option<String>,
}

/// The fields by which hosts and profiles are asked for.
pub(super) fn asked_by<T: Resource>(declaration: Declaration<T>) -> Declaration<T> {
    declaration
        .selects(&[
            "spec.host_profile",
            "spec.hardware_profile",
            "spec.primary_network",
            "spec.oob.type",
            "spec.platform.image",
            "spec.platform.kernel",
            "spec.metadata.rack",
            "spec.storage.boot_device",
            "spec.storage.wipe",
        ])
        .searches(&[
            "spec.host_profile",
            "spec.hardware_profile",
            "spec.metadata.rack",
            "spec.platform.image",
        ])
        .prints("Profile", "string", ".spec.host_profile")
        .prints("Hardware", "string", ".spec.hardware_profile")
}
