//! The controllers of services.

mod availability;
mod entitlement;
mod location_bindings;
mod quota_rules;

use krm::Object;
use krm::kind::{Address, Resource};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use availability::AvailabilityController;
pub use entitlement::EntitlementController;
pub use location_bindings::LocationBindingController;
pub use quota_rules::ServiceQuotaController;

use crate::kinds::ServiceConfiguration;

/// A stored object as its type.
fn read<T: DeserializeOwned>(object: &Object) -> Option<T> {
    T::deserialize(&object.0).ok()
}

/// Whether a condition of an object is `True`.
fn holds(object: &Object, condition: &str) -> bool {
    let conditions = object.at("status.conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|found| found["type"] == condition && found["status"] == "True")
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

fn location(name: &str) -> Address {
    address(crate::NETWORKING_GROUP, crate::LOCATIONS, name)
}

fn address(group: &str, plural: &str, name: &str) -> Address {
    Address {
        group: group.to_owned(),
        plural: plural.to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    }
}

/// Whether a configuration of a service supports a class of locations.
fn supports(configurations: &[std::sync::Arc<Object>], class: &str) -> bool {
    let configurations = configurations.iter().filter_map(|object| read::<ServiceConfiguration>(object));
    configurations.filter(|configuration| configuration.spec.phase.is_offered()).any(|configuration| {
        configuration.spec.locations.supported_classes.iter().any(|found| found == class)
    })
}

/// The resource and field that configurations of a service are found by.
const CONFIGURATIONS: (&str, &str, &str) =
    (ServiceConfiguration::GROUP, ServiceConfiguration::PLURAL, "spec.serviceRef.name");
