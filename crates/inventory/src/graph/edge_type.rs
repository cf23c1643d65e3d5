//! EdgeType: the node types that edges of a type may connect, and their attribute schema.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attributes::AttributeSchema;
use super::declare_graph;
use crate::Status;

/// Defines a type of edges: the node types that they may connect, and their attribute schema. Deleting a type in use is
/// allowed; its edges then become not Ready.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EdgeType {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the edge type. Set by users.
    pub spec: EdgeTypeSpec,
    /// Observation state of the edge type. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// Specification of an edge type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeTypeSpec {
    /// Human-readable name of the type. Optional free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Node types that edges of this type may connect. Unset means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Endpoints>,
    /// Schema of the attributes. Edges of this type must not have other attributes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["key"]))]
    pub attributes: Vec<AttributeSchema>,
}

/// The node types that edges may connect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Endpoints {
    /// Names of the NodeTypes allowed as `from`. Empty means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub from_types: Vec<String>,
    /// Names of the NodeTypes allowed as `to`. Empty means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub to_types: Vec<String>,
}

impl Resource for EdgeType {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "EdgeType";
    const PLURAL: &'static str = "edgetypes";

    fn declare() -> Declaration<EdgeType> {
        declare_graph()
            .searches(&["spec.displayName"])
            .prints("Display", "string", ".spec.displayName")
            .prints_age()
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
    }
}
