//! Authorization: RBAC as an index that decides in microseconds.

mod aggregation;
mod attributes;
mod authorizer_plugin;
mod bootstrap;
pub(crate) mod coverage;
mod escalation;
mod extent;
mod grants;
mod rbac;
mod roles;
mod rule;

pub use attributes::{Attributes, OwnedAttributes};
pub use authorizer_plugin::{AuthorizerPlugin, Explained, Only, Standing};
pub use bootstrap::{bootstrap_objects, reconciled, with_updates};
pub use escalation::check_escalation;
pub use extent::Extent;
pub use rbac::{Rbac, RbacKey, RbacKind, by_compiled_role};
pub use rule::Rule;

use crate::identity::Identity;

/// The verb that shows the values of a secret. RBAC's `get` includes it, as Kubernetes has it; roles of others name it.
pub const REVEAL: &str = "reveal";

/// The group of roles and bindings.
pub const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// Whether a request may be made, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// Whether it may.
    pub allowed: bool,
    /// Why it may, or what went wrong while finding out; often empty.
    pub reason: String,
}

impl Decision {
    /// It may be made.
    pub fn allow(reason: impl Into<String>) -> Decision {
        Decision { allowed: true, reason: reason.into() }
    }

    /// Nothing allows it.
    pub fn deny(reason: impl Into<String>) -> Decision {
        Decision { allowed: false, reason: reason.into() }
    }
}

/// Everything somebody may do in a namespace, as far as it can be listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RulesFound {
    /// The rules, those on resources and those on paths.
    pub rules: Vec<Rule>,
    /// What could not be looked up; empty when everything could.
    pub error: String,
}

/// Whatever decides about requests of one plane. Several may stand beside each other; one that allows is enough.
pub trait Authorizer: Send + Sync {
    /// Whether `who` may do `what`.
    fn decide(&self, who: &Identity, what: &Attributes<'_>) -> Decision;

    /// What `who` may do in a namespace.
    fn rules_for(&self, who: &Identity, namespace: &str) -> RulesFound;

    /// What of that `who` may give to others by RBAC. It is less where what one may read is shown without its values: RBAC has
    /// no verb for those.
    fn grantable(&self, who: &Identity, namespace: &str) -> RulesFound {
        self.rules_for(who, namespace)
    }
}

#[cfg(test)]
mod tests;
