//! NodeType: what nodes of a type have.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attributes::AttributeSchema;
use super::graphed;
use crate::Status;

/// What nodes of a type have.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NodeType {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: NodeTypeSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// What a type says of its nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeTypeSpec {
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The attributes that its nodes may have, and no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["key"]))]
    pub attributes: Vec<AttributeSchema>,
}

impl Resource for NodeType {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "NodeType";
    const PLURAL: &'static str = "nodetypes";

    fn declare() -> Declaration<NodeType> {
        graphed()
            .searches(&["spec.displayName"])
            .prints("Display", "string", ".spec.displayName")
            .prints_age()
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
    }
}
