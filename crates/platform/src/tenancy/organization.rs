//! Organization: who projects belong to.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Planes, Resource};
use krm::names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::iam::kinds::{pending, prints_ready};

/// Who projects belong to. Its members, groups, roles and bindings are in the namespace `organization-<name>`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Organization {
    /// What every object has.
    pub metadata: Metadata,
    /// Who it is.
    #[serde(default)]
    pub spec: OrganizationSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OrganizationStatus>,
}

/// Who an organization is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationSpec {
    /// Whether it is one person's or several people's.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<OrganizationType>,
    /// Whom to ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_info: Option<ContactInfo>,
}

/// Whose an organization is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OrganizationType {
    /// One person's.
    Personal,
    /// Several people's.
    Standard,
}

/// Whom to ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactInfo {
    /// The email address.
    #[schemars(length(min = 1, max = 256))]
    pub email: String,
    /// The name.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// The company.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub business_name: String,
    /// Where letters go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

/// Where letters go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// The country, in two letters.
    #[schemars(regex(pattern = "^[A-Z]{2}$"))]
    pub country: String,
    /// The first line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub line1: String,
    /// The second line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub line2: String,
    /// The city.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 128))]
    pub city: String,
    /// The state, province or county.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 128))]
    pub region: String,
    /// The postal code.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 32))]
    pub postal_code: String,
}

/// What is observed of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationStatus {
    /// The generation that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Everything that was found.
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

/// Its namespace is called `organization-` and its name, and no longer than a label.
fn fits_a_namespace(name: &str, prefix: bool) -> names::Faults {
    let mut faults = names::name_is_dns_label(name, prefix);
    if name.len() > 63 - "organization-".len() {
        faults.push("must be no more than 50 characters".into());
    }
    faults
}
