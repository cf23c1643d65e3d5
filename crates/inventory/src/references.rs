//! References between inventory objects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice::choice;

/// Reference to an object of a kind that the field determines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LocalObjectReference {
    /// Name of the referenced object. 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

choice! {
    /// The kinds that a Link may connect.
    AssetKind: Site, Cluster, NetworkDevice
}

/// An endpoint of a Link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssetReference {
    /// Kind of the endpoint: `Site`, `Cluster` or `NetworkDevice`.
    pub kind: AssetKind,
    /// Name of the endpoint. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
}

choice! {
    /// The kinds that a Port may belong to.
    DeviceKind: Node, NetworkDevice, Rack
}

/// The device that a Port belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PortDeviceReference {
    /// Kind of the device: `Node`, `NetworkDevice` or `Rack`.
    pub kind: DeviceKind,
    /// Name of the device. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
}

choice! {
    /// The kinds that a Circuit may terminate at.
    EndKind: Site, Port
}

/// A termination of a Circuit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CircuitEndpoint {
    /// Kind of the object that the circuit terminates at.
    pub kind: EndKind,
    /// Name of the object that the circuit terminates at. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// Reference to an object of any API group. The object need not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReference {
    /// API group of the object. Must not be empty.
    #[schemars(length(min = 1))]
    pub api_group: String,
    /// Kind of the object. Must not be empty.
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Name of the object. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Namespace of the object. Unset for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}
