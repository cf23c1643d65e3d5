//! Services that projects can be entitled to: the catalog, requests and their approval, and where services are available.

pub mod catalog;
pub mod controllers;
pub mod gate;
pub mod kinds;
mod module;

pub use kinds::all;
pub use module::Module;

/// API group of the service kinds.
pub const GROUP: &str = "services.miloapis.com";
/// API version of the service kinds.
pub const VERSION: &str = "v1alpha1";

/// Group and resources of other modules that services refer to.
pub const TENANCY_GROUP: &str = "resourcemanager.miloapis.com";
/// Resource of projects.
pub const PROJECTS: &str = "projects";
/// Group of quota.
pub const QUOTA_GROUP: &str = "quota.miloapis.com";
/// Group of locations.
pub const NETWORKING_GROUP: &str = "networking.datumapis.com";
/// Version of locations.
pub const NETWORKING_VERSION: &str = "v1alpha";
/// Group of the catalog of compute.
pub const COMPUTE_GROUP: &str = "compute.datumapis.com";
/// Resource of locations.
pub const LOCATIONS: &str = "locations";
/// Resource of the locations that a project may use.
pub const LOCATION_BINDINGS: &str = "locationbindings";
