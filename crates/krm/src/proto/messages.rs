//! The messages that clients send: field by field, its number on the wire, its name in JSON, and what it holds.

mod apiextensions;
mod authentication;
mod authorization;
mod autoscaling;
mod coordination;
mod core;
mod discovery;
mod events;
mod meta;
mod rbac;
mod service;

use super::message::Message;
pub(crate) use meta::{LIST_META, STATUS};

/// The message of a kind.
pub(crate) fn find(api_version: &str, kind: &str) -> Option<&'static Message> {
    Some(match (api_version, kind) {
        // Every group has these options for its own.
        (_, "DeleteOptions") => &meta::DELETE_OPTIONS,
        ("v1", "Namespace") => &core::NAMESPACE,
        ("v1", "ConfigMap") => &core::CONFIG_MAP,
        ("v1", "Secret") => &core::SECRET,
        ("v1", "ServiceAccount") => &core::SERVICE_ACCOUNT,
        ("v1", "Event") => &core::EVENT,
        ("v1", "Service") => &service::SERVICE,
        ("v1", "Endpoints") => &service::ENDPOINTS,
        ("discovery.k8s.io/v1", "EndpointSlice") => &service::ENDPOINT_SLICE,
        ("events.k8s.io/v1", "Event") => &events::EVENT,
        ("coordination.k8s.io/v1", "Lease") => &coordination::LEASE,
        ("rbac.authorization.k8s.io/v1", "Role") => &rbac::ROLE,
        ("rbac.authorization.k8s.io/v1", "ClusterRole") => &rbac::CLUSTER_ROLE,
        ("rbac.authorization.k8s.io/v1", "RoleBinding") => &rbac::ROLE_BINDING,
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding") => &rbac::CLUSTER_ROLE_BINDING,
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview") => &authorization::SELF_SUBJECT_ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "SubjectAccessReview") => &authorization::SUBJECT_ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "LocalSubjectAccessReview") => {
            &authorization::LOCAL_SUBJECT_ACCESS_REVIEW
        }
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => &authorization::SELF_SUBJECT_RULES_REVIEW,
        ("authentication.k8s.io/v1", "SelfSubjectReview") => &authentication::SELF_SUBJECT_REVIEW,
        ("authentication.k8s.io/v1", "TokenReview") => &authentication::TOKEN_REVIEW,
        ("authentication.k8s.io/v1", "TokenRequest") => &authentication::TOKEN_REQUEST,
        ("autoscaling/v1", "Scale") => &autoscaling::SCALE,
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => &apiextensions::DEFINITION,
        ("meta.k8s.io/v1" | "meta.k8s.io/v1beta1", "PartialObjectMetadata") => &meta::PARTIAL_OBJECT_METADATA,
        ("" | "v1", "APIVersions") => &discovery::API_VERSIONS,
        ("v1", "APIGroupList") => &discovery::API_GROUP_LIST,
        ("v1", "APIGroup") => &discovery::API_GROUP,
        ("v1", "APIResourceList") => &discovery::API_RESOURCE_LIST,
        ("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList") => &discovery::GROUP_DISCOVERY_LIST,
        _ => return None,
    })
}
