//! Group: a set of users that roles can be granted to.

use krm::kind::{Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observed, pending, prints_ready};

/// Group is a named set of users that a PolicyBinding can grant a role to. GroupMemberships add users to it.
/// It has no spec.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Observed state of the group, written by the IAM controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Observed>,
}

impl Resource for Group {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Group";
    const PLURAL: &'static str = "groups";

    fn declare() -> Declaration<Group> {
        let declaration = Declaration::namespaced().planes(Planes::Root).status().prepare(pending);
        prints_ready(declaration).prints_age()
    }
}
