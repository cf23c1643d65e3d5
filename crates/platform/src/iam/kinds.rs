//! The kinds of `iam.miloapis.com`, one file each.

mod group;
mod group_membership;
mod machine_account;
mod machine_account_key;
mod policy_binding;
mod protected_resource;
mod role;
mod user;

pub use group::Group;
pub use group_membership::{GroupMembership, GroupMembershipSpec, GroupReference};
pub use machine_account::{MachineAccount, MachineAccountSpec, State};
pub use machine_account_key::{MachineAccountKey, MachineAccountKeySpec};
pub use policy_binding::{
    PolicyBinding, PolicyBindingSpec, ResourceKind, ResourceReference, ResourceSelector, Subject, SubjectKind,
};
pub use protected_resource::{
    ParentResource, ProtectedResource, ProtectedResourceSpec, ServiceReference, Subresource,
};
pub use role::{LaunchStage, Role, RoleReference, RoleSpec};
pub use user::{User, UserSpec};

use krm::Object;
use krm::condition::{Condition, Pending};
use krm::kind::{Declaration, Kind, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// API group of these kinds.
pub const GROUP: &str = "iam.miloapis.com";
/// API version of these kinds.
pub const VERSION: &str = "v1alpha1";

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![
        ProtectedResource::kind(),
        Role::kind(),
        PolicyBinding::kind(),
        User::kind(),
        Group::kind(),
        GroupMembership::kind(),
        MachineAccount::kind(),
        MachineAccountKey::kind(),
    ]
}

/// Observed state that most of these kinds share.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// The `metadata.generation` that the controller last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Latest observations. `Ready` is `True` once the object is in effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// A reference to a User.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserReference {
    /// Name of the User. Required, 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// The status of a new object until a controller has processed it.
pub(crate) fn pending(object: &mut Object, old: Option<&Object>) {
    let message = "Waiting for control plane to reconcile";
    Pending { status: "Unknown", reason: "Unknown", message }.begin(object, old);
}

/// Adds the column with the status of the Ready condition.
pub(crate) fn prints_ready<T: Resource>(declaration: Declaration<T>) -> Declaration<T> {
    declaration.prints("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status")
}
