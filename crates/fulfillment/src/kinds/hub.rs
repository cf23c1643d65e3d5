//! Hub: a Kubernetes cluster that hosts the control planes of clusters and provisions their hosts.

use std::net::IpAddr;

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Planes, Reference, Resource, Sealed, Sentence};
use krm::names::dns1123_label;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dns_zone::DnsZone;
use crate::identity;
use crate::references::{MOST_FILE, SealedReference};
use crate::states::HubState;

/// A Kubernetes cluster that hosts the control planes of clusters and provisions their hosts. Tenants never see it. It
/// cannot be deleted while a Host or a cluster is on it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hub {
    /// Standard object metadata. The name is the identifier of the hub in the fulfillment API, if that is a DNS name.
    pub metadata: Metadata,
    /// Identifier in the fulfillment API, if it is not a DNS name. The object is then named after it: the server says how.
    /// Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "id is immutable"}]))]
    pub id: Option<String>,
    /// Name in the fulfillment API, a DNS label. Need not be unique. Defaults to the name of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub display_name: Option<String>,
    /// Specification of the hub. Set by operators.
    pub spec: HubSpec,
    /// Observed state of the hub. Set by the server; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<HubStatus>,
}

/// Specification of a hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HubSpec {
    /// Kubeconfig of the hub, in YAML. Write-only: it is moved into a Secret, and `kubeconfigRef` says where it is. At most
    /// 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<String>,
    /// Where the kubeconfig is kept. Set by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig_ref: Option<SealedReference>,
    /// Namespace of the hub that everything is created in. A DNS label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// Credentials for pulling images, as a Docker configuration in JSON. Write-only: it is moved into a Secret, and
    /// `pullSecretRef` says where it is. At most 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_secret: Option<String>,
    /// Where the pull secret is kept. Set by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_secret_ref: Option<SealedReference>,
    /// Public SSH key that is installed on provisioned hosts, as in `authorized_keys`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub ssh_public_key: Option<String>,
    /// IP address of the hub. DNS records of the clusters' API endpoints point at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 45))]
    pub ip: Option<String>,
    /// What provisions clusters and their hosts. Defaults to `HyperShift`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioner: Option<HubProvisioner>,
    /// Name of the DNSZone that the names of clusters are in. If it is not set, no DNS records are made, and clusters are ready
    /// without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub zone: Option<String>,
    /// Most clusters that are placed on the hub. Defaults to the number of ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2768))]
    pub max_clusters: Option<i32>,
    /// Whether no further clusters are placed on the hub. Those that are on it stay. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cordoned: Option<bool>,
}

/// What provisions clusters and their hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HubProvisioner {
    /// HyperShift for control planes, Metal3 and the assisted installer for hosts, in the Kubernetes cluster of the kubeconfig.
    #[default]
    HyperShift,
}

/// Observed state of a hub.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HubStatus {
    /// State of the hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<HubState>,
    /// Conditions of the hub. `Ready` is `True` while clusters can be created on it. `Reachable` tells since when the hub answers,
    /// or does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
}

impl Resource for Hub {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Hub";
    const PLURAL: &'static str = "hubs";

    fn declare() -> Declaration<Hub> {
        Declaration::cluster()
            .names_creator(crate::CREATOR)
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .status()
            .seals(Sealed::at("spec.kubeconfig", MOST_FILE))
            .seals(Sealed::at("spec.pullSecret", MOST_FILE))
            .refers(Reference::to::<DnsZone>("spec.zone").tie("names of its clusters are in it"))
            .selects(&["id", "displayName", "spec.namespace", "spec.ip", "status.state"])
            .searches(&["id", "displayName", "spec.ip"])
            .prints("DisplayName", "string", ".displayName")
            .prints("Namespace", "string", ".spec.namespace")
            .prints("IP", "string", ".spec.ip")
            .prints("State", "string", ".status.state")
            .prints_age()
            .validate(can_be_used)
            .tells_created(&[Sentence { when: "true", says: "added hub @" }])
            .tells_updated(&[Sentence {
                when: "has($.kubeconfigRef) && (!has(before.spec.kubeconfigRef) || \
                       before.spec.kubeconfigRef.generation != $.kubeconfigRef.generation)",
                says: "replaced the kubeconfig of hub @",
            }])
    }
}

/// Its identity is one, and its fields can be what they say.
fn can_be_used(change: &Change<Hub>) -> Vec<FieldError> {
    let Some(hub) = change.after() else { return Vec::new() };
    let mut faults = identity::faults(&hub.metadata, hub.id.as_deref(), hub.display_name.as_deref());
    let spec = Path::of("spec");
    if let Some(namespace) = &hub.spec.namespace {
        let path = spec.field("namespace");
        let wrong = dns1123_label(namespace).into_iter();
        faults.extend(wrong.map(|why| FieldError::invalid_text(&path, namespace, why)));
    }
    if let Some(ip) = hub.spec.ip.as_ref().filter(|ip| ip.parse::<IpAddr>().is_err()) {
        let why = "must be an IPv4 or IPv6 address, such as 192.0.2.10";
        faults.push(FieldError::invalid_text(&spec.field("ip"), ip, why));
    }
    if let Some(key) = hub.spec.ssh_public_key.as_ref().filter(|key| !is_public_key(key)) {
        let why = "must be a public key as in authorized_keys, such as ssh-ed25519 AAAA… comment";
        let shown: String = key.chars().take(SHOWN_OF_KEY).collect();
        faults.push(FieldError::invalid_text(&spec.field("sshPublicKey"), &shown, why));
    }
    faults
}

/// Characters of a wrong key that a message shows: somebody may have sent a private one.
const SHOWN_OF_KEY: usize = 12;

fn is_public_key(key: &str) -> bool {
    let mut words = key.split_whitespace();
    let is_type = |word: &str| ["ssh-", "ecdsa-", "sk-"].iter().any(|prefix| word.starts_with(prefix));
    let is_one_line = !key.trim().contains('\n');
    let is_data = |word: &str| krm::base64::decode(word).is_ok();
    is_one_line && words.next().is_some_and(is_type) && words.next().is_some_and(is_data)
}
