//! The kinds of `services.miloapis.com/v1alpha1`, one per file.

pub mod service;
pub mod service_availability;
pub mod service_configuration;
pub mod service_consumer;
pub mod service_entitlement;

use krm::kind::{Kind, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use service::Service;
pub use service_availability::ServiceAvailability;
pub use service_configuration::ServiceConfiguration;
pub use service_consumer::ServiceConsumer;
pub use service_entitlement::ServiceEntitlement;

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![
        Service::kind(),
        ServiceConfiguration::kind(),
        ServiceAvailability::kind(),
        ServiceEntitlement::kind(),
        ServiceConsumer::kind(),
    ]
}

/// An object by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NameRef {
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}
