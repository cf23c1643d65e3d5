//! ProtectedResource: a kind that permissions are about. Registering it is what makes its permissions valid.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observed, pending, prints_ready};

/// A kind that permissions are about.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ProtectedResource {
    /// What every object has.
    pub metadata: Metadata,
    /// What may be permitted.
    pub spec: ProtectedResourceSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Observed>,
}

/// What may be permitted on a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProtectedResourceSpec {
    /// The service it belongs to: what its permissions begin with.
    pub service_ref: ServiceReference,
    /// The kind, such as `Workload`.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// One of it, such as `workload`.
    #[schemars(length(min = 1, max = 63))]
    pub singular: String,
    /// Several of it, such as `workloads`.
    #[schemars(length(min = 1, max = 63))]
    pub plural: String,
    /// The kinds whose objects it may belong to: what is granted on those is granted on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub parent_resources: Vec<ParentResource>,
    /// The verbs that may be permitted on it.
    #[schemars(length(max = 64))]
    pub permissions: Vec<String>,
    /// The verbs that may be permitted on its subresources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub subresources: Vec<Subresource>,
}

/// A service by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceReference {
    /// The name of the service.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// A kind whose objects others belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParentResource {
    /// Its group; nothing for the core one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Its kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
}

/// What may be permitted on a subresource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subresource {
    /// Its name, such as `status`.
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// The verbs, each granted by itself.
    #[schemars(length(min = 1, max = 64), extend("x-kubernetes-list-type" = "set"))]
    pub permissions: Vec<String>,
}

impl Resource for ProtectedResource {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "ProtectedResource";
    const PLURAL: &'static str = "protectedresources";

    fn declare() -> Declaration<ProtectedResource> {
        let declaration = Declaration::cluster()
            .status()
            .selects(&["spec.serviceRef.name", "spec.kind"])
            .prepare(pending)
            .prints("Kind", "string", ".spec.kind");
        prints_ready(declaration).prints_age()
    }
}
