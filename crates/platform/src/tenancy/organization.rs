//! Organization: a tenant that owns projects.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Planes, Resource};
use krm::names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::iam::kinds::{pending, prints_ready};

/// Organization is a tenant that owns projects. Its memberships, groups, roles and policy bindings are in the
/// namespace `organization-<name>`, which the server creates and deletes with it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Organization {
    /// Standard object metadata. The name must be a DNS label of at most 50 characters.
    pub metadata: Metadata,
    /// Desired state of the organization, written by its owners.
    #[serde(default)]
    pub spec: OrganizationSpec,
    /// Observed state of the organization, written by the tenancy controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OrganizationStatus>,
}

/// Desired state of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationSpec {
    /// Type of the organization: `Personal` for one user, `Standard` for a team. Informational.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<OrganizationType>,
    /// Contact for questions about the organization, such as billing or abuse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_info: Option<ContactInfo>,
}

/// Type of an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OrganizationType {
    /// Belongs to one user.
    Personal,
    /// Belongs to a team or a company.
    Standard,
}

/// Contact person and postal address of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactInfo {
    /// Email address of the contact. Required, 1 to 256 characters.
    #[schemars(length(min = 1, max = 256))]
    pub email: String,
    /// Full name of the contact. Required, 1 to 256 characters.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// Legal name of the company, if there is one. At most 256 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub business_name: String,
    /// Postal address of the contact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

/// A postal address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// Country as an ISO 3166-1 alpha-2 code, such as `DE`. Required.
    #[schemars(regex(pattern = "^[A-Z]{2}$"))]
    pub country: String,
    /// First address line, such as street and number. At most 256 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub line1: String,
    /// Second address line, such as building or floor. At most 256 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub line2: String,
    /// City or town. At most 128 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 128))]
    pub city: String,
    /// State, province or county. At most 128 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 128))]
    pub region: String,
    /// Postal or ZIP code. At most 32 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 32))]
    pub postal_code: String,
}

/// Observed state of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationStatus {
    /// The `metadata.generation` that the controller last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Latest observations. `Ready` is `True` once the organization can be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl Resource for Organization {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = super::ORGANIZATION;
    const PLURAL: &'static str = "organizations";

    fn declare() -> Declaration<Organization> {
        let declaration = Declaration::cluster()
            .planes(Planes::Root)
            .names(fits_a_namespace)
            .status()
            .prepare(pending)
            .prints("Display Name", "string", ".metadata.annotations.kubernetes\\.io/display-name");
        prints_ready(declaration).prints_age()
    }
}

/// The name of the organization's namespace is `organization-` and its name, and must be a DNS label.
fn fits_a_namespace(name: &str, prefix: bool) -> names::Faults {
    let mut faults = names::name_is_dns_label(name, prefix);
    if name.len() > 63 - "organization-".len() {
        faults.push("must be no more than 50 characters".into());
    }
    faults
}
