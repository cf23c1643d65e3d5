//! Compute: workloads that run in cities, what their instances are made of, and what they run on.

mod admission;
pub mod agent;
pub mod autoscale;
pub mod catalog;
pub mod claims;
pub mod conditions;
mod controller;
pub mod controllers;
pub mod entitlement;
pub mod environment;
pub mod exec_frame;
pub mod hash;
pub mod kinds;
mod local;
mod module;
pub mod names;
pub mod places;
pub mod rollout;
pub mod shown;
pub mod template;

pub use controller::CatalogController;
pub use kinds::all;
pub use module::Module;

/// API group of the compute kinds.
pub const GROUP: &str = "compute.datumapis.com";
/// API version of the compute kinds.
pub const VERSION: &str = "v1alpha";
/// Name of the Service that projects are entitled to.
pub const SERVICE: &str = "compute";

/// Group of locations and networks.
const NETWORKING_GROUP: &str = "networking.datumapis.com";
/// Version of locations and networks.
const NETWORKING_VERSION: &str = "v1alpha";
/// Resource of locations.
const LOCATIONS: &str = "locations";
/// Resource of networks.
const NETWORKS: &str = "networks";
