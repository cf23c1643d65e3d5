//! GroupMembership: a user is in a group.

use krm::kind::{Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observed, UserReference, pending, prints_ready};

/// A user is in a group.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GroupMembership {
    /// What every object has.
    pub metadata: Metadata,
    /// Who is in which.
    pub spec: GroupMembershipSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Observed>,
}

/// Who is in which group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupMembershipSpec {
    /// The user.
    pub user_ref: UserReference,
    /// The group.
    pub group_ref: GroupReference,
}

/// A group by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupReference {
    /// The name of the Group.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Its namespace.
    #[schemars(length(min = 1, max = 63))]
    pub namespace: String,
}

impl Resource for GroupMembership {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "GroupMembership";
    const PLURAL: &'static str = "groupmemberships";

    fn declare() -> Declaration<GroupMembership> {
        let declaration = Declaration::namespaced()
            .planes(Planes::Root)
            .status()
            .selects(&["spec.groupRef.name", "spec.userRef.name"])
            .prepare(pending)
            .prints("User", "string", ".spec.userRef.name")
            .prints("Group", "string", ".spec.groupRef.name");
        prints_ready(declaration).prints_age()
    }
}
