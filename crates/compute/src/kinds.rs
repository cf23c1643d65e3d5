//! The kinds of the catalog, one per file.

pub mod instance_type;
mod lifecycle;
pub mod runtime_class;

use krm::kind::{Kind, Missing, OnDelete, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use instance_type::InstanceType;
pub use lifecycle::{Lifecycle, LifecyclePhase};
pub use runtime_class::RuntimeClass;

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![InstanceType::kind(), RuntimeClass::kind()]
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
}
