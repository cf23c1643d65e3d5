//! What a hub needs before clusters are placed on it: namespace, pull secret, InfraEnv and the role of the CAPI provider.

use serde_json::{Value, json};

use super::{ASSISTED, INFRA_ENVS, NAMESPACES, ROLES, SECRETS, encoded};
use crate::hubs::{Call, Link};
use crate::provisioners::{self, HubFacts, labels};

/// Name of the pull secret.
const PULL_SECRET: &str = "pull-secret";
/// Name that HyperShift expects of the role.
const ROLE: &str = "capi-provider-role";

/// Makes what is missing or was changed.
pub fn ensure(hub: &HubFacts, link: &Link) -> Vec<Call> {
    let ensure = |plural, wanted| provisioners::ensure(link, plural, wanted);
    let calls = [
        ensure(NAMESPACES, namespace(hub)),
        ensure(SECRETS, pull_secret(hub)),
        ensure(INFRA_ENVS, infra_env(hub)),
        ensure(ROLES, role(hub)),
    ];
    calls.into_iter().flatten().collect()
}

/// Removes what is ours. The namespace stays: others may use it.
pub fn remove(hub: &HubFacts, link: &Link) -> Vec<Call> {
    let all = [(ROLES, ROLE), (INFRA_ENVS, hub.namespace.as_str()), (SECRETS, PULL_SECRET)];
    let is_ours = |(plural, name): &(&'static str, &str)| {
        let found = link.object(plural, name);
        found.is_some_and(|found| found.label(labels::HUB_ID) == Some(&hub.id))
    };
    all.into_iter()
        .filter(is_ours)
        .filter_map(|(plural, name)| provisioners::remove(link, plural, name))
        .collect()
}

fn own(hub: &HubFacts) -> Value {
    labels::of(&[(labels::HUB_ID, &hub.id), (labels::HUB_NAME, &hub.name)])
}

fn namespace(hub: &HubFacts) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": hub.namespace, "labels": own(hub)},
    })
}

fn pull_secret(hub: &HubFacts) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson",
        "metadata": {"name": PULL_SECRET, "namespace": hub.namespace, "labels": own(hub)},
        "data": {".dockerconfigjson": encoded(credentials(hub))},
    })
}

/// The credentials for images; an empty configuration if the hub has none.
pub fn credentials(hub: &HubFacts) -> &str {
    match hub.pull_secret.is_empty() {
        true => r#"{"auths":{}}"#,
        false => &hub.pull_secret,
    }
}

fn infra_env(hub: &HubFacts) -> Value {
    let mut own = own(hub);
    own["networkType"] = "dhcp".into();
    let mut spec = json!({"cpuArchitecture": "x86_64", "pullSecretRef": {"name": PULL_SECRET}});
    if !hub.ssh_public_key.trim().is_empty() {
        spec["sshAuthorizedKey"] = hub.ssh_public_key.trim().into();
    }
    json!({
        "apiVersion": ASSISTED, "kind": "InfraEnv",
        "metadata": {"name": hub.namespace, "namespace": hub.namespace, "labels": own},
        "spec": spec,
    })
}

fn role(hub: &HubFacts) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": ROLE, "namespace": hub.namespace, "labels": own(hub)},
        "rules": [{"apiGroups": ["agent-install.openshift.io"], "resources": ["agents"], "verbs": ["*"]}],
    })
}
