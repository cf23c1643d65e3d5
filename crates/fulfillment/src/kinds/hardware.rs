//! The hardware of a host, as a source of hosts found it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hardware of a host, as its source found it. Lists are replaced as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hardware {
    /// Manufacturer's serial number of the system. Joins the host to the Node of the inventory with the same `spec.serial`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub serial: Option<String>,
    /// Manufacturer of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub manufacturer: Option<String>,
    /// Model of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub model: Option<String>,
    /// CPUs, one for each socket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub cpus: Vec<Cpu>,
    /// Memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub memory_bytes: Option<i64>,
    /// Network interfaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub nics: Vec<Nic>,
    /// Drives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512), extend("x-kubernetes-list-type" = "atomic"))]
    pub drives: Vec<Drive>,
    /// Firmware and its versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub firmware: Vec<Firmware>,
}

/// A CPU of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cpu {
    /// Model of the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub model: Option<String>,
    /// Instruction set, in the notation of Go and OCI (`GOARCH`), such as `amd64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub architecture: Option<String>,
    /// Number of cores.
    #[schemars(range(min = 1, max = 4096))]
    pub cores: i32,
    /// Number of threads. Defaults to the number of cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8192))]
    pub threads: Option<i32>,
}

/// A network interface of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Nic {
    /// Name of the interface, such as `eth0` or `NIC.Slot.1-1`.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// MAC address, as six hexadecimal octets separated by colons. Joins the host to the Node whose Port has the same one, if
    /// no serial number does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$"))]
    pub mac: Option<String>,
    /// Speed in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub speed_bps: Option<i64>,
}

/// A drive of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drive {
    /// Name of the drive, such as `nvme0n1` or `Disk.Bay.0`.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Manufacturer's serial number of the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub serial: Option<String>,
    /// Model of the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub model: Option<String>,
    /// Storage technology, such as `SSD`, `HDD` or `NVMe`.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "type")]
    #[schemars(length(min = 1, max = 63))]
    pub kind: Option<String>,
    /// Capacity in bytes.
    #[schemars(range(min = 1))]
    pub size_bytes: i64,
}

/// Firmware of a component of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Firmware {
    /// Component, such as `BIOS` or `BMC`.
    #[schemars(length(min = 1, max = 253))]
    pub component: String,
    /// Version, as the component reports it.
    #[schemars(length(min = 1, max = 253))]
    pub version: String,
}
