//! Labels of objects in hubs, by which they are found again.

/// Identifier of the cluster.
pub const CLUSTER_ID: &str = "fulfillment/cluster.id";
/// Name of the cluster.
pub const CLUSTER_NAME: &str = "fulfillment/cluster.name";
/// Identifier of the host.
pub const HOST_ID: &str = "fulfillment/host.id";
/// Name of the host.
pub const HOST_NAME: &str = "fulfillment/host.name";
/// Identifier of the host class.
pub const CLASS_ID: &str = "fulfillment/hostClass.id";
/// Name of the host class.
pub const CLASS_NAME: &str = "fulfillment/hostClass.name";
/// Identifier of the hub.
pub const HUB_ID: &str = "fulfillment/hub.id";
/// Name of the hub.
pub const HUB_NAME: &str = "fulfillment/hub.name";
/// Node set of the host.
pub const NODE_SET: &str = "fulfillment/nodeSet.name";
/// BareMetalHost of an Agent, set by the assisted installer.
pub const BARE_METAL_HOST: &str = "agent-install.openshift.io/bmh";
/// InfraEnv of a BareMetalHost.
pub const INFRA_ENV: &str = "infraenvs.agent-install.openshift.io";
/// Prefix of annotations of a BareMetalHost that become labels of its Agent.
pub const AGENT_LABEL: &str = "bmac.agent-install.openshift.io.agent-label.";

/// Labels as an object has them, without those that have no value or none that a label can have.
pub fn of(labels: &[(&str, &str)]) -> serde_json::Value {
    let usable = labels.iter().filter(|(_, value)| is_value(value));
    usable.map(|(key, value)| ((*key).to_owned(), (*value).into())).collect::<serde_json::Map<_, _>>().into()
}

/// Whether a text can be the value of a label.
pub fn is_value(text: &str) -> bool {
    !text.is_empty() && krm::names::label_value(text).is_empty()
}
