//! VirtualMachine: a virtual machine, the node that hosts it and the resources allocated to it.

use krm::kind::{Declaration, Metadata, Reference, Resource, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node::Disk;
use super::{Node, Provider, declare_inventory, prints_ready};
use crate::{LocalObjectReference, ObjectReference, Status};

/// A virtual machine, the Node that hosts it and the resources allocated to it. The Node cannot be deleted while a
/// virtual machine is hosted on it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VirtualMachine {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the virtual machine. Set by users.
    pub spec: VirtualMachineSpec,
    /// Observation state of the virtual machine. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// Specification of a virtual machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.hostRef == oldSelf.hostRef", "message": "hostRef is immutable"},
]))]
pub struct VirtualMachineSpec {
    /// Node that hosts the virtual machine. Immutable: to migrate it, delete it and create it again. The Node must exist.
    pub host_ref: LocalObjectReference,
    /// Provider that operates the virtual machine. Must exist if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<LocalObjectReference>,
    /// Project that the virtual machine belongs to. If its kind is served here and it does not exist, the message of the
    /// condition `Ready` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_ref: Option<ObjectReference>,
    /// CPU, memory and disks allocated to the virtual machine. If the host has too little, its condition `WithinCapacity` is
    /// False.
    pub allocation: Allocation,
}

/// Resources that a virtual machine gets from its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Allocation {
    /// Number of virtual CPUs. At least 1.
    #[schemars(range(min = 1))]
    pub vcpus: i32,
    /// Memory in bytes. At least 1.
    #[schemars(range(min = 1))]
    pub memory_bytes: i64,
    /// Virtual disks. Names need not be unique.
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
        let host = Reference::to::<Node>("spec.hostRef.name").tie("hosted on it");
        let provider = Reference::to::<Provider>("spec.providerRef.name");
        let machine = declare_inventory("vvirtualmachine.inventory.miloapis.com", &[])
            .tells_created(&[Sentence {
                when: "has($.hostRef)",
                says: "created @ on host {{ $.hostRef.name }}",
            }])
            .short(&["vm"])
            .refers(host.absent("host Node {} not found").reason("HostNotFound"))
            .refers(provider.absent("referenced Provider {} not found").reason("ProviderNotFound"))
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
