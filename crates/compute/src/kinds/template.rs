//! Templates of instances: what every instance of a workload is made from.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::quantity::int_or_string;
use super::runtime::{Protocol, Runtime};
use super::volume::Volume;

/// What instances are made from. Every change of it replaces the instances, one after another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InstanceTemplate {
    /// Labels and annotations of the instances.
    #[serde(default, skip_serializing_if = "TemplateMetadata::is_empty")]
    pub metadata: TemplateMetadata,
    /// What the instances run.
    pub spec: InstanceTemplateSpec,
}

/// Metadata that instances get.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TemplateMetadata {
    /// Labels of the instances. Keys below `compute.datumapis.com/` are the platform's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 64))]
    pub labels: BTreeMap<String, String>,
    /// Annotations of the instances. `compute.datumapis.com/restartedAt` with the current time restarts all of them, and
    /// `compute.datumapis.com/restartedAt.DFW` those in a city. `compute.datumapis.com/ssh-keys` has the keys of users of a
    /// virtual machine, one `user:key` in a line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 64))]
    pub annotations: BTreeMap<String, String>,
}

impl TemplateMetadata {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.annotations.is_empty()
    }
}

/// What instances run, and what they are attached to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceTemplateSpec {
    /// Containers or a virtual machine.
    pub runtime: Runtime,
    /// Networks that instances are attached to. At least one.
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub network_interfaces: Vec<NetworkInterface>,
    /// Volumes that the runtime attaches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub volumes: Vec<Volume>,
}

/// A network that instances are attached to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkInterface {
    /// The network. Attaching takes the permission `use` on it.
    pub network: NetworkName,
    /// Who may connect to the instances. Without it, everybody who reaches their address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<NetworkPolicy>,
}

/// A network by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkName {
    /// Name of the Network, a DNS label.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Namespace of the Network. Must be that of the workload, which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

/// Who may connect.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NetworkPolicy {
    /// Allowed connections, at least one rule. What one of the rules allows is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub ingress: Vec<IngressRule>,
}

/// Allowed connections.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct IngressRule {
    /// Ports that may be connected to. Empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub ports: Vec<IngressPort>,
    /// Who may connect. Empty for everybody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub from: Vec<Peer>,
}

/// Ports that may be connected to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngressPort {
    /// Protocol. Defaults to `TCP`.
    #[serde(default)]
    pub protocol: Protocol,
    /// The port, by number or by the name of a container's port. Without it, all ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "int_or_string")]
    pub port: Option<Value>,
    /// Last port of a range that begins with `port`. At least `port`, which must be a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_port: Option<i32>,
}

/// Who may connect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Peer {
    /// Addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_block: Option<IpBlock>,
}

/// A range of addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IpBlock {
    /// The range in CIDR notation.
    #[schemars(length(min = 1, max = 64))]
    pub cidr: String,
    /// Ranges within it that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub except: Vec<String>,
}
