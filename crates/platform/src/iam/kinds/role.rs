//! Role: a named set of permissions, its own and those of the roles that it inherits from.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{pending, prints_ready};
use crate::iam::permission::Permission;

/// Role is a named set of permissions. A PolicyBinding grants it to subjects.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    /// Standard object metadata. The annotations `kubernetes.io/display-name` and `kubernetes.io/description`
    /// are shown to users.
    pub metadata: Metadata,
    /// Permissions and inherited roles.
    pub spec: RoleSpec,
    /// Observed state of the role, written by the IAM controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<RoleStatus>,
}

/// Permissions and inherited roles of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleSpec {
    /// Permissions that the role grants: `<group>/<plural>.<verb>` or
    /// `<group>/<plural>/<subresource>.<verb>`. `*` matches every group, resource or verb. At most 10000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10_000))]
    pub included_permissions: Vec<String>,
    /// Maturity of the role: `Early Access`, `Alpha`, `Beta`, `Stable` or `Deprecated`. Informational.
    pub launch_stage: LaunchStage,
    /// Roles whose permissions this role grants as well. They must be in the same namespace or in the system
    /// namespace. At most 256.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub inherited_roles: Vec<RoleReference>,
}

/// Maturity of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LaunchStage {
    /// Available to selected users for testing.
    #[serde(rename = "Early Access")]
    EarlyAccess,
    /// May change in incompatible ways without notice.
    Alpha,
    /// May change with notice.
    Beta,
    /// Does not change in incompatible ways.
    Stable,
    /// Will be removed.
    Deprecated,
}

/// A reference to a namespaced object by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleReference {
    /// Name of the referenced object. Required, 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the referenced object. Defaults to the namespace of the referring object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 63))]
    pub namespace: String,
}

/// Observed state of a role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleStatus {
    /// Reserved. Always empty in this version of the server.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parent: String,
    /// All permissions that the role grants, including inherited ones, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effective_permissions: Vec<String>,
    /// Latest observations. `Ready` is `True` if all inherited roles exist and none inherits from itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The `metadata.generation` that the controller last processed.
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

/// Permissions must be well-formed, since a malformed one would never be granted.
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
