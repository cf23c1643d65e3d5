//! Whether objects of the graph conform to their types.

use krm::Object;
use krm::condition::Finding;
use krm::kind::{QueryContext, Resolution, Resource};

use crate::graph::{self, Edge, EdgeType, Node, NodeType};

/// The resolution of an object of the graph: not ready either while it does not conform to its type.
pub fn check(object: &Object, look: &dyn QueryContext, resolution: Resolution) -> Resolution {
    if !resolution.is_ready() {
        return resolution;
    }
    let (reason, conforms) = match object.kind() {
        Node::KIND => ("NodeTypeNotFound", node(object, look)),
        Edge::KIND => ("EndpointNotFound", edge(object, look)),
        _ => return resolution,
    };
    let Err(why) = conforms else { return resolution };
    let fails = |finding: Finding| Finding::fails(finding.kind, reason, &why);
    let conditions = resolution.conditions.into_iter().map(fails).collect();
    Resolution { ready: fails(resolution.ready), conditions }
}

fn node(object: &Object, look: &dyn QueryContext) -> Result<(), String> {
    let node: Node = read(object)?;
    graph::node::conforms(&node.spec, look.find::<NodeType>(&node.spec.kind).as_deref())
}

fn edge(object: &Object, look: &dyn QueryContext) -> Result<(), String> {
    let edge: Edge = read(object)?;
    let (from, to) = (look.find::<Node>(&edge.spec.from.name), look.find::<Node>(&edge.spec.to.name));
    let kind = look.find::<EdgeType>(&edge.spec.kind);
    graph::edge::conforms(&edge.spec, kind.as_deref(), from.as_deref(), to.as_deref())
}

fn read<T: Resource>(object: &Object) -> Result<T, String> {
    T::deserialize(&object.0).map_err(|_| "the object cannot be parsed".to_owned())
}
