//! NetworkContext: a network at one location.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Missing, OnDelete, Planes, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::network::Network;
use crate::references::{LocationReference, NetworkReference};

/// A network at one location, in which subnets are claimed. The network controller creates it for the first
/// NetworkBinding, with the name `<network>-<location>`, and it goes with the network.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NetworkContext {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the context. Immutable.
    pub spec: NetworkContextSpec,
    /// Observed state of the context. Set by the network controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<NetworkContextStatus>,
}

/// Specification of a network context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self == oldSelf", "message": "spec is immutable"},
]))]
pub struct NetworkContextSpec {
    /// Network, in the same namespace.
    pub network: NetworkReference,
    /// Location of this part of the network.
    pub location: LocationReference,
}

/// Observed state of a network context.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct NetworkContextStatus {
    /// `Ready` is `True` while the network is.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for NetworkContext {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "NetworkContext";
    const PLURAL: &'static str = "networkcontexts";

    fn declare() -> Declaration<NetworkContext> {
        let network = Reference::to::<Network>("spec.network.name").same_namespace();
        Declaration::namespaced()
            .planes(Planes::Project)
            .status()
            .refers(network.missing(Missing::NotReady("NetworkNotFound")).on_delete(OnDelete::Ignore))
            .selects(&["spec.network.name", "spec.location.name"])
            .prints("Network", "string", ".spec.network.name")
            .prints("Location", "string", ".spec.location.name")
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
            .prints_age()
    }
}
