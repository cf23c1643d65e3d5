//! Host: a bare-metal machine that clusters are made of.

use std::net::IpAddr;

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{
    Bucket, Change, Declaration, Effect, Metadata, Missing, OnDelete, Planes, Reference, Refusal, Resource,
    Sealed, Sentence, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hardware::Hardware;
use super::host_claim::HostClaim;
use super::host_class::HostClass;
use super::hub::Hub;
use crate::identity;
use crate::node_label;
use crate::references::{MOST_PASSWORD, NameReference, SealedReference};
use crate::states::{HostPhase, HostPowerState, HostState};

/// Label of a host that its source no longer lists. It is not chosen for clusters. Set and removed by the source.
pub const MISSING_LABEL: &str = "sources.groundplane.dev/missing";
/// Label of a host that its source holds back, such as during maintenance. It is not chosen for clusters.
pub const HELD_BACK_LABEL: &str = "sources.groundplane.dev/held-back";
/// Label of a host that is not joined to the inventory, with the value `off`.
pub const INVENTORY_LABEL: &str = "fulfillment.groundplane.dev/inventory";

/// Bucket of the hosts that are in no cluster, by host class.
pub const FREE: Bucket = Bucket::new("fulfillment.groundplane.dev/free-hosts");

/// A bare-metal machine that clusters are made of: how to reach its BMC, how it boots, what it is made of, and which cluster
/// it is assigned to. It cannot be deleted while somebody holds its HostClaim.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Host {
    /// Standard object metadata. The name is the identifier of the host in the fulfillment API, if that is a DNS name.
    pub metadata: Metadata,
    /// Identifier in the fulfillment API, if it is not a DNS name. The object is then named after it: the server says how.
    /// Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "id is immutable"}]))]
    pub id: Option<String>,
    /// Name in the fulfillment API, a DNS label, such as the host name. Need not be unique. Defaults to the name of the object.
    /// Joins the host to the Node of this name, if neither serial number nor MAC address does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub display_name: Option<String>,
    /// Specification of the host. Set by operators and by sources of hosts.
    #[serde(default)]
    pub spec: HostSpec,
    /// Observed state of the host. Set by the server; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<HostStatus>,
}

/// Specification of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostSpec {
    /// Desired power state. While it is not set, nobody changes the power state of a free host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_state: Option<HostPowerState>,
    /// Baseboard management controller (BMC) of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bmc: Option<Bmc>,
    /// Name of the rack, as the source of the host knows it. `status.placement` says where the inventory has the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub rack: Option<String>,
    /// Name of the HostClass of the host. Must exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub class: Option<String>,
    /// MAC address of the network interface that the host boots from, as six hexadecimal octets separated by colons. Joins
    /// the host to the Node whose Port has the same one, if no serial number does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^(([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2})?$"))]
    pub boot_mac: Option<String>,
    /// IP address of the network interface that the host boots from. DNS records of the cluster's ingress point at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 45))]
    pub boot_ip: Option<String>,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub title: Option<String>,
    /// Description for people, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub description: Option<String>,
    /// URL of the host in the user interface of its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub bcm_link: Option<String>,
    /// Hardware of the host, as its source found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<Hardware>,
    /// Name of the network interface that carries the traffic of the cluster: one of `hardware.nics`, if that is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub uplink_interface: Option<String>,
    /// Name of the network interface that the host boots from: one of `hardware.nics`, if that is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub boot_interface: Option<String>,
    /// Node of the inventory that the host is. If it is not set, the Node is found by serial number, by MAC address or by
    /// name, and `status.node` says which one it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_ref: Option<NameReference>,
    /// Keeps the host from being chosen for clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<Quarantine>,
}

/// Why a host must not be chosen for clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quarantine {
    /// Reason, for people.
    #[schemars(length(min = 1, max = 1024))]
    pub reason: String,
    /// Whether the cluster that the host is part of gets another one for it. The host leaves once that one is installed. Defaults
    /// to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<bool>,
}

/// Baseboard management controller of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bmc {
    /// URL of the BMC, with the system that the host is: `redfish-virtualmedia://192.0.2.21/redfish/v1/Systems/1`. Must not
    /// contain credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub url: Option<String>,
    /// User name at the BMC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub user: Option<String>,
    /// Password at the BMC. Write-only: it is moved into a Secret, and `passwordRef` says where it is. Who may get
    /// `hosts/credentials` reads it there. At most 1024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// Where the password is kept. Set by the server. Remove it to remove the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_ref: Option<SealedReference>,
    /// Whether the TLS certificate of the BMC is not verified. Defaults to false: then the certificate that the BMC presents
    /// first is pinned in `status.bmc`, unless `certificate` says which one it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,
    /// SHA-256 fingerprint of the TLS certificate of the BMC, as `openssl x509 -fingerprint -sha256` prints it. The BMC is
    /// trusted if it presents this certificate, regardless of its issuer. Set it to replace the one that is pinned in `status.bmc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^(([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2})?$"))]
    pub certificate: Option<String>,
}

/// Observed state of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostStatus {
    /// State of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<HostState>,
    /// Observed power state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_state: Option<HostPowerState>,
    /// Conditions of the host. `Ready` is `True` while everything that the host refers to exists; `InventoryMatched` tells
    /// which Node of the inventory the host is, and why that one; `BMCReachable` tells whether its BMC answers, and
    /// `PowerStateReached` whether the host is in the desired power state, and what it waits for if not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
    /// Identifier of the cluster that the host is assigned to: the uid of a Cluster. Not set while the host is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub cluster: Option<String>,
    /// Name of the project of that cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub project: Option<String>,
    /// Name of the Hub that manages the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub hub: Option<String>,
    /// Node of the inventory that the host is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<MatchedNode>,
    /// Where the host is, by the inventory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Who holds the host, by its HostClaim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimSummary>,
    /// How far the host is on its way into a cluster or out of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<HostProvisioning>,
    /// The BMC as it presented itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bmc: Option<ObservedBmc>,
}

/// How far a host is on its way into a cluster or out of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostProvisioning {
    /// How far it is.
    pub phase: HostPhase,
    /// Since when, in RFC 3339 format.
    #[schemars(extend("format" = "date-time"))]
    pub since: String,
    /// Identifier of the cluster that it is installed for, or that it leaves.
    #[schemars(length(max = 253))]
    pub cluster: String,
    /// Whether something of the cluster may be on its drives. Until they are cleaned, the host is not free.
    #[serde(default)]
    pub is_dirty: bool,
    /// What its provisioner says, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 2048))]
    pub message: String,
}

/// A BMC as it presented itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObservedBmc {
    /// Host and port at which it presented the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub address: Option<String>,
    /// SHA-256 fingerprint of the TLS certificate that it presented first. It has to present the same one from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 95))]
    pub certificate: Option<String>,
}

/// The Node of the inventory that a host is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatchedNode {
    /// Name of the Node.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// What the Node was found by.
    pub found_by: FoundBy,
}

/// What joins a host to a Node of the inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FoundBy {
    /// `spec.nodeRef` names it.
    Reference,
    /// It has the serial number of the host.
    Serial,
    /// A Port of it has a MAC address of the host.
    MAC,
    /// It has the name of the host.
    Name,
}

/// Where a host is, by the inventory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// Name of the Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub site: Option<String>,
    /// Name of the Rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub rack: Option<String>,
    /// Lowest rack unit that the host occupies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub start_unit: Option<i64>,
    /// Number of rack units that the host occupies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub units: Option<i64>,
    /// Face of the rack that the host is mounted at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub face: Option<String>,
    /// Ports of the Node for data, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub ports: Vec<PlacedPort>,
    /// Power feeds of the rack that the Node is connected to, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub feeds: Vec<String>,
}

/// A Port of the Node that a host is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacedPort {
    /// Name of the port on the device, such as `eth0`.
    #[schemars(length(max = 253))]
    pub name: String,
    /// MAC address of the port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 17))]
    pub mac: Option<String>,
    /// Where its cable leads, as `DEVICE PORT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub connected_to: Option<String>,
}

/// Who holds a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimSummary {
    /// Holder of the claim, as `Kind/name`.
    #[schemars(length(max = 640))]
    pub holder: String,
    /// Delegate of the holder, as `Kind/name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 640))]
    pub delegate: Option<String>,
    /// System outside that drives the BMC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub outside_driver: Option<String>,
    /// Epoch of the claim.
    #[schemars(range(min = 0))]
    pub epoch: i64,
}

impl Resource for Host {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Host";
    const PLURAL: &'static str = "hosts";

    fn declare() -> Declaration<Host> {
        let node = |path: &str| Reference::at(path, crate::INVENTORY_GROUP, "nodes").tie("is this node");
        Declaration::cluster()
            .names_creator(crate::CREATOR)
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .status()
            .seals(Sealed::at("spec.bmc.password", MOST_PASSWORD).sent_to(&[
                "spec.bmc.url",
                "spec.bmc.insecure",
                "spec.bmc.certificate",
            ]))
            .refers(Reference::to::<HostClass>("spec.class").tie("of this class"))
            .refers(
                node("spec.nodeRef.name")
                    .missing(Missing::NotReady("NodeNotFound"))
                    .on_delete(OnDelete::NotReady("NodeNotFound")),
            )
            .refers(node("status.node.name").missing(Missing::Ignore).on_delete(OnDelete::Ignore))
            .refers(Reference::to::<Hub>("status.hub").missing(Missing::Ignore).tie("managed by it"))
            .selects(&[
                "id",
                "displayName",
                "spec.class",
                "spec.rack",
                "spec.powerState",
                "spec.bootMac",
                "spec.bootIp",
                "spec.title",
                "spec.nodeRef.name",
                "spec.hardware.serial",
                "spec.hardware.nics.mac",
                "status.state",
                "status.powerState",
                "status.cluster",
                "status.project",
                "status.hub",
                "status.node.name",
                "status.provisioning.cluster",
            ])
            .searches(&[
                "id",
                "displayName",
                "spec.title",
                "spec.bootMac",
                "spec.bootIp",
                "spec.hardware.serial",
                "spec.hardware.nics.mac",
            ])
            .prints("DisplayName", "string", ".displayName")
            .prints("Class", "string", ".spec.class")
            .prints("Rack", "string", ".spec.rack")
            .prints("PowerState", "string", ".status.powerState")
            .prints("State", "string", ".status.state")
            .prints("Cluster", "string", ".status.cluster")
            .prints_wide("Holder", "string", ".status.claim.holder")
            .prints_wide("Node", "string", ".status.node.name")
            .prints_wide("BootMAC", "string", ".spec.bootMac")
            .prints_wide("BootIP", "string", ".spec.bootIp")
            .prints_wide("Hub", "string", ".status.hub")
            .prints_age()
            .bucket(FREE, |host: &Host| host.free_in().into_iter().collect())
            .validate(can_be_reached)
            .rule(is_not_driven_by_others)
            .effects(takes_its_claim_along)
            .effects(node_label::effects)
            .tells_created(&[Sentence { when: "has($.class)", says: "added host @ of class {{ $.class }}" }])
            .tells_updated(&[
                Sentence {
                    when: "has($.powerState) && (!has(before.spec.powerState) || before.spec.powerState != $.powerState)",
                    says: "set the power state of @ to {{ $.powerState.replace('HOST_POWER_STATE_', '').lowerAscii() }}",
                },
                Sentence {
                    when: "has($.quarantine) && !has(before.spec.quarantine)",
                    says: "quarantined host @: {{ $.quarantine.reason }}",
                },
                Sentence {
                    when: "!has($.quarantine) && has(before.spec.quarantine)",
                    says: "ended the quarantine of host @",
                },
                Sentence {
                    when: "has($.class) && (!has(before.spec.class) || before.spec.class != $.class)",
                    says: "moved @ to host class {{ $.class }}",
                },
                Sentence {
                    when: "has($.bmc) && has($.bmc.passwordRef) && (!has(before.spec.bmc) || \
                           !has(before.spec.bmc.passwordRef) || \
                           before.spec.bmc.passwordRef.generation != $.bmc.passwordRef.generation)",
                    says: "changed the BMC password of @",
                },
            ])
    }
}

impl Host {
    /// Identifier in the fulfillment API.
    pub fn identifier(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.metadata.name)
    }

    /// Name in the fulfillment API.
    pub fn display_name(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.metadata.name)
    }

    /// Identifier of the cluster that it is assigned to.
    pub fn cluster(&self) -> Option<&str> {
        self.status.as_ref()?.cluster.as_deref().filter(|cluster| !cluster.is_empty())
    }

    /// The class in which it is free.
    fn free_in(&self) -> Option<String> {
        let (status, labels) = (self.status.as_ref(), &self.metadata.labels);
        let is_there = !labels.contains_key(MISSING_LABEL) && !labels.contains_key(HELD_BACK_LABEL);
        let is_held = status.is_some_and(|status| status.claim.is_some() || status.provisioning.is_some());
        let is_free =
            is_there && self.cluster().is_none() && !is_held && self.metadata.deletion_timestamp.is_none();
        self.spec.class.clone().filter(|_| is_free)
    }
}

/// Its identity is one, its addresses are addresses, and its URL holds no credentials.
fn can_be_reached(change: &Change<Host>) -> Vec<FieldError> {
    let Some(host) = change.after() else { return Vec::new() };
    let mut faults = identity::faults(&host.metadata, host.id.as_deref(), host.display_name.as_deref());
    let spec = Path::of("spec");
    let boot_ip = host.spec.boot_ip.as_ref().filter(|ip| !ip.is_empty());
    if let Some(ip) = boot_ip.filter(|ip| ip.parse::<IpAddr>().is_err()) {
        let why = "must be an IPv4 or IPv6 address, such as 192.0.2.10";
        faults.push(FieldError::invalid_text(&spec.field("bootIp"), ip, why));
    }
    let url = host.spec.bmc.as_ref().and_then(|bmc| bmc.url.as_deref()).unwrap_or_default();
    let bmc = spec.field("bmc");
    if holds_credentials(url) {
        let why = "must not contain credentials: use user and password beside it";
        // The URL is not shown: what is wrong with it is that it holds a password.
        faults.push(FieldError::forbidden(&bmc.field("url"), why));
    } else if !url.is_empty() && !url.contains("://") {
        let why =
            "must have a scheme, such as redfish://192.0.2.21/redfish/v1/Systems/1 or ipmi://192.0.2.21";
        faults.push(FieldError::invalid_text(&bmc.field("url"), url, why));
    }
    faults
}

/// Whether a URL has a user name or a password before its host.
fn holds_credentials(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// What a system outside drives is not powered from here, and what somebody holds does not go.
fn is_not_driven_by_others(change: &Change<Host>, view: &mut View<'_>) -> Verdict {
    let Some(host) = change.before() else { return allow() };
    let name = &host.metadata.name;
    let power = |host: &Host| host.spec.power_state;
    match change.after() {
        None => match view.get::<HostClaim>(name).and_then(|claim| claim.spec.holder) {
            Some(holder) => Err(Refusal::Conflict(format!(
                "{holder} holds the host; release it first: groundplane host release {name}"
            ))),
            None => allow(),
        },
        Some(after) if power(after) != power(host) => {
            let claim = view.get::<HostClaim>(name);
            match claim.and_then(|claim| claim.spec.outside_driver) {
                Some(driver) => Err(Refusal::Conflict(format!(
                    "{driver} drives the BMC of the host; its power state can be set here once the claim is released"
                ))),
                None => allow(),
            }
        }
        Some(_) => allow(),
    }
}

/// The claim on a host goes with it.
fn takes_its_claim_along(change: &Change<Host>, view: &mut View<'_>) -> Result<Vec<Effect>, Refusal> {
    let (Some(host), None) = (change.before(), change.after()) else { return Ok(Vec::new()) };
    let name = &host.metadata.name;
    let is_claimed = view.exists::<HostClaim>("", name);
    Ok(is_claimed.then(|| Effect::delete(HostClaim::address("", name))).into_iter().collect())
}
