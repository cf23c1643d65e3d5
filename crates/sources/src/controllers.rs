//! Controllers of what sources find: conditions of hosts, and Nodes and Ports for them.

mod findings;
mod nodes;

pub use findings::FindingController;
pub use nodes::NodeController;
