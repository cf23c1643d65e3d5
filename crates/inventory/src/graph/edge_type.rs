//! EdgeType: what edges of a type may connect, and what they have.

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attributes::AttributeSchema;
use super::graphed;
use crate::Status;

/// What edges of a type may connect, and what they have.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EdgeType {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: EdgeTypeSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// What a type says of its edges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeTypeSpec {
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What its edges may connect; anything unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Endpoints>,
    /// The attributes that its edges may have, and no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["key"]))]
    pub attributes: Vec<AttributeSchema>,
}

/// What edges may connect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Endpoints {
    /// Types of nodes that they may begin at; any when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub from_types: Vec<String>,
    /// Types of nodes that they may end at; any when there are none.
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
        graphed()
            .searches(&["spec.displayName"])
            .prints("Display", "string", ".spec.displayName")
            .prints_age()
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
    }
}
