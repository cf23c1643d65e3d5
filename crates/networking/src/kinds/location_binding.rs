//! LocationBinding: a location that a project may use.

use std::collections::BTreeMap;

use krm::condition::Condition;
use krm::kind::{Bucket, Declaration, Metadata, Missing, OnDelete, Planes, Reference, Resource};
use krm::names::name_is_dns_label;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::location::{Location, LocationClass};
use crate::references::LocalReference;

/// The bucket of the bindings that are available, with the value `all`: workloads are placed at these.
pub const AVAILABLE: Bucket = Bucket::new("networking.datumapis.com/available-locations");

/// A location that a project may use. The platform creates it while the location is ready, a service that the project is
/// entitled to supports its class, and that service is available there; it goes when one of these no longer holds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LocationBinding {
    /// Standard object metadata. The name is the name of the Location.
    pub metadata: Metadata,
    /// What the project may know of the location. Set by the platform.
    pub spec: LocationBindingSpec,
    /// Observed state of the binding. Set by the platform; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<LocationBindingStatus>,
}

/// What a project may know of a location.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocationBindingSpec {
    /// The Location in the root.
    pub location_ref: LocalReference,
    /// Class of the Location.
    pub location_class_name: LocationClass,
    /// Name of the Location for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// Topology of the Location, with its city code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 32))]
    pub topology: BTreeMap<String, String>,
}

/// Observed state of a binding.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocationBindingStatus {
    /// Names of the services that the project can use at the location.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// Names of the types of instances that the location offers, without those that are disabled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instance_types: Vec<String>,
    /// Names of the runtime classes that the location offers, without those that are disabled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime_classes: Vec<String>,
    /// `Available` is `True` while workloads can be placed at the location.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for LocationBinding {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "LocationBinding";
    const PLURAL: &'static str = "locationbindings";

    fn declare() -> Declaration<LocationBinding> {
        let location = Reference::to::<Location>("spec.locationRef.name").shared().immutable();
        Declaration::cluster()
            .planes(Planes::Project)
            .names(name_is_dns_label)
            .status()
            .refers(location.missing(Missing::Ignore).on_delete(OnDelete::Ignore))
            .searches(&["spec.displayName"])
            .prints("Location", "string", ".spec.locationRef.name")
            .prints("Class", "string", ".spec.locationClassName")
            .prints("Available", "string", r#".status.conditions[?(@.type=="Available")].status"#)
            .prints_age()
            .bucket(AVAILABLE, |binding: &LocationBinding| {
                let conditions = binding.status.iter().flat_map(|status| &status.conditions);
                let mut available =
                    conditions.filter(|found| found.kind == "Available" && found.status == "True");
                available.next().map(|_| "all".to_owned()).into_iter().collect()
            })
    }
}
