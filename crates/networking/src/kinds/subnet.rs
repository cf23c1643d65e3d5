//! Subnet: a prefix of a network that was allocated at a location.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::subnet_claim::SubnetClass;
use crate::prefix::IpFamily;
use crate::references::{LocalReference, LocationReference};

/// A prefix of a network that was allocated to a SubnetClaim. It is created with the allocation and goes with the claim.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Subnet {
    /// Standard object metadata. The name is the name of the SubnetClaim.
    pub metadata: Metadata,
    /// Specification of the subnet. Immutable.
    pub spec: SubnetSpec,
    /// Observed state of the subnet. Network providers report `Programmed` here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SubnetStatus>,
}

/// Specification of a subnet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self == oldSelf", "message": "spec is immutable"},
]))]
pub struct SubnetSpec {
    /// Class of the subnet.
    pub subnet_class: SubnetClass,
    /// Address family of the subnet.
    pub ip_family: IpFamily,
    /// NetworkContext that the subnet is in.
    pub network_context: LocalReference,
    /// Location of the subnet.
    pub location: LocationReference,
    /// First address of the subnet.
    #[schemars(length(min = 1, max = 39))]
    pub start_address: String,
    /// Length of the prefix in bits.
    #[schemars(range(max = 128))]
    pub prefix_length: u8,
}

/// Observed state of a subnet.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubnetStatus {
    /// First address of the subnet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 39))]
    pub start_address: Option<String>,
    /// Length of the prefix in bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 128))]
    pub prefix_length: Option<u8>,
    /// `Allocated` and `Ready` are `True` once the addresses can be assigned. `Programmed` is what a network provider
    /// reports: `NotProgrammed`, `ProgrammingInProgress` or `Programmed`.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for Subnet {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Subnet";
    const PLURAL: &'static str = "subnets";

    fn declare() -> Declaration<Subnet> {
        Declaration::namespaced()
            .planes(Planes::Project)
            .status()
            // Subnets come and go with their claims.
            .verbs(&["get", "list", "watch", "update", "patch"])
            .selects(&["spec.networkContext.name"])
            .prints("Context", "string", ".spec.networkContext.name")
            .prints("Start", "string", ".spec.startAddress")
            .prints("Length", "integer", ".spec.prefixLength")
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
            .prints_age()
    }
}
