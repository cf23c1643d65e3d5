//! NodeType: the attribute schema of graph nodes of a type.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attributes::AttributeSchema;
use super::declare_graph;
use crate::Status;

/// Defines a type of graph nodes with its attribute schema. Deleting a type in use is allowed; its nodes then become not
/// Ready (`NodeTypeNotFound`).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NodeType {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the node type. Set by users.
    pub spec: NodeTypeSpec,
    /// Observation state of the node type. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// Specification of a node type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeTypeSpec {
    /// Human-readable name of the type. Optional free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Schema of the attributes. Nodes of this type must not have other attributes.
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
        declare_graph()
            .searches(&["spec.displayName"])
            .prints("Display", "string", ".spec.displayName")
            .prints_age()
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
    }
}
