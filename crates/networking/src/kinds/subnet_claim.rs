//! SubnetClaim: asks for a prefix of a network at a location.

use std::net::IpAddr;

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{
    Change, Declaration, Effect, Metadata, Missing, OnDelete, OwnerReference, Planes, Reference, Refusal,
    Resource, Sentence, View,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::network::Network;
use super::network_context::NetworkContext;
use super::subnet::{Subnet, SubnetSpec, SubnetStatus};
use crate::allocation::{self, Request, Unallocated};
use crate::prefix::{IpFamily, Prefix};
use crate::references::{LocalReference, LocationReference};

/// Length of an IPv4 prefix if the claim names none.
const DEFAULT_IPV4_LENGTH: u8 = 20;
/// Length of an IPv6 prefix if the claim names none.
const DEFAULT_IPV6_LENGTH: u8 = 64;
/// Reason of the condition by which the controller asks for another attempt.
pub const ALLOCATING: &str = "Allocating";

/// Asks for a prefix of a network at a location. The prefix is allocated in the transaction that creates the claim, and
/// released in the one that deletes it. A claim that gets nothing waits until there is room.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SubnetClaim {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the claim. Immutable.
    pub spec: SubnetClaimSpec,
    /// What was allocated. Set by the server; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SubnetClaimStatus>,
}

/// Specification of a subnet claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self == oldSelf", "message": "spec is immutable"},
]))]
pub struct SubnetClaimSpec {
    /// Class of the subnet.
    pub subnet_class: SubnetClass,
    /// Address family of the subnet. The network must have a range of it.
    pub ip_family: IpFamily,
    /// NetworkContext to allocate in, in the same namespace. The claim waits while it does not exist.
    pub network_context: LocalReference,
    /// Location of the subnet: that of the NetworkContext.
    pub location: LocationReference,
    /// First address of the subnet. Must be the first of a prefix of this length. Defaults to any that is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 39))]
    pub start_address: Option<String>,
    /// Length of the prefix in bits. Defaults to 20 for IPv4 and 64 for IPv6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 8, max = 128))]
    pub prefix_length: Option<u8>,
}

/// Class of a subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum SubnetClass {
    /// For addresses within the network.
    #[default]
    #[serde(rename = "private")]
    Private,
}

/// What was allocated to a subnet claim.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubnetClaimStatus {
    /// The Subnet, in the same namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnet_ref: Option<LocalReference>,
    /// The Network that the prefix is part of, in the same namespace. It can't be deleted while the claim exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_ref: Option<LocalReference>,
    /// First address of the subnet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 39))]
    pub start_address: Option<String>,
    /// Length of the prefix in bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 128))]
    pub prefix_length: Option<u8>,
    /// `Allocated` is `True` once the claim has a prefix, and then `Ready` is too.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for SubnetClaim {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "SubnetClaim";
    const PLURAL: &'static str = "subnetclaims";

    fn declare() -> Declaration<SubnetClaim> {
        let context = Reference::to::<NetworkContext>("spec.networkContext.name");
        let network = Reference::to::<Network>("status.networkRef.name");
        Declaration::namespaced()
            .planes(Planes::Project)
            .status()
            .refers(
                context
                    .same_namespace()
                    .missing(Missing::NotReady("NetworkContextNotFound"))
                    .on_delete(OnDelete::Block)
                    .tie("allocated in it"),
            )
            .refers(network.same_namespace().missing(Missing::Ignore).tie("allocated in it"))
            .selects(&["spec.networkContext.name"])
            .prints("Context", "string", ".spec.networkContext.name")
            .prints("Start", "string", ".status.startAddress")
            .prints("Length", "integer", ".status.prefixLength")
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
            .prints("Reason", "string", r#".status.conditions[?(@.type=="Ready")].reason"#)
            .prints_age()
            .validate(asks_for_a_prefix)
            .effects(allocates)
            .tells_created(&[Sentence {
                when: "has($.networkContext)",
                says: "claimed subnet @ in {{ $.networkContext.name }}",
            }])
    }
}

impl SubnetClaim {
    /// What it has.
    pub fn allocated(&self) -> Option<Prefix> {
        let status = self.status.as_ref()?;
        Prefix::new(status.start_address.as_ref()?.parse().ok()?, status.prefix_length?)
    }

    /// What it asks for.
    pub fn request(&self) -> Request {
        let default = match self.spec.ip_family {
            IpFamily::IPv4 => DEFAULT_IPV4_LENGTH,
            IpFamily::IPv6 => DEFAULT_IPV6_LENGTH,
        };
        let address = self.spec.start_address.as_ref().and_then(|text| text.parse().ok());
        Request { family: self.spec.ip_family, length: self.spec.prefix_length.unwrap_or(default), address }
    }

    /// Chooses a prefix in the network of its context; the network, the prefix, and the writes that take it.
    pub fn choose(&self, view: &mut View<'_>) -> Result<(Network, Prefix, Vec<Effect>), Unallocated> {
        let namespace = &self.metadata.namespace;
        let wanted = &self.spec.network_context.name;
        let context = view.get_in::<NetworkContext>(namespace, wanted);
        let context = context.ok_or_else(|| Unallocated::NoContext(wanted.clone()))?;
        if context.spec.location.name != self.spec.location.name {
            return Err(Unallocated::OtherLocation(wanted.clone(), context.spec.location.name));
        }
        let network = view.get_in::<Network>(namespace, &context.spec.network.name);
        let network = network.ok_or(Unallocated::NoNetwork(context.spec.network.name))?;
        let (prefix, effects) = allocation::allocate(&network, self.request(), view)?;
        Ok((network, prefix, effects))
    }

    /// When its last change was made: the server sets conditions in the commit of it, without a clock of its own.
    fn time(&self) -> String {
        let conditions = self.status.iter().flat_map(|status| &status.conditions);
        let asked = conditions
            .filter(|condition| condition.reason == ALLOCATING)
            .map(|asked| &asked.last_transition_time);
        asked.max().or(self.metadata.creation_timestamp.as_ref()).cloned().unwrap_or_default()
    }

    fn condition(&self, kind: &str, is_true: bool, reason: &str, message: String) -> Condition {
        Condition {
            kind: kind.to_owned(),
            status: if is_true { "True" } else { "False" }.to_owned(),
            observed_generation: Some(self.metadata.generation),
            last_transition_time: self.time(),
            reason: reason.to_owned(),
            message,
        }
    }
}

/// A claim takes a prefix when it is made or asked again, keeps it, and gives it back when it goes.
fn allocates(change: &Change<SubnetClaim>, view: &mut View<'_>) -> Result<Vec<Effect>, Refusal> {
    match (change.before(), change.after()) {
        (Some(before), None) => Ok(give_back(before, view)),
        // What was allocated stays, whatever is written to the status.
        (Some(before), Some(_)) if before.allocated().is_some() => {
            Ok(before.status.as_ref().map(Effect::own_status).into_iter().collect())
        }
        (_, Some(claim)) => Ok(take(claim, view)),
        (None, None) => Ok(Vec::new()),
    }
}

fn take(claim: &SubnetClaim, view: &mut View<'_>) -> Vec<Effect> {
    let (network, prefix, mut effects) = match claim.choose(view) {
        Ok(chosen) => chosen,
        Err(why) => {
            let told = |kind: &str| claim.condition(kind, false, why.reason(), why.to_string());
            let conditions = vec![told("Allocated"), told("Ready")];
            return vec![Effect::own_status(&SubnetClaimStatus {
                conditions,
                ..SubnetClaimStatus::default()
            })];
        }
    };
    let status = SubnetClaimStatus {
        subnet_ref: Some(LocalReference::to(&claim.metadata.name)),
        network_ref: Some(LocalReference::to(&network.metadata.name)),
        start_address: Some(prefix.address().to_string()),
        prefix_length: Some(prefix.length()),
        conditions: vec![
            claim.condition("Allocated", true, "PrefixAllocated", format!("{prefix} was allocated")),
            claim.condition("Ready", true, "Ready", String::new()),
        ],
    };
    effects.push(Effect::own_status(&status));
    effects.push(Effect::create(&subnet(claim, prefix)));
    effects
}

fn give_back(claim: &SubnetClaim, view: &mut View<'_>) -> Vec<Effect> {
    let Some(prefix) = claim.allocated() else { return Vec::new() };
    let namespace = &claim.metadata.namespace;
    let network = claim.status.as_ref().and_then(|status| status.network_ref.as_ref());
    let network = network.and_then(|network| view.get_in::<Network>(namespace, &network.name));
    let mut effects = network.map_or(Vec::new(), |network| allocation::release(&network, prefix, view));
    if view.exists::<Subnet>(namespace, &claim.metadata.name) {
        effects.push(Effect::delete(Subnet::address(namespace, &claim.metadata.name)));
    }
    effects
}

/// The Subnet of a claim.
fn subnet(claim: &SubnetClaim, prefix: Prefix) -> Subnet {
    let (address, length) = (prefix.address().to_string(), prefix.length());
    let owner = OwnerReference {
        api_version: format!("{}/{}", SubnetClaim::GROUP, SubnetClaim::VERSION),
        kind: SubnetClaim::KIND.to_owned(),
        name: claim.metadata.name.clone(),
        uid: claim.metadata.uid.clone(),
        controller: Some(true),
        block_owner_deletion: None,
    };
    let metadata = Metadata {
        name: claim.metadata.name.clone(),
        namespace: claim.metadata.namespace.clone(),
        owner_references: vec![owner],
        ..Metadata::default()
    };
    let spec = SubnetSpec {
        subnet_class: claim.spec.subnet_class,
        ip_family: claim.spec.ip_family,
        network_context: claim.spec.network_context.clone(),
        location: claim.spec.location.clone(),
        start_address: address.clone(),
        prefix_length: length,
    };
    let unprogrammed = "No network provider has reported on this subnet".to_owned();
    let status = SubnetStatus {
        start_address: Some(address),
        prefix_length: Some(length),
        conditions: vec![
            claim.condition("Allocated", true, "PrefixAllocated", format!("{prefix} was allocated")),
            claim.condition("Programmed", false, "NotProgrammed", unprogrammed),
            claim.condition("Ready", true, "Ready", "Addresses of the subnet can be assigned".to_owned()),
        ],
    };
    Subnet { metadata, spec, status: Some(status) }
}

/// Address and length are those of a prefix of the family.
fn asks_for_a_prefix(change: &Change<SubnetClaim>) -> Vec<FieldError> {
    let Some(claim) = change.after() else { return Vec::new() };
    let (spec, request) = (Path::of("spec"), claim.request());
    let width = request.family.width();
    if request.length > width {
        let why = format!("must be at most {width} for {}", request.family.as_str());
        return vec![FieldError::invalid(&spec.field("prefixLength"), &json!(request.length), why)];
    }
    let Some(text) = &claim.spec.start_address else { return Vec::new() };
    let prefix = text.parse::<IpAddr>().ok().and_then(|address| Prefix::new(address, request.length));
    if prefix.is_some_and(|prefix| prefix.family() == request.family) {
        return Vec::new();
    }
    let why = format!(
        "must be the first address of an {} prefix of {} bits",
        request.family.as_str(),
        request.length
    );
    vec![FieldError::invalid(&spec.field("startAddress"), &json!(text), why)]
}
