//! Hosts, host classes, hubs, DNS zones, cluster templates and clusters: claims on hosts, and clusters made from them.

pub mod bmcs;
pub mod controllers;
pub mod fields;
pub mod hubs;
pub mod identity;
mod inventory;
pub mod kinds;
mod module;
pub mod node_label;
pub mod provisioners;
mod references;
pub mod selection;
pub mod states;
pub mod templates;

pub use kinds::all;
pub use module::Module;
pub use references::{NameReference, SealedReference};

/// API group of the fulfillment kinds.
pub const GROUP: &str = "fulfillment.groundplane.dev";
/// API version of the fulfillment kinds.
pub const VERSION: &str = "v1alpha1";

/// The annotation that names who created an object. Set by the server.
pub const CREATOR: &str = "fulfillment.groundplane.dev/creator";

/// Group of the nodes, racks and ports that hosts are joined to.
pub const INVENTORY_GROUP: &str = "inventory.miloapis.com";
