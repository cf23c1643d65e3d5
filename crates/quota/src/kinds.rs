//! The kinds of `quota.miloapis.com/v1alpha1`, one per file.

pub mod allowance_bucket;
pub mod claim_creation_policy;
pub mod grant_creation_policy;
pub mod resource_claim;
pub mod resource_grant;
pub mod resource_registration;
pub mod trigger;

use krm::condition::Condition;
use krm::kind::{Kind, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use allowance_bucket::AllowanceBucket;
pub use claim_creation_policy::ClaimCreationPolicy;
pub use grant_creation_policy::GrantCreationPolicy;
pub use resource_claim::ResourceClaim;
pub use resource_grant::ResourceGrant;
pub use resource_registration::ResourceRegistration;
pub use trigger::{Constraint, Trigger, TriggerResource};

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![
        ResourceRegistration::kind(),
        ResourceGrant::kind(),
        AllowanceBucket::kind(),
        ResourceClaim::kind(),
        GrantCreationPolicy::kind(),
        ClaimCreationPolicy::kind(),
    ]
}

/// Who uses quota.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsumerRef {
    /// API group of the consumer.
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Kind of the consumer: `Project` or `Organization`.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Name of the consumer.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the consumer, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

impl ConsumerRef {
    /// A project.
    pub fn project(name: &str) -> ConsumerRef {
        ConsumerRef {
            api_group: crate::TENANCY_GROUP.to_owned(),
            kind: crate::PROJECT.to_owned(),
            name: name.to_owned(),
            namespace: None,
        }
    }
}

/// A kind by its group and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KindRef {
    /// API group of the kind.
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Name of the kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
}

/// Sets a condition among others. The time of the last transition stays while the status does.
fn set_condition(conditions: &mut Vec<Condition>, mut condition: Condition) {
    match conditions.iter_mut().find(|found| found.kind == condition.kind) {
        Some(found) => {
            if found.status == condition.status {
                condition.last_transition_time.clone_from(&found.last_transition_time);
            }
            *found = condition;
        }
        None => conditions.push(condition),
    }
}

fn condition(kind: &str, is_true: bool, reason: &str, message: impl Into<String>, time: &str) -> Condition {
    Condition {
        kind: kind.to_owned(),
        status: if is_true { "True" } else { "False" }.to_owned(),
        observed_generation: None,
        last_transition_time: time.to_owned(),
        reason: reason.to_owned(),
        message: message.into(),
    }
}
