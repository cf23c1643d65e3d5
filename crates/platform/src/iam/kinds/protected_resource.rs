//! ProtectedResource: registers a kind, so that roles can include permissions on it.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observed, pending, prints_ready};

/// ProtectedResource registers a kind and the verbs that roles can permit on it. The server creates one for
/// every kind that it serves.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ProtectedResource {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// The registered kind and its permissions.
    pub spec: ProtectedResourceSpec,
    /// Observed state of the registration, written by the IAM controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Observed>,
}

/// The registered kind and its permissions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProtectedResourceSpec {
    /// Service that the kind belongs to. Its name is the prefix of the kind's permissions.
    pub service_ref: ServiceReference,
    /// Name of the kind in CamelCase, such as `Workload`. 1 to 63 characters.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Singular name of the resource, such as `workload`. 1 to 63 characters.
    #[schemars(length(min = 1, max = 63))]
    pub singular: String,
    /// Plural name of the resource, such as `workloads`, as used in permissions. 1 to 63 characters.
    #[schemars(length(min = 1, max = 63))]
    pub plural: String,
    /// Kinds that contain objects of this kind. A role granted on a parent also applies to the objects that
    /// it contains. At most 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub parent_resources: Vec<ParentResource>,
    /// Verbs that roles can permit on the resource, such as `get`. At most 64.
    #[schemars(length(max = 64))]
    pub permissions: Vec<String>,
    /// Verbs that roles can permit on subresources, one entry for each subresource. At most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub subresources: Vec<Subresource>,
}

/// A reference to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceReference {
    /// Name of the service, which is an API group such as `inventory.miloapis.com`. 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// A kind that contains objects of other kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParentResource {
    /// API group of the parent. Empty for the core group. At most 253 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Kind of the parent, such as `Project`. 1 to 63 characters.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
}

/// Permissions on a subresource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subresource {
    /// Name of the subresource, such as `status`. Must be a DNS label of 1 to 63 characters.
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// Verbs that roles can permit on the subresource, each separately. 1 to 64.
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
