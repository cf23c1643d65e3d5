//! The kinds of `graph.inventory.miloapis.com/v1alpha2`: nodes and edges of types that users define.

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

/// The group they are in.
pub const GROUP: &str = "graph.inventory.miloapis.com";
/// The version they are at.
pub const VERSION: &str = "v1alpha2";

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![NodeType::kind(), EdgeType::kind(), Node::kind(), Edge::kind()]
}

fn graphed<T: Resource>() -> Declaration<T> {
    Declaration::cluster().planes(Planes::Root).status().prepare(crate::pending)
}
