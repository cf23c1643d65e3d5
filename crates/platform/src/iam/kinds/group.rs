//! Group: users under one name.

use krm::kind::{Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observed, pending, prints_ready};

/// Users under one name. Who is in it is said by GroupMemberships.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// What every object has.
    pub metadata: Metadata,
    /// What is observed of it.
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
