//! What installs clusters on hosts, behind one trait.
//!
//! A provisioner is pure: from what was seen of a hub and from what is wanted it says which calls to make and how far things
//! are. [`docs/fulfillment/provisioners.md`](../../../docs/fulfillment/provisioners.md) explains how to write one.

pub mod hypershift;
pub mod labels;

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value;

use crate::hubs::{Call, Link};
use crate::kinds::host_class::Cleaning;
use crate::kinds::hub::HubProvisioner;
use crate::states::HostPhase;

/// A kind of a hub that a provisioner reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// API version, such as `metal3.io/v1alpha1`.
    pub api_version: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Resource.
    pub plural: &'static str,
    /// Whether its objects are in the namespace of the hub. Otherwise only the one named as that namespace is looked at.
    pub is_namespaced: bool,
}

/// A hub, as provisioners need it.
#[derive(Debug, Clone, Default)]
pub struct HubFacts {
    /// Identifier.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Namespace that everything is in.
    pub namespace: String,
    /// Credentials for pulling images, as JSON. Never shown.
    pub pull_secret: String,
    /// Public SSH key of hosts.
    pub ssh_public_key: String,
    /// IP address of the hub.
    pub ip: String,
}

/// A host, as provisioners need it.
#[derive(Debug, Clone, Default)]
pub struct HostFacts {
    /// Identifier.
    pub id: String,
    /// Name for people; names objects of the hub.
    pub name: String,
    /// Identifier of its cluster.
    pub cluster: String,
    /// Node set of its cluster.
    pub node_set: String,
    /// Identifier and name of its class.
    pub class: (String, String),
    /// How it is cleaned.
    pub cleaning: Cleaning,
    /// Whether nothing of a cluster is on its drives: nothing was ever written, or it was cleaned.
    pub is_clean: bool,
    /// URL of its BMC.
    pub bmc_url: String,
    /// User at its BMC.
    pub bmc_user: String,
    /// Password at its BMC. Never shown.
    pub bmc_password: String,
    /// Whether the certificate of its BMC is not verified.
    pub bmc_insecure: bool,
    /// MAC address that it boots from.
    pub boot_mac: String,
    /// Device that it is installed on.
    pub root_device: Option<String>,
    /// Image that it runs.
    pub image: String,
}

/// A cluster, as provisioners need it.
#[derive(Debug, Clone, Default)]
pub struct ClusterFacts {
    /// Identifier.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Name of its objects in the hub.
    pub alias: String,
    /// Port of its API.
    pub port: i32,
    /// Domain that its names are in.
    pub domain: String,
    /// Image of its release.
    pub image: String,
    /// Number of hosts of each node set that are part of it.
    pub node_sets: BTreeMap<String, i32>,
}

/// How far a host is, and what to do for it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostStep {
    /// Calls to make, in this order.
    pub calls: Vec<Call>,
    /// How far it is.
    pub phase: HostPhase,
    /// What the hub says of it, for people.
    pub message: String,
    /// Whether it is powered on, if that is known.
    pub is_on: Option<bool>,
}

/// How far a cluster is, and what to do for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterStep {
    /// Calls to make, in this order.
    pub calls: Vec<Call>,
    /// Whether its control plane can be used.
    pub is_available: bool,
    /// Why not, or what is wrong with it: a reason in CamelCase and a message for people.
    pub trouble: Option<(String, String)>,
    /// Host and port of its API.
    pub endpoint: Option<(String, i32)>,
    /// Image that all of it runs.
    pub image: Option<String>,
    /// Number of nodes of each node set.
    pub nodes: BTreeMap<String, i32>,
    /// Kubeconfig of its administrator. Never shown.
    pub kubeconfig: Option<String>,
    /// Password of its administrator. Never shown.
    pub password: Option<String>,
    /// What is left of it, when it is to go.
    pub remains: Vec<String>,
}

/// Installs clusters on hosts.
pub trait Provisioner: Send + Sync {
    /// What drives BMCs of its hosts, as claims say it.
    fn driver(&self) -> &'static str;
    /// The kinds of a hub that it reads and writes.
    fn watches(&self) -> &'static [Watched];
    /// Whether its clusters have an API, and so names and a kubeconfig.
    fn has_api(&self) -> bool;
    /// What a hub needs before anything is placed on it: calls, in order; none if all is there.
    fn prepare(&self, hub: &HubFacts, link: &Link) -> Vec<Call>;
    /// Removes what was made for a hub.
    fn dismantle(&self, hub: &HubFacts, link: &Link) -> Vec<Call>;
    /// Brings a host into its cluster.
    fn install(&self, hub: &HubFacts, host: &HostFacts, link: &Link) -> HostStep;
    /// Takes a host out of its cluster and cleans it. It is done when the phase is `Cleaned` and there are no calls.
    fn clean(&self, hub: &HubFacts, host: &HostFacts, link: &Link) -> HostStep;
    /// Makes a cluster.
    fn cluster(&self, hub: &HubFacts, cluster: &ClusterFacts, link: &Link) -> ClusterStep;
    /// Removes a cluster. It is done when nothing remains and there are no calls.
    fn retire(&self, hub: &HubFacts, cluster: &ClusterFacts, link: &Link) -> ClusterStep;
}

/// The provisioner of a hub.
pub fn of(provisioner: HubProvisioner) -> &'static dyn Provisioner {
    match provisioner {
        HubProvisioner::HyperShift => &hypershift::HyperShift,
    }
}

/// Whether an object has everything that is wanted of it. Lists are compared as a whole.
pub fn includes(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            wanted.iter().all(|(field, wanted)| found.get(field).is_some_and(|found| includes(found, wanted)))
        }
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(found, wanted)| includes(found, wanted))
        }
        (found, wanted) => found == wanted,
    }
}

/// The apply of an object, unless the hub has it.
pub fn ensure(link: &Link, plural: &'static str, wanted: Value) -> Option<Call> {
    let name = wanted["metadata"]["name"].as_str().unwrap_or_default();
    let found = link.object(plural, name);
    let is_there = found.is_some_and(|found| includes(&Value::Object(found.0.clone()), &wanted));
    (!is_there).then_some(Call::Apply(wanted))
}

/// The deletion of an object, if the hub has it and it is not going already.
pub fn remove(link: &Link, plural: &'static str, name: &str) -> Option<Call> {
    let found = link.object(plural, name).filter(|found| !found.is_deleting())?;
    Some(Call::Delete { plural: plural.to_owned(), name: name.to_owned(), uid: found.uid().to_owned() })
}

/// The addresses of a list of texts; those that are none are left out.
pub fn addresses<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<IpAddr> {
    let mut all: Vec<IpAddr> = texts.filter_map(|text| text.parse().ok()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
