//! The catalog of compute: what instances can be made of, and what they can run on.

mod controller;
pub mod kinds;
mod module;

pub use controller::CatalogController;
pub use kinds::all;
pub use module::Module;

/// API group of the compute kinds.
pub const GROUP: &str = "compute.datumapis.com";
/// API version of the compute kinds.
pub const VERSION: &str = "v1alpha";

/// Group of locations.
const NETWORKING_GROUP: &str = "networking.datumapis.com";
/// Resource of locations.
const LOCATIONS: &str = "locations";
