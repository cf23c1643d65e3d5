//! How objects of the inventory name each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice::choice;

/// An object of a kind that the field tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LocalObjectReference {
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

choice! {
    /// What a Link may end at.
    AssetKind: Site, Cluster, NetworkDevice
}

/// An end of a Link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssetReference {
    /// The kind of what it ends at.
    pub kind: AssetKind,
    /// The name of what it ends at.
    #[schemars(length(min = 1))]
    pub name: String,
}

choice! {
    /// What a Port may be on.
    DeviceKind: Node, NetworkDevice, Rack
}

/// What a Port is on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PortDeviceReference {
    /// The kind of the device.
    pub kind: DeviceKind,
    /// The name of the device.
    #[schemars(length(min = 1))]
    pub name: String,
}

choice! {
    /// What a Circuit may end at.
    EndKind: Site, Port
}

/// An end of a Circuit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CircuitEndpoint {
    /// The kind of what it ends at.
    pub kind: EndKind,
    /// The name of what it ends at.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// An object of any group, here or elsewhere. It need not be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReference {
    /// Its group.
    #[schemars(length(min = 1))]
    pub api_group: String,
    /// Its kind.
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Its name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Its namespace, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}
