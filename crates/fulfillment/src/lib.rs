//! Hosts, host classes, hubs, cluster templates and clusters, and the claims on hosts.

pub mod controllers;
pub mod fields;
pub mod identity;
mod inventory;
pub mod kinds;
mod module;
pub mod node_label;
mod references;
pub mod states;
pub mod templates;

pub use kinds::all;
pub use module::Module;
pub use references::{NameReference, SealedReference};

/// API group of the fulfillment kinds.
pub const GROUP: &str = "fulfillment.groundplane.dev";
/// API version of the fulfillment kinds.
pub const VERSION: &str = "v1alpha1";

/// Group of the nodes, racks and ports that hosts are joined to.
pub const INVENTORY_GROUP: &str = "inventory.miloapis.com";
