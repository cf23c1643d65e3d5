//! Settings that host profiles and nodes share, in part also hardware profiles.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::composition::Composition;
use super::substitution::SecretKey;

/// Settings of a host, set by a node or inherited from a host profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostSettings {
    /// Name of the host profile that it inherits from.
    pub host_profile: Option<String>,
    /// Name of the hardware profile (server model).
    pub hardware_profile: Option<String>,
    /// Name of the network that determines the host's FQDN and default route.
    pub primary_network: Option<String>,
    /// Out-of-band management (BMC): `type` (such as `ipmi` or `redfish`), `network`, `account` and parameters of the type.
    /// Passwords must be in `oob_secrets`.
    pub oob: Option<BTreeMap<String, String>>,
    /// Secrets with confidential out-of-band parameters, by parameter name, such as `credential`.
    pub oob_secrets: Option<BTreeMap<String, SecretKey>>,
    /// Disks, partitions and volume groups of the host.
    pub storage: Option<Storage>,
    /// Operating system image, kernel and kernel parameters.
    pub platform: Option<Platform>,
    /// Tags, labels, rack and boot MAC address of the host.
    pub metadata: Option<Notes>,
    /// Network interfaces, in order. Merged with inherited ones by name.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub interfaces: Option<Vec<Interface>>,
    /// Settings that override the hardware profile.
    #[serde(flatten)]
    pub machine: MachineSettings,
}

/// Settings of a hardware profile that host profiles and nodes may override.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineSettings {
    /// Required firmware versions by component: an exact version, or `>=` and a minimum version.
    pub firmware: Option<BTreeMap<String, String>>,
    /// BIOS settings by the vendor's attribute names.
    pub bios_settings: Option<BTreeMap<String, String>>,
    /// Volumes of the hardware RAID controller. Merged with inherited ones by name.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub raid: Option<Vec<RaidVolume>>,
    /// Names of the driver packages to install.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub drivers: Option<Vec<String>>,
    /// Layers, substitutions and secret values.
    #[serde(flatten)]
    pub composition: Composition,
}

/// Storage layout of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// Boot disk: a device alias, a RAID volume or a device name.
    pub boot_device: Option<String>,
    /// How disks are wiped when the host is released: `none`, `quick`, `full` or `secure`.
    pub wipe: Option<String>,
    /// Disks. Merged with inherited ones by name; a name with the prefix `!` removes an inherited one.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub physical_devices: Option<Vec<PhysicalDevice>>,
    /// LVM volume groups. Merged with inherited ones by name; a name with the prefix `!` removes an inherited one.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub volume_groups: Option<Vec<VolumeGroup>>,
}

/// A disk and its partitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhysicalDevice {
    /// Device alias of the hardware profile, or device name such as `sda`.
    pub name: String,
    /// Free labels of the disk, such as `bootdrive: 'true'`.
    pub labels: Option<BTreeMap<String, String>>,
    /// Name of the volume group that uses the whole disk. Alternative to `partitions`.
    pub volume_group: Option<String>,
    /// Partitions, in order. Merged with inherited ones by name.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub partitions: Option<Vec<Partition>>,
}

/// A partition of a disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// Name of the partition. Inherited partitions are merged by name.
    pub name: Option<String>,
    /// Size: fixed (`20g`), minimum (`>20g`) or a share of the disk (`50%`).
    pub size: Option<String>,
    /// UUID of the partition, as in GPT.
    pub part_uuid: Option<String>,
    /// Name of the volume group that uses the partition. Alternative to `filesystem`.
    pub volume_group: Option<String>,
    /// Free labels of the partition.
    pub labels: Option<BTreeMap<String, String>>,
    /// Whether the partition is bootable. Defaults to false.
    pub bootable: Option<bool>,
    /// File system of the partition.
    pub filesystem: Option<FileSystem>,
}

/// An LVM volume group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeGroup {
    /// Name of the volume group.
    pub name: String,
    /// UUID of the volume group.
    pub vg_uuid: Option<String>,
    /// Logical volumes, in order. Merged with inherited ones by name.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub logical_volumes: Option<Vec<LogicalVolume>>,
}

/// An LVM logical volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogicalVolume {
    /// Name of the logical volume.
    pub name: Option<String>,
    /// Size: fixed (`20g`), minimum (`>20g`) or a share of the volume group (`50%`).
    pub size: Option<String>,
    /// UUID of the logical volume.
    pub lv_uuid: Option<String>,
    /// File system of the logical volume.
    pub filesystem: Option<FileSystem>,
}

/// A file system and its mount point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystem {
    /// Absolute path of the mount point. Unique on the host.
    pub mountpoint: Option<String>,
    /// Type of file system. Defaults to `ext4`.
    pub fstype: Option<String>,
    /// Mount options. Defaults to `defaults`.
    pub mount_options: Option<String>,
    /// UUID of the file system, as in fstab.
    pub fs_uuid: Option<String>,
    /// Label of the file system.
    pub fs_label: Option<String>,
}

/// Operating system of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Platform {
    /// Operating system image, such as `jammy`.
    pub image: Option<String>,
    /// Kernel package, such as `ga-22.04`.
    pub kernel: Option<String>,
    /// Kernel command-line parameters, in order. Merged with inherited ones by name; a name with the prefix `!` removes an
    /// inherited one.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub kernel_params: Option<Vec<KernelParameter>>,
}

/// A kernel command-line parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelParameter {
    /// Name of the parameter, such as `console`. The prefix `!` removes an inherited one.
    pub name: String,
    /// Value of the parameter. `True` makes it a flag without a value.
    pub value: Option<String>,
}

/// Tags, labels and location of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notes {
    /// Tags. Merged with inherited ones; a tag with the prefix `!` removes an inherited one.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub tags: Option<Vec<String>>,
    /// Labels of the host for the workload platform, such as Kubernetes node labels.
    pub owner_data: Option<BTreeMap<String, String>>,
    /// Name of the Rack document that the host is in.
    pub rack: Option<String>,
    /// MAC address of the PXE interface. Unique within the site. Not inherited.
    pub boot_mac: Option<String>,
}

/// A network interface of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// Name of the interface. The prefix `!` removes an inherited one.
    pub name: String,
    /// Name of the NetworkLink document that the interface uses.
    pub device_link: Option<String>,
    /// Device names or aliases of the physical ports. Several need a link with bonding.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub slaves: Option<Vec<String>>,
    /// Names of the networks on the interface. Must be allowed by the link.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub networks: Option<Vec<String>>,
    /// SR-IOV virtual functions of the interface.
    pub sriov: Option<Sriov>,
}

/// SR-IOV settings of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sriov {
    /// Number of virtual functions.
    pub vf_count: Option<i64>,
    /// Whether the virtual functions are trusted. Defaults to false.
    pub trustedmode: Option<bool>,
}

/// A volume of a hardware RAID controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaidVolume {
    /// Name of the volume. The prefix `!` removes an inherited one.
    pub name: String,
    /// RAID level: `0`, `1`, `5`, `6`, `10`, `50` or `60`.
    pub level: Option<String>,
    /// Disks of the volume, as device names or aliases.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub disks: Option<Vec<String>>,
    /// Hot spare disks, as device names or aliases.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub spares: Option<Vec<String>>,
    /// Size of the volume, such as `200g`. Defaults to all available space.
    pub size: Option<String>,
}

/// Declares the selectable fields and columns that hosts and profiles share.
pub(super) fn declare_host<T: Resource>(declaration: Declaration<T>) -> Declaration<T> {
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
