//! The built-in policies as objects, which are read-only.

use apiserver::catalog::Kinds;
use krm::Object;
use krm::kind::{History, Kind};
use serde_json::json;

use super::api_version;
use super::sentences::shipped;
use crate::iam::shipped::{SHIPPED_BY, served, service};

/// Marks a policy that ships.
pub const SHIPPED: &str = "activity.miloapis.com/managed-by";

/// A policy for every kind whose changes are told, in the order of the kinds.
pub fn objects(kinds: &Kinds, now: &str) -> Vec<Object> {
    served(kinds).iter().filter(|kind| is_told(kind)).map(|kind| policy(kind, now)).collect()
}

/// Whether changes of a kind are told: it has a past, and it is the kind that the past is kept of.
pub fn is_told(kind: &Kind) -> bool {
    kind.history != History::None && kind.mirror.is_none()
}

/// Whether a policy that is stored is the one that ships for its kind, as it ships.
pub fn is_as_shipped(policy: &Object, kind: &Kind) -> bool {
    is_marked(policy) && policy.get("spec") == Some(&shipped(kind))
}

/// Whether a policy is marked as one that ships.
pub fn is_marked(policy: &Object) -> bool {
    policy.meta("labels").and_then(|labels| labels.get(SHIPPED)).is_some_and(|by| by == SHIPPED_BY)
}

fn policy(kind: &Kind, now: &str) -> Object {
    let mut policy = Object::new(&api_version(), "ActivityPolicy");
    policy.set_meta("name", Some(format!("{}-{}", service(&kind.group), kind.names.singular).into()));
    policy.set_meta("labels", Some(json!({ (SHIPPED): SHIPPED_BY })));
    policy.set_meta("generation", Some(1.into()));
    policy.set("spec", Some(shipped(kind)));
    // A test reads every one of them, so that no start has to.
    policy.set("status", Some(super::kinds::valid(1, now)));
    policy
}
