//! VirtualMachine: what runs on a node, and how much of it is its own.

use krm::kind::{Declaration, Metadata, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node::Disk;
use super::{inventoried, prints_ready};
use crate::{LocalObjectReference, ObjectReference, Status};

/// What runs on a node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VirtualMachine {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: VirtualMachineSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// What a virtual machine is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.hostRef == oldSelf.hostRef", "message": "hostRef is immutable"},
]))]
pub struct VirtualMachineSpec {
    /// The node it runs on; to move it is to delete it and make it anew.
    pub host_ref: LocalObjectReference,
    /// Who runs it for us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<LocalObjectReference>,
    /// The project it is for, which need not be here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_ref: Option<ObjectReference>,
    /// How much of its host is its own.
    pub allocation: Allocation,
}

/// How much of its host is a virtual machine's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Allocation {
    /// How many processors it sees.
    #[schemars(range(min = 1))]
    pub vcpus: i32,
    /// How much memory it has, in bytes.
    #[schemars(range(min = 1))]
    pub memory_bytes: i64,
    /// Its disks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub disks: Vec<Disk>,
}

impl Resource for VirtualMachine {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "VirtualMachine";
    const PLURAL: &'static str = "virtualmachines";

    fn declare() -> Declaration<VirtualMachine> {
        let refer = |path, plural| Reference::at(path, super::GROUP, plural);
        let host = refer("spec.hostRef.name", "nodes").tie("hosted on it");
        let provider = refer("spec.providerRef.name", "providers");
        let machine = inventoried("vvirtualmachine.inventory.miloapis.com", &[])
            .short(&["vm"])
            .refers(host.absent("host Node {} not found"))
            .refers(provider.absent("referenced Provider {} not found"))
            .mentions("spec.projectRef")
            .selects(&[
                "spec.hostRef.name",
                "spec.providerRef.name",
                "spec.projectRef.kind",
                "spec.projectRef.name",
            ])
            .searches(&["spec.projectRef.name"])
            .prints("Host", "string", ".spec.hostRef.name")
            .prints("vCPUs", "integer", ".spec.allocation.vcpus")
            .prints("Memory", "integer", ".spec.allocation.memoryBytes")
            .prints("Provider", "string", ".spec.providerRef.name")
            .prints_age();
        prints_ready(machine)
    }
}
