//! Node of the graph: a typed vertex with the attributes that its type allows.

use std::collections::BTreeMap;

use krm::kind::{
    Change, Declaration, Metadata, Missing, OnDelete, Reference, Refusal, Resource, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NodeType, attributes, declare_graph};
use crate::Status;

/// A typed vertex of the graph. It cannot be deleted while an Edge refers to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the graph node. Set by users.
    pub spec: NodeSpec,
    /// Observation state of the graph node. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// Specification of a graph node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [{"rule": "self.type == oldSelf.type", "message": "type is immutable"}]))]
pub struct NodeSpec {
    /// Name of the NodeType. Immutable. Must exist when the node is created or its spec changes.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Attributes of the node. Must match the schema of the NodeType: no others are allowed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

impl Resource for Node {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Node";
    const PLURAL: &'static str = "nodes";

    fn declare() -> Declaration<Node> {
        // A type may be deleted while in use: its nodes become not Ready. The rule requires the type when a node changes.
        let kind = Reference::to::<NodeType>("spec.type").missing(Missing::NotReady("NodeTypeNotFound"));
        let node = declare_graph()
            .short(&["invnode"])
            .refuses_as("vnode.v1alpha2.graph.inventory.miloapis.com", &["Edge"])
            .refers(kind.on_delete(OnDelete::NotReady("NodeTypeNotFound")))
            .selects(&["spec.type"])
            .prints("Type", "string", ".spec.type")
            .prints_age()
            .rule(check_type);
        crate::kinds::prints_ready(node)
    }
}

/// A node conforms to the schema of its type.
fn check_type(change: &Change<Node>, view: &mut View<'_>) -> Verdict {
    let Some(node) = change.after() else { return allow() };
    if change.before().is_some_and(|old| old.spec == node.spec) {
        return allow();
    }
    conforms(&node.spec, view.get::<NodeType>(&node.spec.kind).as_ref()).map_err(Refusal::Denied)
}

/// Checks a node against its type, or says why it does not conform.
pub fn conforms(node: &NodeSpec, kind: Option<&NodeType>) -> Result<(), String> {
    let Some(kind) = kind else { return Err(format!("NodeType \"{}\" not found", node.kind)) };
    attributes::check(&format!("NodeType \"{}\"", node.kind), &kind.spec.attributes, &node.attributes)
}
