//! The kinds of `compute.datumapis.com/v1alpha`, one per file: the catalog, and what runs.

pub mod instance;
pub mod instance_type;
mod lifecycle;
pub mod placement;
pub mod quantity;
pub mod runtime;
pub mod runtime_class;
pub mod template;
pub mod volume;
pub mod workload;
pub mod workload_deployment;

use krm::kind::{Kind, Missing, OnDelete, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use instance::Instance;
pub use instance_type::InstanceType;
pub use lifecycle::{Lifecycle, LifecyclePhase};
pub use runtime_class::RuntimeClass;
pub use workload::Workload;
pub use workload_deployment::WorkloadDeployment;

/// The only type of disks.
pub const DISK_TYPE: &str = "pd-standard";

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![
        InstanceType::kind(),
        RuntimeClass::kind(),
        Workload::kind(),
        WorkloadDeployment::kind(),
        Instance::kind(),
    ]
}

/// The locations that offer an entry of the catalog: `spec.locations`. Without any, all locations do.
fn offered_at() -> Reference {
    let locations = Reference::at("spec.locations[].name", crate::NETWORKING_GROUP, crate::LOCATIONS);
    locations.missing(Missing::Ignore).on_delete(OnDelete::Ignore)
}

/// A location by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocationRef {
    /// Name of the Location.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Accepted for manifests of namespaced locations, and ignored: locations have no namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

impl LocationRef {
    /// The location of this name.
    pub fn to(name: &str) -> LocationRef {
        LocationRef { name: name.to_owned(), namespace: None }
    }
}
