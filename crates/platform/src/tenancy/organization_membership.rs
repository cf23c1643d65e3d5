//! OrganizationMembership: a user belongs to an organization, with these roles on it.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, OnDelete, Planes, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::iam::directory::namespace_of_organization;
use crate::iam::kinds::{RoleReference, pending, prints_ready};

/// A user belongs to an organization.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OrganizationMembership {
    /// What every object has.
    pub metadata: Metadata,
    /// Who belongs to which.
    pub spec: OrganizationMembershipSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OrganizationMembershipStatus>,
}

/// Who belongs to which organization, with which roles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationMembershipSpec {
    /// The organization.
    pub organization_ref: NamedReference,
    /// The user.
    pub user_ref: NamedReference,
    /// The roles on the organization.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub roles: Vec<RoleReference>,
}

/// Something by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedReference {
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// What is observed of a membership.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationMembershipStatus {
    /// The generation that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Everything that was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Who the user is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Member>,
    /// What the organization is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<Joined>,
    /// What became of each role.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub applied_roles: Vec<AppliedRole>,
}

/// Who a member is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The email address.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// The first name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub given_name: String,
    /// The last name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub family_name: String,
    /// A picture.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub avatar_url: String,
}

/// What an organization is called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Joined {
    /// What people call it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    /// Whom to ask.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub contact_email: String,
}

/// What became of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedRole {
    /// Its name.
    pub name: String,
    /// Its namespace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Whether it is bound.
    #[schemars(extend("enum" = ["Applied", "Pending", "Failed"]))]
    pub status: String,
    /// Why not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The binding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_binding_ref: Option<RoleReference>,
    /// Since when.
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
        let organization = Reference::at("spec.organizationRef.name", super::GROUP, "organizations");
        let user = Reference::at("spec.userRef.name", crate::iam::GROUP, "users");
        let declaration = Declaration::namespaced()
            .planes(Planes::Root)
            .status()
            .refers(organization.immutable().on_delete(OnDelete::Ignore))
            .refers(user.immutable().on_delete(OnDelete::Ignore))
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

/// A membership is in the namespace of its organization, so that its owners decide who belongs to it.
fn is_where_it_belongs(change: &Change<OrganizationMembership>) -> Vec<FieldError> {
    let Some(membership) = change.after() else { return Vec::new() };
    let organization = &membership.spec.organization_ref.name;
    let namespace = namespace_of_organization(organization);
    match membership.metadata.namespace == namespace {
        true => Vec::new(),
        false => {
            let why = format!("its memberships are in namespace {namespace:?}");
            vec![FieldError::invalid_text(
                &Path::of("spec").field("organizationRef").field("name"),
                organization,
                why,
            )]
        }
    }
}
