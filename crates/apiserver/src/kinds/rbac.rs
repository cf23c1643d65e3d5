//! RBAC: roles and role bindings.

mod binding;
mod cluster_role;
mod cluster_role_binding;
mod policy_rule;
mod role;
mod role_binding;

use krm::kind::Kind;

/// The group of these kinds.
const GROUP: &str = "rbac.authorization.k8s.io";

pub fn kinds() -> [Kind; 4] {
    [role::kind(), cluster_role::kind(), role_binding::kind(), cluster_role_binding::kind()]
}
