//! NetworkBinding: attaches something to a network at a location.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Missing, Planes, Reference, Resource, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::network::Network;
use crate::references::{LocationReference, NamespacedReference, NetworkReference};

/// Attaches a consumer, such as the instances of a workload, to a network at a location. Takes the permission `use` on
/// the network.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NetworkBinding {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the binding. Immutable.
    pub spec: NetworkBindingSpec,
    /// Observed state of the binding. Set by the network controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<NetworkBindingStatus>,
}

/// Specification of a network binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self == oldSelf", "message": "spec is immutable"},
]))]
pub struct NetworkBindingSpec {
    /// Network to attach to, in the same namespace. While it does not exist, the binding is not Ready
    /// (`NetworkNotFound`).
    pub network: NetworkReference,
    /// Location of the attachment. While it is not available to the project, the binding is not Ready
    /// (`LocationNotAvailable`).
    pub location: LocationReference,
    /// What is attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer: Option<Consumer>,
}

/// What is attached to a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Consumer {
    /// API group of the consumer.
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Kind of the consumer.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Name of the consumer, in the same namespace.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// Observed state of a network binding.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkBindingStatus {
    /// The NetworkContext of the network at the location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_context_ref: Option<NamespacedReference>,
    /// `Ready` is `True` once the NetworkContext is.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for NetworkBinding {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "NetworkBinding";
    const PLURAL: &'static str = "networkbindings";

    fn declare() -> Declaration<NetworkBinding> {
        let network = Reference::to::<Network>("spec.network.name");
        Declaration::namespaced()
            .planes(Planes::Project)
            .status()
            .refers(
                network
                    .same_namespace()
                    .missing(Missing::NotReady("NetworkNotFound"))
                    .takes("use")
                    .tie("attached to it"),
            )
            .mentions("spec.consumer")
            .selects(&["spec.network.name", "spec.location.name"])
            .prints("Network", "string", ".spec.network.name")
            .prints("Location", "string", ".spec.location.name")
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
            .prints("Reason", "string", r#".status.conditions[?(@.type=="Ready")].reason"#)
            .prints_age()
            .validate(stays_in_its_namespace)
            .tells_created(&[Sentence {
                when: "has($.network)",
                says: "attached @ to network {{ $.network.name }} at {{ $.location.name }}",
            }])
    }
}

fn stays_in_its_namespace(change: &Change<NetworkBinding>) -> Vec<FieldError> {
    let Some(binding) = change.after() else { return Vec::new() };
    match &binding.spec.network.namespace {
        Some(namespace) if *namespace != binding.metadata.namespace => {
            let why = format!("must be the namespace of the binding, {:?}", binding.metadata.namespace);
            let spec = Path::of("spec");
            let network = spec.field("network");
            vec![FieldError::invalid(&network.field("namespace"), &json!(namespace), why)]
        }
        _ => Vec::new(),
    }
}
