//! OrganizationMembership: makes a user a member of an organization, and grants roles on it.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, OnDelete, Planes, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Organization;
use crate::iam::directory::namespace_of_organization;
use crate::iam::kinds::{RoleReference, User, pending, prints_ready};

/// OrganizationMembership makes a user a member of an organization and grants the listed roles on it. It must
/// be in the namespace of the organization, `organization-<name>`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OrganizationMembership {
    /// Standard object metadata. The namespace must be that of the organization.
    pub metadata: Metadata,
    /// The member, the organization and the granted roles.
    pub spec: OrganizationMembershipSpec,
    /// Observed state of the membership, written by the tenancy controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OrganizationMembershipStatus>,
}

/// The member, the organization and the granted roles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationMembershipSpec {
    /// The Organization that the user belongs to. Immutable.
    pub organization_ref: NamedReference,
    /// The User who is the member. Immutable.
    pub user_ref: NamedReference,
    /// Roles granted to the user on the organization and everything in it. The controller creates one
    /// PolicyBinding for each. At most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub roles: Vec<RoleReference>,
}

/// A reference by name to a cluster-scoped object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedReference {
    /// Name of the referenced object. Required, 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// Observed state of a membership.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationMembershipStatus {
    /// The `metadata.generation` that the controller last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Latest observations. `Ready` is `True` if user and organization exist, `RolesApplied` if every role is
    /// bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Name and email address of the member, copied from the User.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Member>,
    /// Display name and contact of the organization, copied from the Organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<Joined>,
    /// Result of binding each role in `spec.roles`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub applied_roles: Vec<AppliedRole>,
}

/// Details of a member, copied from the User.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Email address of the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// Given name of the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub given_name: String,
    /// Family name of the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub family_name: String,
    /// URL of the user's profile picture.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub avatar_url: String,
}

/// Details of an organization, copied from the Organization.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Joined {
    /// Display name of the organization, from its annotation `kubernetes.io/display-name`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    /// Email address of the organization's contact.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub contact_email: String,
}

/// Result of binding a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedRole {
    /// Name of the Role in `spec.roles`.
    pub name: String,
    /// Namespace of the Role. Defaults to the namespace of the membership.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Result of binding the role: `Applied`, `Pending` or `Failed`.
    #[schemars(extend("enum" = ["Applied", "Pending", "Failed"]))]
    pub status: String,
    /// Reason for the failure. Set if `status` is `Failed`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The PolicyBinding that grants the role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_binding_ref: Option<RoleReference>,
    /// Time at which the role was bound, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub applied_at: Option<String>,
}

impl Resource for OrganizationMembership {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "OrganizationMembership";
    const PLURAL: &'static str = "organizationmemberships";

    fn declare() -> Declaration<OrganizationMembership> {
        let organization = Reference::to::<Organization>("spec.organizationRef.name");
        let user = Reference::to::<User>("spec.userRef.name");
        let declaration = Declaration::namespaced()
            .planes(Planes::Root)
            .status()
            .refers(organization.immutable().on_delete(OnDelete::NotReady("NotFound")))
            .refers(user.immutable().on_delete(OnDelete::NotReady("NotFound")))
            .selects(&["spec.userRef.name", "spec.organizationRef.name"])
            .prepare(pending)
            .prints("Organization", "string", ".spec.organizationRef.name")
            .prints("Organization Display Name", "string", ".status.organization.displayName")
            .prints("User", "string", ".spec.userRef.name")
            .prints_wide("User Email", "string", ".status.user.email")
            .prints_wide("User Given Name", "string", ".status.user.givenName")
            .prints_wide("User Family Name", "string", ".status.user.familyName");
        prints_ready(declaration).prints_age().validate(is_where_it_belongs)
    }
}

/// A membership must be in the namespace of its organization, so that the organization's owners decide who
/// its members are.
fn is_where_it_belongs(change: &Change<OrganizationMembership>) -> Vec<FieldError> {
    let Some(membership) = change.after() else { return Vec::new() };
    let organization = &membership.spec.organization_ref.name;
    let namespace = namespace_of_organization(organization);
    match membership.metadata.namespace == namespace {
        true => Vec::new(),
        false => {
            let why = format!("memberships of this organization must be in namespace {namespace:?}");
            vec![FieldError::invalid_text(
                &Path::of("spec").field("organizationRef").field("name"),
                organization,
                why,
            )]
        }
    }
}
