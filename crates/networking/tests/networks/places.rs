//! What the tests write, and where it is.

use serde_json::{Value, json};
use testbed::server::Client;

use super::objects::make;

/// Where the control planes of these servers are.
pub const PROJECTS: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants";
pub const PROJECT: &str = "acme";
const API: &str = "networking.datumapis.com/v1alpha";

/// Where objects of a kind are in the default namespace of the project.
pub fn of(plural: &str) -> String {
    format!("{PROJECTS}/{PROJECT}/control-plane/apis/{API}/namespaces/default/{plural}")
}

/// Where cluster-scoped objects of a kind are in the project.
pub fn at_cluster(plural: &str) -> String {
    format!("{PROJECTS}/{PROJECT}/control-plane/apis/{API}/{plural}")
}

/// Makes the project.
pub async fn make_project(client: &Client) {
    let project = json!({"apiVersion": "tenants.example.groundplane.dev/v1alpha1", "kind": "Tenant",
        "metadata": {"name": PROJECT}});
    make(client, PROJECTS, &project).await;
}

/// An object of the group.
pub fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// A network with these ranges.
pub fn network(name: &str, ipv4: &str, ipv6: &str) -> Value {
    let ipam = json!({"mode": "Policy", "ipv4Range": ipv4, "ipv6Range": ipv6});
    object("Network", name, json!({"ipam": ipam, "ipFamilies": ["IPv4", "IPv6"]}))
}

/// The context of a network at a location.
pub fn context(network: &str, location: &str) -> Value {
    let spec = json!({"network": {"name": network}, "location": {"name": location}});
    object("NetworkContext", &format!("{network}-{location}"), spec)
}

/// A claim in a context.
pub fn claim(name: &str, network: &str, location: &str, family: &str, length: u8) -> Value {
    let spec = json!({"subnetClass": "private", "ipFamily": family, "prefixLength": length,
        "networkContext": {"name": format!("{network}-{location}")}, "location": {"name": location}});
    object("SubnetClaim", name, spec)
}

/// What a claim has: its first address and length.
pub fn allocated(claim: &Value) -> Option<String> {
    let status = claim.get("status")?;
    Some(format!("{}/{}", status.get("startAddress")?.as_str()?, status.get("prefixLength")?))
}

/// Reason of a condition.
pub fn reason(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    found.map_or(String::new(), |found| {
        format!("{}:{}", found["status"].as_str().unwrap(), found["reason"].as_str().unwrap())
    })
}
