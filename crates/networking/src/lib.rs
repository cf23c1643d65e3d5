//! Networks of projects, the allocation of their subnets, and the locations that they extend to.

pub mod allocation;
pub mod controllers;
pub mod kinds;
mod module;
pub mod prefix;
mod references;
pub mod slots;

pub use kinds::all;
pub use module::Module;

/// API group of the networking kinds.
pub const GROUP: &str = "networking.datumapis.com";
/// API version of the networking kinds.
pub const VERSION: &str = "v1alpha";
/// Newer API group of locations.
pub const LOCATIONS_GROUP: &str = "locations.miloapis.com";
/// API version of locations there.
pub const LOCATIONS_VERSION: &str = "v1alpha1";
