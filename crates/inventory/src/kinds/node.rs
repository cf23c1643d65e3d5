//! Node: a host, physical or virtual, with its hardware, addresses and place.

use krm::kind::{Declaration, Metadata, Missing, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{self, Device, InSlot, Lifecycle, Slot};
use super::placement::Placement;
use super::{inventoried, prints_ready};
use crate::choice::choice;
use crate::questions;
use crate::{Condition, LocalObjectReference};

/// A host, physical or virtual, with its hardware, addresses and place.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: NodeSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<NodeStatus>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.siteRef == oldSelf.siteRef", "message": "siteRef is immutable"},
    {"rule": "!(has(self.placement) && has(self.inSlot))", "message": "a device is in a rack or in a slot of another device, not in both"},
    {"rule": "!(has(self.lifecycle) && self.lifecycle == 'Retired' && has(self.assignment))", "message": "a retired node is assigned to no cluster"},
]))]
pub struct NodeSpec {
    /// The site it is at.
    pub site_ref: LocalObjectReference,
    /// What it is made of.
    pub hardware: Hardware,
    /// How it is reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub addresses: Vec<Address>,
    /// The cluster it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Assignment>,
    /// Where in a rack it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// In which slot of another device it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_slot: Option<InSlot>,
    /// The slots it has for other devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub slots: Vec<Slot>,
    /// Its serial number, like that of no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub serial: Option<String>,
    /// Our own number on it, like that of no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub asset_tag: Option<String>,
    /// How far it is in its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// What it draws at most, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub drawn_watts: Option<i64>,
}

choice! {
    /// What its processors understand.
    Architecture: amd64, arm64
}

/// What a node is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hardware {
    /// How many cores it has.
    #[schemars(range(min = 1))]
    pub cpu_cores: i32,
    /// What they understand.
    pub cpu_architecture: Architecture,
    /// How much memory it has, in bytes.
    #[schemars(range(min = 1))]
    pub memory_bytes: i64,
    /// Its disks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub disks: Vec<Disk>,
}

choice! {
    /// How a disk stores.
    DiskType: SSD, HDD, NVMe
}

/// A disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// What it is called.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How much it stores, in bytes.
    #[schemars(range(min = 1))]
    pub size_bytes: i64,
    /// How it stores.
    #[serde(rename = "type")]
    pub kind: DiskType,
}

choice! {
    /// From where an address is reached.
    AddressType: Internal, External, Hostname
}

/// How a node is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Address {
    /// From where.
    #[serde(rename = "type")]
    pub kind: AddressType,
    /// The address itself.
    #[schemars(length(min = 1))]
    pub address: String,
}

choice! {
    /// What a node does in its cluster.
    NodeRole: ControlPlane, Worker
}

/// The cluster that a node works in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Assignment {
    /// The cluster.
    pub cluster_ref: LocalObjectReference,
    /// What it does there.
    pub role: NodeRole,
}

choice! {
    /// Whether a node is at work.
    Phase: Unassigned, Assigned, Unavailable
}

/// What is observed of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeStatus {
    /// Whether it is at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Everything that was looked at.
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
        let refer = |path, plural| Reference::at(path, super::GROUP, plural);
        let site = refer("spec.siteRef.name", "sites");
        let cluster = refer("spec.assignment.clusterRef.name", "clusters");
        let rack = refer("spec.placement.rackRef.name", "racks");
        let node =
            inventoried("vnode.inventory.miloapis.com", &["VirtualMachine", "Port", "Node", "NetworkDevice"])
                .refers(site.missing(Missing::NotReady("SiteNotFound")))
                .refers(cluster.missing(Missing::NotReady("ClusterNotFound")))
                .refers(rack.absent("referenced Rack {} not found").tie("placed in it"))
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
        device::found_by_place(prints_ready(in_device(node))).rule(device::is_well_kept)
    }
}

/// The references of a device to the one whose slot it is in.
pub(super) fn in_device<D: Device>(declaration: Declaration<D>) -> Declaration<D> {
    let refer =
        |plural| Reference::at("spec.inSlot.deviceRef.name", super::GROUP, plural).tie("slotted in it");
    declaration.refers(refer("nodes").when_kind("Node").absent("referenced Node {} not found")).refers(
        refer("networkdevices").when_kind("NetworkDevice").absent("referenced NetworkDevice {} not found"),
    )
}
