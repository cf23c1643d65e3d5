//! Circuit: a connection between two ports or sites that a provider delivers.

use krm::kind::{
    Bucket, Change, Declaration, Metadata, Reference, Resource, Sentence, Verdict, View, allow, deny,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::texts;
use super::port::PortType;
use super::{Port, Provider, Site, declare_inventory, prints_ready, resolves_endpoints};
use crate::choice::choice;
use crate::references::EndKind;
use crate::{CircuitEndpoint, LocalObjectReference, ObjectReference, Status};

/// Bucket of the circuits that terminate at a port, keyed by the port's name.
pub const AT_PORT: Bucket =
    Bucket::new("inventory.miloapis.com/circuit-at-port").stored_as("inventory-circuit-at-port");

/// A connection between two ports or sites that a provider delivers, such as a cross connect or IP transit. Its
/// provider, sites and ports cannot be deleted while the circuit refers to them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Circuit {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the circuit. Set by users.
    pub spec: CircuitSpec,
    /// Observation state of the circuit. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// The type of a circuit.
    CircuitType: CrossConnect, ProviderCircuit, Transit, Peering
}

/// Specification of a circuit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.providerRef == oldSelf.providerRef", "message": "providerRef is immutable"},
]))]
pub struct CircuitSpec {
    /// Provider that delivers the circuit. Immutable. Must exist.
    pub provider_ref: LocalObjectReference,
    /// Type of circuit. `Transit` and `Peering` lead to other networks; so does a circuit that terminates at a Site. Impact
    /// analysis uses these as uplinks.
    #[serde(rename = "type")]
    pub kind: CircuitType,
    /// Provider's identifier of the circuit. Need not be unique.
    #[serde(default, rename = "circuitID", skip_serializing_if = "Option::is_none")]
    pub circuit_id: Option<String>,
    /// Bandwidth in megabits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub bandwidth_mbps: Option<i64>,
    /// A end: the Port or Site where the circuit starts. Must exist.
    pub a_end: CircuitEndpoint,
    /// Z end: the Port or Site where the circuit terminates. Must exist. May equal the A end.
    pub z_end: CircuitEndpoint,
    /// Object, of any API group, that the circuit serves. If its kind is served here, the condition `ServiceResolved` says
    /// whether it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_ref: Option<ObjectReference>,
}

impl CircuitSpec {
    /// Whether it leads to another network, rather than between two ports of this inventory.
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
        let provider = Reference::to::<Provider>("spec.providerRef.name");
        fn end<T: Resource>(path: &str, says: &'static str) -> Reference {
            resolves_endpoints(Reference::to::<T>(path).when_kind(T::KIND).absent(says))
        }
        let site = |path| end::<Site>(path, "endpoint Site {} not found");
        let port = |path| end::<Port>(path, "endpoint Port {} not found");
        let circuit = declare_inventory("vcircuit.inventory.miloapis.com", &[])
            .tells_created(&[Sentence {
                when: "has($.providerRef)",
                says: "created @ from provider {{ $.providerRef.name }}",
            }])
            .refers(provider.absent("referenced Provider {} not found").reason("ProviderNotFound"))
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
            .answers("impact", "Impact", crate::questions::impact::answer("Circuit"))
            .rule(check_ports_carry_data);
        prints_ready(circuit)
    }
}

/// A circuit does not terminate in a power port.
fn check_ports_carry_data(change: &Change<Circuit>, view: &mut View<'_>) -> Verdict {
    let Some(circuit) = change.after() else { return allow() };
    let ends = |circuit: &Circuit| [circuit.spec.a_end.clone(), circuit.spec.z_end.clone()];
    let before = change.before().map(ends);
    for end in ends(circuit).iter().filter(|end| end.kind == EndKind::Port) {
        if before.as_ref().is_some_and(|before| before.contains(end)) {
            continue;
        }
        let Some(port) = view.get::<Port>(&end.name) else { continue };
        if port.spec.kind == PortType::Power {
            return deny(format!("a circuit does not fit Port {} of type {}", end.name, port.spec.kind));
        }
    }
    allow()
}
