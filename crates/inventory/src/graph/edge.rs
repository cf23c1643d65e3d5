//! Edge of the graph: a directed, typed connection between two nodes.

use std::collections::BTreeMap;

use krm::kind::{
    Change, Declaration, Metadata, Missing, OnDelete, Reference, Refusal, Resource, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EdgeType, Node, attributes, declare_graph};
use crate::{LocalObjectReference, Status};

/// A directed, typed connection between two graph nodes. The nodes cannot be deleted while the edge refers to them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the edge. Set by users.
    pub spec: EdgeSpec,
    /// Observation state of the edge. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// Specification of an edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.type == oldSelf.type", "message": "type is immutable"},
    {"rule": "self.from.name != self.to.name", "message": "edge endpoints must be distinct"},
]))]
pub struct EdgeSpec {
    /// Name of the EdgeType. Immutable. Must exist.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Node that the edge starts at. Must exist, differ from `to`, and have a type that the EdgeType allows.
    pub from: LocalObjectReference,
    /// Node that the edge ends at. Must exist, differ from `from`, and have a type that the EdgeType allows.
    pub to: LocalObjectReference,
    /// Attributes of the edge. Must match the schema of the EdgeType: no others are allowed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

impl Resource for Edge {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Edge";
    const PLURAL: &'static str = "edges";

    fn declare() -> Declaration<Edge> {
        // The rule requires them when an edge changes.
        let lenient = |end: Reference| {
            end.missing(Missing::NotReady("EndpointNotFound"))
                .condition("EndpointsResolved", "Both endpoints resolve")
        };
        let node = |path, says| lenient(Reference::to::<Node>(path)).unresolved(says);
        let kind = lenient(Reference::to::<EdgeType>("spec.type"));
        let edge = declare_graph()
            .refuses_as("vedge.v1alpha2.graph.inventory.miloapis.com", &[])
            .refers(kind.on_delete(OnDelete::NotReady("EndpointNotFound")))
            .refers(node("spec.from.name", "from endpoint Node \"{}\" not found"))
            .refers(node("spec.to.name", "to endpoint Node \"{}\" not found"))
            .selects(&["spec.type", "spec.from.name", "spec.to.name"])
            .prints("Type", "string", ".spec.type")
            .prints("From", "string", ".spec.from.name")
            .prints("To", "string", ".spec.to.name")
            .prints_age()
            .rule(check_type);
        crate::kinds::prints_ready(edge)
    }
}

/// An edge conforms to its type: allowed endpoints and attributes.
fn check_type(change: &Change<Edge>, view: &mut View<'_>) -> Verdict {
    let Some(edge) = change.after() else { return allow() };
    if change.before().is_some_and(|old| old.spec == edge.spec) {
        return allow();
    }
    let kind = view.get::<EdgeType>(&edge.spec.kind);
    let from = view.get::<Node>(&edge.spec.from.name);
    let to = view.get::<Node>(&edge.spec.to.name);
    conforms(&edge.spec, kind.as_ref(), from.as_ref(), to.as_ref()).map_err(Refusal::Denied)
}

/// Checks an edge against its type, or says why it does not conform.
pub fn conforms(
    edge: &EdgeSpec,
    kind: Option<&EdgeType>,
    from: Option<&Node>,
    to: Option<&Node>,
) -> Result<(), String> {
    let Some(kind) = kind else { return Err(format!("EdgeType \"{}\" not found", edge.kind)) };
    let Some(from) = from else {
        return Err(format!("from endpoint Node \"{}\" not found", edge.from.name));
    };
    let Some(to) = to else { return Err(format!("to endpoint Node \"{}\" not found", edge.to.name)) };
    let ends = kind.spec.endpoints.clone().unwrap_or_default();
    for (end, node, allowed) in [("from", from, &ends.from_types), ("to", to, &ends.to_types)] {
        if !allowed.is_empty() && !allowed.contains(&node.spec.kind) {
            return Err(format!(
                "EdgeType \"{}\" does not allow a \"{}\" node as `{end}` (allowed: [{}])",
                edge.kind,
                node.spec.kind,
                allowed.join(" ")
            ));
        }
    }
    attributes::check(&format!("EdgeType \"{}\"", edge.kind), &kind.spec.attributes, &edge.attributes)
}
