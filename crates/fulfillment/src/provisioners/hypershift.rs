//! HyperShift for control planes; Metal3 and the assisted installer for hosts.

mod clusters;
mod hosts;
mod prepared;

use krm::Object;
use serde_json::Value;

use super::{ClusterFacts, ClusterStep, HostFacts, HostStep, HubFacts, Provisioner, Watched};
use crate::hubs::{Call, Link};

/// API version of HostedClusters and NodePools.
const HYPERSHIFT: &str = "hypershift.openshift.io/v1beta1";
/// API version of BareMetalHosts.
const METAL3: &str = "metal3.io/v1alpha1";
/// API version of Agents and InfraEnvs.
const ASSISTED: &str = "agent-install.openshift.io/v1beta1";

const HOSTED_CLUSTERS: &str = "hostedclusters";
const NODE_POOLS: &str = "nodepools";
const BARE_METAL_HOSTS: &str = "baremetalhosts";
const AGENTS: &str = "agents";
const INFRA_ENVS: &str = "infraenvs";
const SECRETS: &str = "secrets";
const ROLES: &str = "roles";
const NAMESPACES: &str = "namespaces";

const fn watched(
    api_version: &'static str,
    kind: &'static str,
    plural: &'static str,
    is_namespaced: bool,
) -> Watched {
    Watched { api_version, kind, plural, is_namespaced }
}

const WATCHES: [Watched; 8] = [
    watched("v1", "Namespace", NAMESPACES, false),
    watched("v1", "Secret", SECRETS, true),
    watched("rbac.authorization.k8s.io/v1", "Role", ROLES, true),
    watched(ASSISTED, "InfraEnv", INFRA_ENVS, true),
    watched(HYPERSHIFT, "HostedCluster", HOSTED_CLUSTERS, true),
    watched(HYPERSHIFT, "NodePool", NODE_POOLS, true),
    watched(METAL3, "BareMetalHost", BARE_METAL_HOSTS, true),
    watched(ASSISTED, "Agent", AGENTS, true),
];

/// The provisioner.
pub struct HyperShift;

impl Provisioner for HyperShift {
    fn driver(&self) -> &'static str {
        "Metal3"
    }

    fn watches(&self) -> &'static [Watched] {
        &WATCHES
    }

    fn has_api(&self) -> bool {
        true
    }

    fn prepare(&self, hub: &HubFacts, link: &Link) -> Vec<Call> {
        prepared::ensure(hub, link)
    }

    fn dismantle(&self, hub: &HubFacts, link: &Link) -> Vec<Call> {
        prepared::remove(hub, link)
    }

    fn install(&self, hub: &HubFacts, host: &HostFacts, link: &Link) -> HostStep {
        hosts::install(hub, host, link)
    }

    fn clean(&self, hub: &HubFacts, host: &HostFacts, link: &Link) -> HostStep {
        hosts::clean(hub, host, link)
    }

    fn cluster(&self, hub: &HubFacts, cluster: &ClusterFacts, link: &Link) -> ClusterStep {
        clusters::make(hub, cluster, link)
    }

    fn retire(&self, _: &HubFacts, cluster: &ClusterFacts, link: &Link) -> ClusterStep {
        clusters::retire(cluster, link)
    }
}

/// Text at a path of an object.
fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

/// A condition of an object: its status, reason and message.
fn condition<'a>(object: &'a Object, kind: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let found = krm::condition::find(object, kind)?;
    let text = |field: &str| found[field].as_str().unwrap_or_default();
    Some((text("status"), text("reason"), text("message")))
}

/// Whether a condition of an object is `True`.
fn holds(object: &Object, kind: &str) -> bool {
    condition(object, kind).is_some_and(|(status, ..)| status == "True")
}

/// Text as the data of a Secret has it.
fn encoded(text: &str) -> Value {
    krm::base64::encode(text.as_bytes()).into()
}

/// A value of a Secret.
fn decoded(secret: &Object, key: &str) -> Option<String> {
    let data = secret.get("data")?.get(key)?.as_str()?;
    String::from_utf8(krm::base64::decode(data).ok()?).ok()
}
