//! The controllers of networking.

mod location;
mod network;
mod planned;

pub use location::LocationController;
pub use network::NetworkController;
