//! Volumes of an instance: disks, ConfigMaps and Secrets.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::quantity::int_or_string;

/// Something that containers or a virtual machine attach. Exactly one source is set, and it is attached at least once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Volume {
    /// Name of the volume, a DNS label. Unique within the instance; attachments refer to it.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// A disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Disk>,
    /// Files from a ConfigMap in the same namespace, one for each key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapSource>,
    /// Files from a Secret in the same namespace, one for each key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretSource>,
}

/// A disk that is made for an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// Name of the device in the instance. Unique. Defaults to `persistent-disk-` and the number of the volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub device_name: Option<String>,
    /// The disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<DiskTemplate>,
}

/// A disk by its properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskTemplate {
    /// Properties of the disk.
    pub spec: DiskSpec,
}

/// Properties of a disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskSpec {
    /// Type of the disk: `pd-standard`, which is the default.
    #[serde(default = "standard", rename = "type")]
    #[schemars(length(min = 1, max = 63))]
    pub disk_type: String,
    /// Size of the disk. Required unless an image populates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<DiskResources>,
    /// What is on the disk at first. Without it, the disk can't be mounted by a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub populator: Option<Populator>,
}

fn standard() -> String {
    super::DISK_TYPE.to_owned()
}

/// Size of a disk.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DiskResources {
    /// What is asked for.
    #[serde(default)]
    pub requests: DiskRequests,
}

/// What is asked for of a disk.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DiskRequests {
    /// Size as a Kubernetes quantity: 10Gi to 100Gi in whole Gi, and at least 25Gi if an image populates the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "int_or_string")]
    pub storage: Option<Value>,
}

/// What is on a disk at first. Exactly one field is set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Populator {
    /// An image, which makes the disk bootable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<DiskImage>,
    /// An empty filesystem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<Filesystem>,
}

/// An image of a disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskImage {
    /// Name of the image: `datumcloud/ubuntu-2204-lts`.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// An empty filesystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Filesystem {
    /// Type of the filesystem: `ext4`.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 63))]
    pub filesystem_type: String,
}

/// A ConfigMap as files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMapSource {
    /// Name of the ConfigMap.
    #[serde(default)]
    #[schemars(length(max = 253))]
    pub name: String,
    /// Permissions of the files, 0 to 0777 in octal, or the same number in decimal. Defaults to 0644.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<i32>,
    /// Not implemented: must be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub items: Vec<KeyToPath>,
    /// Whether the instance starts without the ConfigMap. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// A Secret as files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretSource {
    /// Name of the Secret.
    #[serde(default)]
    #[schemars(length(max = 253))]
    pub secret_name: String,
    /// Permissions of the files, 0 to 0777 in octal, or the same number in decimal. Defaults to 0644.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<i32>,
    /// Not implemented: must be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub items: Vec<KeyToPath>,
    /// Whether the instance starts without the Secret. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// A key with the path of its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyToPath {
    /// The key.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
    /// Path of the file below the mount point.
    #[schemars(length(min = 1, max = 4096))]
    pub path: String,
    /// Permissions of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<i32>,
}

/// A volume that a container or a virtual machine attaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeAttachment {
    /// Name of the volume.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Where the volume is mounted. Unique within a container. A disk without it is attached as a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub mount_path: Option<String>,
}

/// Amounts of resources by name, such as `cpu` and `memory`.
pub type ResourceList = BTreeMap<String, Value>;
