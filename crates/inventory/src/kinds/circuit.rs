//! Circuit: what a provider connects for us, from a port or site to another.

use krm::kind::{Declaration, Metadata, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::texts;
use super::{inventoried, prints_ready};
use crate::choice::choice;
use crate::references::EndKind;
use crate::{CircuitEndpoint, LocalObjectReference, ObjectReference, Status};

/// The bucket of the circuits that end at a port, by the port's name.
pub const AT_PORT: &str = "inventory-circuit-at-port";

/// What a provider connects for us.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Circuit {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: CircuitSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// What a circuit is.
    CircuitType: CrossConnect, ProviderCircuit, Transit, Peering
}

/// What a circuit is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.providerRef == oldSelf.providerRef", "message": "providerRef is immutable"},
]))]
pub struct CircuitSpec {
    /// Who provides it.
    pub provider_ref: LocalObjectReference,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: CircuitType,
    /// What the provider calls it.
    #[serde(default, rename = "circuitID", skip_serializing_if = "Option::is_none")]
    pub circuit_id: Option<String>,
    /// What it carries, in megabits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub bandwidth_mbps: Option<i64>,
    /// One end.
    pub a_end: CircuitEndpoint,
    /// The other end.
    pub z_end: CircuitEndpoint,
    /// What it is for: an object of any group, which need not be here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_ref: Option<ObjectReference>,
}

impl CircuitSpec {
    /// Whether it leads to somebody else's network rather than from one port of ours to another.
    pub fn leads_out(&self) -> bool {
        matches!(self.kind, CircuitType::Transit | CircuitType::Peering)
            || [&self.a_end, &self.z_end].iter().any(|end| end.kind == EndKind::Site)
    }
}

impl Resource for Circuit {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Circuit";
    const PLURAL: &'static str = "circuits";

    fn declare() -> Declaration<Circuit> {
        let refer = |path, plural| Reference::at(path, super::GROUP, plural);
        let site = |path| refer(path, "sites").when_kind("Site").absent("endpoint Site {} not found");
        let port = |path| refer(path, "ports").when_kind("Port").absent("endpoint Port {} not found");
        let circuit = inventoried("vcircuit.inventory.miloapis.com", &[])
            .refers(refer("spec.providerRef.name", "providers").absent("referenced Provider {} not found"))
            .refers(site("spec.aEnd.name"))
            .refers(port("spec.aEnd.name"))
            .refers(site("spec.zEnd.name"))
            .refers(port("spec.zEnd.name"))
            .mentions("spec.serviceRef")
            .selects(&[
                "spec.providerRef.name",
                "spec.type",
                "spec.circuitID",
                "spec.aEnd.kind",
                "spec.aEnd.name",
                "spec.zEnd.kind",
                "spec.zEnd.name",
                "spec.serviceRef.kind",
                "spec.serviceRef.name",
            ])
            .searches(&["spec.circuitID"])
            .prints("Provider", "string", ".spec.providerRef.name")
            .prints("Type", "string", ".spec.type")
            .prints("CircuitID", "string", ".spec.circuitID")
            .prints("Mbps", "integer", ".spec.bandwidthMbps")
            .prints_age()
            .bucket_raw(AT_PORT, |circuit| {
                let end = |end: &str| {
                    let is_port = texts(circuit, &format!("{end}.kind")).any(|kind| kind == "Port");
                    texts(circuit, &format!("{end}.name")).filter(move |_| is_port)
                };
                end("spec.aEnd").chain(end("spec.zEnd")).collect()
            })
            .answers("impact", "Impact", crate::questions::impact::answer("Circuit"));
        prints_ready(circuit)
    }
}
