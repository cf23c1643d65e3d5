//! Role: permissions under one name, its own and those of the roles it inherits from.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{pending, prints_ready};
use crate::iam::permission::Permission;

/// Permissions under one name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    /// What every object has.
    pub metadata: Metadata,
    /// What it grants.
    pub spec: RoleSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<RoleStatus>,
}

/// What a role grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleSpec {
    /// The permissions it grants: `<group>/<plural>.<verb>` or `<group>/<plural>/<subresource>.<verb>`, `*` for every
    /// group, resource or verb.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10_000))]
    pub included_permissions: Vec<String>,
    /// How far along it is.
    pub launch_stage: LaunchStage,
    /// The roles whose permissions it grants too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub inherited_roles: Vec<RoleReference>,
}

/// How far along a role is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LaunchStage {
    /// For some, to try.
    #[serde(rename = "Early Access")]
    EarlyAccess,
    /// May change in any way.
    Alpha,
    /// May change with notice.
    Beta,
    /// Stays as it is.
    Stable,
    /// Will go.
    Deprecated,
}

/// A role by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleReference {
    /// The name of the Role.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Its namespace; that of whoever refers to it unless said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 63))]
    pub namespace: String,
}

/// What is observed of a role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleStatus {
    /// What the role was made under.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parent: String,
    /// All permissions it grants, inherited ones included, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effective_permissions: Vec<String>,
    /// Everything that was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The generation that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

impl Resource for Role {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Role";
    const PLURAL: &'static str = "roles";

    fn declare() -> Declaration<Role> {
        let declaration = Declaration::namespaced().status().prepare(pending).prints(
            "Display Name",
            "string",
            ".metadata.annotations.kubernetes\\.io/display-name",
        );
        prints_ready(declaration)
            .prints("Launch Stage", "string", ".spec.launchStage")
            .prints_age()
            .validate(names_permissions)
    }
}

/// A permission that can't be read would never be granted.
fn names_permissions(change: &Change<Role>) -> Vec<FieldError> {
    let Some(role) = change.after() else { return Vec::new() };
    let spec = Path::of("spec");
    let list = spec.field("includedPermissions");
    let wrong = role.spec.included_permissions.iter().enumerate();
    wrong
        .filter(|(_, text)| Permission::parse(text).is_none())
        .map(|(at, text)| {
            let why = "must be <group>/<plural>.<verb> or <group>/<plural>/<subresource>.<verb>, such as \
                       inventory.miloapis.com/racks.get";
            FieldError::invalid_text(&list.index(at), text, why)
        })
        .collect()
}
