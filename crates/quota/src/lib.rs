//! Quota: what a consumer may use of a resource, and claims that are granted in the transaction of what they pay for.
//!
//! A ResourceGrant gives a consumer an allowance, which an AllowanceBucket sums up and counts against. A ResourceClaim takes
//! from buckets when it is created and gives back when it is deleted. Policies create both along with other objects: a
//! GrantCreationPolicy with each new project, a ClaimCreationPolicy with each object of a metered kind.

mod bucket_name;
pub mod controller;
pub mod kinds;
pub mod metering;
mod module;
pub mod usage;

pub use bucket_name::{SYSTEM_NAMESPACE, bucket_name};
pub use kinds::all;
pub use module::Module;

/// API group of the quota kinds.
pub const GROUP: &str = "quota.miloapis.com";
/// API version of the quota kinds.
pub const VERSION: &str = "v1alpha1";

/// Group of projects, the consumers of most quota.
pub const TENANCY_GROUP: &str = "resourcemanager.miloapis.com";
/// Name of the kind of projects.
pub const PROJECT: &str = "Project";
/// Name of the kind of organizations, which have quota of what is in the root, such as projects.
pub const ORGANIZATION: &str = "Organization";
