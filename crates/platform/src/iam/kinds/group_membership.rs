//! GroupMembership: adds a user to a group.

use krm::kind::{Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observed, UserReference, pending, prints_ready};

/// GroupMembership adds one user to one group. The user gets everything that is granted to the group.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GroupMembership {
    /// Standard object metadata. The namespace must be that of the group, or the system namespace.
    pub metadata: Metadata,
    /// The user, and the group that it becomes a member of.
    pub spec: GroupMembershipSpec,
    /// Observed state of the membership, written by the IAM controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Observed>,
}

/// The user and the group of a membership.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupMembershipSpec {
    /// The User who becomes a member of the group.
    pub user_ref: UserReference,
    /// The Group that the user becomes a member of. It must exist.
    pub group_ref: GroupReference,
}

/// A reference to a Group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupReference {
    /// Name of the Group. Required, 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the Group. Required, 1 to 63 characters.
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
