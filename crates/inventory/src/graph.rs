//! The kinds of `graph.inventory.miloapis.com/v1alpha2`: a property graph of nodes and edges with user-defined types.

pub mod attributes;
pub mod edge;
pub mod edge_type;
pub mod node;
pub mod node_type;

use krm::kind::{Declaration, Kind, Planes, Resource};

pub use edge::Edge;
pub use edge_type::EdgeType;
pub use node::Node;
pub use node_type::NodeType;

/// API group of the graph kinds.
pub const GROUP: &str = "graph.inventory.miloapis.com";
/// API version of the graph kinds.
pub const VERSION: &str = "v1alpha2";

/// All kinds of the group.
pub fn all() -> Vec<Kind> {
    vec![NodeType::kind(), EdgeType::kind(), Node::kind(), Edge::kind()]
}

fn declare_graph<T: Resource>() -> Declaration<T> {
    Declaration::cluster().planes(Planes::Root).status().prepare(crate::pending)
}
