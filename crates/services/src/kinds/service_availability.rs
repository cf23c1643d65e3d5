//! ServiceAvailability: that a service is offered at a location.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Missing, OnDelete, Planes, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NameRef, Service};

/// Offers a service at a location.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ServiceAvailability {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Which service is offered where. Immutable.
    pub spec: ServiceAvailabilitySpec,
    /// Observed state of the availability. Set by the service controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ServiceAvailabilityStatus>,
}

/// Which service is offered where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceAvailabilitySpec {
    /// The Service. Immutable.
    pub service_ref: NameRef,
    /// The Location. Immutable. While it does not exist, the service is not available (`LocationNotFound`).
    pub location_ref: NameRef,
}

/// Observed state of an availability.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServiceAvailabilityStatus {
    /// `Available` is `True` while the service is offered, supports the class of the location, and the location is Ready.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for ServiceAvailability {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ServiceAvailability";
    const PLURAL: &'static str = "serviceavailabilities";

    fn declare() -> Declaration<ServiceAvailability> {
        let service = Reference::to::<Service>("spec.serviceRef.name").immutable();
        let location =
            Reference::at("spec.locationRef.name", crate::NETWORKING_GROUP, crate::LOCATIONS).immutable();
        Declaration::cluster()
            .planes(Planes::Root)
            .status()
            .refers(service)
            .refers(
                location
                    .missing(Missing::NotReady("LocationNotFound"))
                    .on_delete(OnDelete::NotReady("LocationNotFound")),
            )
            .selects(&["spec.serviceRef.name", "spec.locationRef.name"])
            .prints("Service", "string", ".spec.serviceRef.name")
            .prints("Location", "string", ".spec.locationRef.name")
            .prints("Available", "string", r#".status.conditions[?(@.type=="Available")].status"#)
            .prints("Reason", "string", r#".status.conditions[?(@.type=="Available")].reason"#)
            .prints_age()
    }
}
