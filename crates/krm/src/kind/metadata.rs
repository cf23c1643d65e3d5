//! Metadata of an object of ours, read as a type.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What every object has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The beginning of a name that the server completes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub generate_name: String,
    /// Its namespace; empty when its kind has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its identity.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The version it was read at.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// How often what is wanted of it has changed.
    #[serde(skip_serializing_if = "is_zero")]
    pub generation: i64,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<String>,
    /// When its deletion was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<String>,
    /// What it is selected by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Notes about it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// What has to happen before it may go.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
    /// Who owns it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<OwnerReference>,
}

/// One owner.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// The owner's group and version.
    pub api_version: String,
    /// The owner's kind.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// The owner's identity.
    pub uid: String,
    /// Whether it is the one that manages the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Whether the owner's foreground deletion waits for this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// The server checks metadata itself, so a kind's schema says no more than that it is there.
impl schemars::JsonSchema for Metadata {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ObjectMeta".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object" })
    }
}
