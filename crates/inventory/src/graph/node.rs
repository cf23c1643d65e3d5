//! Node of the graph: a thing of some type, with the attributes that the type allows.

use std::collections::BTreeMap;

use krm::kind::{
    Change, Declaration, Metadata, Missing, OnDelete, Reference, Refusal, Resource, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NodeType, attributes, graphed};
use crate::Status;

/// A thing of some type.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: NodeSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [{"rule": "self.type == oldSelf.type", "message": "type is immutable"}]))]
pub struct NodeSpec {
    /// The name of its NodeType.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Its attributes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

impl Resource for Node {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Node";
    const PLURAL: &'static str = "nodes";

    fn declare() -> Declaration<Node> {
        // A type may go; its nodes then say so. The rule asks for the type when a node changes.
        let kind = Reference::at("spec.type", super::GROUP, "nodetypes")
            .missing(Missing::NotReady("NodeTypeNotFound"));
        let node = graphed()
            .short(&["invnode"])
            .refuses_as("vnode.v1alpha2.graph.inventory.miloapis.com", &["Edge"])
            .refers(kind.on_delete(OnDelete::NotReady("NodeTypeNotFound")))
            .selects(&["spec.type"])
            .prints("Type", "string", ".spec.type")
            .prints_age()
            .rule(fits_its_type);
        crate::kinds::prints_ready(node)
    }
}

/// A node has what its type asks for, and nothing else.
fn fits_its_type(change: &Change<Node>, view: &mut View<'_>) -> Verdict {
    let Some(node) = change.after() else { return allow() };
    if change.before().is_some_and(|old| old.spec == node.spec) {
        return allow();
    }
    fits(&node.spec, view.get::<NodeType>(&node.spec.kind).as_ref()).map_err(Refusal::Denied)
}

/// Why a node does not fit its type.
pub fn fits(node: &NodeSpec, kind: Option<&NodeType>) -> Result<(), String> {
    let Some(kind) = kind else { return Err(format!("NodeType \"{}\" not found", node.kind)) };
    attributes::check(&format!("NodeType \"{}\"", node.kind), &kind.spec.attributes, &node.attributes)
}
