//! Node: a physical or virtual host with its hardware, addresses and rack position.

use krm::kind::{Declaration, Metadata, Missing, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{Asset, Mounting, declare_device};
use super::{Cluster, activity, declare_inventory, prints_ready};
use crate::choice::choice;
use crate::questions;
use crate::{Condition, LocalObjectReference};

/// A physical or virtual host with its hardware, addresses and rack position. It cannot be deleted while a
/// VirtualMachine is hosted on it, a Port belongs to it or another device occupies one of its slots.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the node. Set by users.
    pub spec: NodeSpec,
    /// Observation state of the node. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<NodeStatus>,
}

/// Specification of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.siteRef == oldSelf.siteRef", "message": "siteRef is immutable"},
    {"rule": "!(has(self.placement) && has(self.inSlot))", "message": "placement and inSlot are mutually exclusive"},
    {"rule": "!(has(self.lifecycle) && self.lifecycle == 'Retired' && has(self.assignment))", "message": "a Retired node must not have an assignment"},
]))]
pub struct NodeSpec {
    /// What it has in common with other assets.
    #[serde(flatten)]
    pub asset: Asset,
    /// What it has in common with other devices.
    #[serde(flatten)]
    pub mounting: Mounting,
    /// CPU, memory and disks of the node.
    pub hardware: Hardware,
    /// Network addresses of the node. Need not be unique.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub addresses: Vec<Address>,
    /// Cluster that the node is assigned to, and its role there. Must be unset if `lifecycle` is `Retired`. Determines
    /// `status.phase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Assignment>,
}

choice! {
    /// The instruction set of a CPU.
    Architecture: amd64, arm64
}

/// CPU, memory and disks of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hardware {
    /// Number of CPU cores. At least 1.
    #[schemars(range(min = 1))]
    pub cpu_cores: i32,
    /// Instruction set of the CPUs, in the notation of Go and OCI (`GOARCH`).
    pub cpu_architecture: Architecture,
    /// Memory in bytes. At least 1.
    #[schemars(range(min = 1))]
    pub memory_bytes: i64,
    /// Local disks. Names need not be unique.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub disks: Vec<Disk>,
}

choice! {
    /// The type of a disk.
    DiskType: SSD, HDD, NVMe
}

/// A disk of a node or virtual machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// Name of the disk, such as `nvme0n1`. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Capacity in bytes. At least 1.
    #[schemars(range(min = 1))]
    pub size_bytes: i64,
    /// Storage technology of the disk.
    #[serde(rename = "type")]
    pub kind: DiskType,
}

choice! {
    /// The type of a node address.
    AddressType: Internal, External, Hostname
}

/// A network address of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Address {
    /// Type of address: reachable within the site (`Internal`), from outside (`External`), or a host name (`Hostname`).
    #[serde(rename = "type")]
    pub kind: AddressType,
    /// IP address or host name. Must not be empty; its syntax is not checked.
    #[schemars(length(min = 1))]
    pub address: String,
}

choice! {
    /// The role of a node in its cluster.
    NodeRole: ControlPlane, Worker
}

/// Assignment of a node to a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Assignment {
    /// Cluster that the node belongs to. While it does not exist, the node is not Ready (`ClusterNotFound`).
    pub cluster_ref: LocalObjectReference,
    /// Role of the node in the cluster.
    pub role: NodeRole,
}

choice! {
    /// The phase of a node.
    Phase: Unassigned, Assigned, Unavailable
}

/// Observation state of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeStatus {
    /// `Assigned` if the node has an assignment, `Unassigned` if not, `Unavailable` while its Site or Cluster does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Conditions of the node. `Ready` is True once everything it refers to exists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
}

impl Resource for Node {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Node";
    const PLURAL: &'static str = "nodes";

    fn declare() -> Declaration<Node> {
        let cluster = Reference::to::<Cluster>("spec.assignment.clusterRef.name");
        let order = &["VirtualMachine", "Port", "Node", "NetworkDevice"];
        let node = declare_device(declare_inventory("vnode.inventory.miloapis.com", order))
            .tells_created(&[activity::PLACED, activity::AT_SITE])
            .tells_updated(&[activity::MOVED, activity::TAKEN_OUT, activity::ASSIGNED, activity::UNASSIGNED])
            .refers(cluster.missing(Missing::NotReady("ClusterNotFound")))
            .selects(&[
                "spec.siteRef.name",
                "spec.assignment.clusterRef.name",
                "spec.assignment.role",
                "spec.placement.rackRef.name",
                "spec.placement.face",
                "spec.inSlot.deviceRef.name",
                "spec.hardware.cpuArchitecture",
                "spec.addresses.type",
                "spec.addresses.address",
                "spec.lifecycle",
                "spec.serial",
                "spec.assetTag",
                "status.phase",
            ])
            .searches(&["spec.serial", "spec.assetTag", "spec.addresses.address"])
            .prints("Site", "string", ".spec.siteRef.name")
            .prints("Cluster", "string", ".spec.assignment.clusterRef.name")
            .prints("Role", "string", ".spec.assignment.role")
            .prints("Arch", "string", ".spec.hardware.cpuArchitecture")
            .prints("CPU", "integer", ".spec.hardware.cpuCores")
            .prints("Phase", "string", ".status.phase")
            .answers("impact", "Impact", questions::impact::answer("Node"));
        prints_ready(node)
    }
}
