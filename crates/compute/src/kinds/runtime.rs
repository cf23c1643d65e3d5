//! What an instance runs: containers in a sandbox, or a virtual machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::volume::{ResourceList, VolumeAttachment};

/// What an instance runs, and on what. Exactly one of `sandbox` and `virtualMachine` is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// How large an instance is.
    pub resources: RuntimeResources,
    /// Containers that share a network and are started together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
    /// A virtual machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_machine: Option<VirtualMachine>,
    /// Name of the RuntimeClass. Immutable once set. Defaults to the default class of the catalog, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub class: Option<String>,
}

/// How large an instance is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeResources {
    /// Name of the InstanceType, such as `datumcloud-d1-standard-2`. `datumcloud/d1-standard-2` and `d1-standard-2` mean the
    /// same.
    #[schemars(length(min = 1, max = 253))]
    pub instance_type: String,
    /// Not implemented: must be empty.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, Quantity>", length(max = 20))]
    pub requests: ResourceList,
}

/// An amount of a resource, for the schema.
#[derive(JsonSchema)]
#[schemars(extend("x-kubernetes-int-or-string" = true))]
#[allow(dead_code, reason = "describes values that are kept as JSON")]
struct Quantity(Value);

/// Containers that share a network and are started together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sandbox {
    /// The containers. At least one.
    #[serde(default)]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub containers: Vec<Container>,
    /// Secrets with credentials of registries, in the same namespace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub image_pull_secrets: Vec<SecretName>,
}

/// A Secret by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretName {
    /// Name of the Secret.
    #[serde(default)]
    #[schemars(length(max = 253))]
    pub name: String,
}

/// A container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Container {
    /// Name of the container, a DNS label. Unique within the sandbox.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Image with its registry, such as `ghcr.io/acme/api:1.4.2`.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub image: String,
    /// Program to run instead of the image's entrypoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub command: Vec<String>,
    /// Arguments to use instead of the image's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub args: Vec<String>,
    /// Environment variables. They take precedence over `envFrom`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 500), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub env: Vec<EnvVar>,
    /// ConfigMaps and Secrets whose keys are environment variables. Where two have a key, the later counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub env_from: Vec<EnvFrom>,
    /// Not implemented: must be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ContainerResources>,
    /// Volumes that are mounted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub volume_attachments: Vec<VolumeAttachment>,
    /// Ports that the container listens on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub ports: Vec<Port>,
    /// Whether requests are sent to the instance: the instance is ready once the probe of every container succeeds.
    /// Without one, a container that runs is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readiness_probe: Option<Probe>,
    /// Whether the container still works: it is restarted once the probe fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liveness_probe: Option<Probe>,
}

/// Resources of a container.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContainerResources {
    /// Not implemented: must be empty.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, Quantity>", length(max = 20))]
    pub limits: ResourceList,
    /// Not implemented: must be empty.
    #[serde(default, skip_serializing_if = "ResourceList::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, Quantity>", length(max = 20))]
    pub requests: ResourceList,
}

/// An environment variable: a value, or where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvVar {
    /// Name of the variable.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Value. `$(NAME)` stands for a variable that was set before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub value: Option<String>,
    /// Where the value comes from. Not together with `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_from: Option<EnvSource>,
}

/// Where the value of a variable comes from. Exactly one field is set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvSource {
    /// A key of a Secret in the same namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_key_ref: Option<KeyRef>,
    /// A key of a ConfigMap in the same namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref: Option<KeyRef>,
    /// A field of the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_ref: Option<FieldRef>,
}

/// A key of a ConfigMap or Secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyRef {
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The key.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
    /// Whether the variable is left out if the object or the key does not exist. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// A field of the instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldRef {
    /// Version of the path. Ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub api_version: Option<String>,
    /// The field: `metadata.name`, `metadata.namespace`, `metadata.uid`, `metadata.labels['KEY']` or
    /// `metadata.annotations['KEY']`.
    #[schemars(length(min = 1, max = 253))]
    pub field_path: String,
}

/// A ConfigMap or Secret whose keys are environment variables. Exactly one of them is set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvFrom {
    /// What is put before each key. A C identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub prefix: Option<String>,
    /// A ConfigMap in the same namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_ref: Option<OptionalRef>,
    /// A Secret in the same namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<OptionalRef>,
}

/// An object that need not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionalRef {
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Whether the instance starts without it. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// A port that is listened on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Port {
    /// Name of the port: at most 15 lower-case letters, digits and dashes, with at least one letter.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// The port, 1 to 65535.
    pub port: i32,
    /// Protocol: `TCP`, `UDP` or `SCTP`. Defaults to `TCP`.
    #[serde(default)]
    pub protocol: Protocol,
}

/// Protocol of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(clippy::upper_case_acronyms, reason = "as fields name them")]
pub enum Protocol {
    /// TCP.
    #[default]
    TCP,
    /// UDP.
    UDP,
    /// SCTP.
    SCTP,
}

/// A check of a container. Exactly one of `httpGet`, `tcpSocket` and `exec` is set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Probe {
    /// A request that must be answered with a status from 200 to 399.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_get: Option<HttpGet>,
    /// A port that must accept a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_socket: Option<TcpSocket>,
    /// A command in the container that must exit with 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecProbe>,
    /// Seconds before the first check. Defaults to 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3600))]
    pub initial_delay_seconds: Option<u32>,
    /// Seconds between checks. Defaults to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3600))]
    pub period_seconds: Option<u32>,
    /// Seconds that a check may take. Defaults to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 300))]
    pub timeout_seconds: Option<u32>,
    /// Failed checks in a row after which the container counts as failed. Defaults to 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub failure_threshold: Option<u32>,
}

/// A request of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HttpGet {
    /// Path of the request. Defaults to `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub path: Option<String>,
    /// Port of the container, 1 to 65535.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
}

/// A port of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TcpSocket {
    /// Port of the container, 1 to 65535.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
}

/// A command of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecProbe {
    /// The command with its arguments, without a shell.
    #[schemars(length(min = 1, max = 100))]
    pub command: Vec<String>,
}

/// A virtual machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VirtualMachine {
    /// Volumes of the machine. The first is what it boots from: a disk that an image populates.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub volume_attachments: Vec<VolumeAttachment>,
    /// Ports that the machine listens on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub ports: Vec<Port>,
}
