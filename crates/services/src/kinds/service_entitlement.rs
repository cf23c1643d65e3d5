//! ServiceEntitlement: a project's request for a service, and its state.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Planes, Reference, Resource, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{NameRef, Service};

/// Label of an entitlement that exists because another service of the project needs it: the name of that Service.
pub const DEPENDENCY_OF: &str = "services.miloapis.com/dependency-of";

/// Asks for a service. Creating it takes the permission `consume` on the service.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ServiceEntitlement {
    /// Standard object metadata. The name must be the name of the Service, so that a project asks once.
    pub metadata: Metadata,
    /// What is asked for.
    pub spec: ServiceEntitlementSpec,
    /// State of the request. Set by the service controller; read-only for users. Empty until the request is processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ServiceEntitlementStatus>,
}

/// What is asked for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceEntitlementSpec {
    /// The Service, by the name of the object (`compute`), not its canonical name. Immutable.
    pub service_ref: NameRef,
    /// What the provider is told with the request. At most 1024 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub request_message: Option<String>,
}

/// State of a request.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceEntitlementStatus {
    /// `PendingApproval`, `Active` or `Rejected`. Empty until the request is processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<EntitlementPhase>,
    /// `Direct` if the project asked for the service, `Dependency` if another service needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The Service that needs this one, with the origin `Dependency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub dependency_of: Option<String>,
    /// When the entitlement first became active. It stays when the entitlement is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub entitled_at: Option<String>,
    /// Canonical name of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub service_name: Option<String>,
    /// The `metadata.generation` that the status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// `Ready` is `True` while the project may use the service. `Suspended` is `True` while the provider suspends it.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// Phase of an entitlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EntitlementPhase {
    /// The provider has not decided.
    PendingApproval,
    /// The project may use the service.
    Active,
    /// The request was denied, the entitlement revoked, or the service is not offered.
    Rejected,
}

/// Why a project has an entitlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Origin {
    /// It asked.
    Direct,
    /// Another service needs it.
    Dependency,
}

impl Resource for ServiceEntitlement {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ServiceEntitlement";
    const PLURAL: &'static str = "serviceentitlements";

    fn declare() -> Declaration<ServiceEntitlement> {
        let service = Reference::to::<Service>("spec.serviceRef.name").shared().immutable();
        Declaration::cluster()
            .planes(Planes::Project)
            .status()
            .refers(service.takes("consume"))
            .prints("Service", "string", ".spec.serviceRef.name")
            .prints("Phase", "string", ".status.phase")
            .prints("Origin", "string", ".status.origin")
            .prints("Suspended", "string", r#".status.conditions[?(@.type=="Suspended")].status"#)
            .prints_age()
            .answers("catalog", "ServiceCatalog", crate::catalog::catalog)
            .validate(is_named_after_its_service)
            .tells_created(&[Sentence {
                when: "has($.serviceRef)",
                says: "asked for service {{ $.serviceRef.name }}",
            }])
    }
}

impl ServiceEntitlement {
    /// Whether the project may use the service now.
    pub fn is_active(&self) -> bool {
        self.phase() == Some(EntitlementPhase::Active) && !self.is_suspended()
    }

    /// Its phase.
    pub fn phase(&self) -> Option<EntitlementPhase> {
        self.status.as_ref()?.phase
    }

    /// Whether the provider suspends it.
    pub fn is_suspended(&self) -> bool {
        self.condition("Suspended").is_some_and(|condition| condition.status == "True")
    }

    /// A condition.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.as_ref()?.conditions.iter().find(|condition| condition.kind == kind)
    }
}

/// A second request for a service is a conflict of names.
fn is_named_after_its_service(change: &Change<ServiceEntitlement>) -> Vec<FieldError> {
    let Some(entitlement) = change.after() else { return Vec::new() };
    let (name, service) = (&entitlement.metadata.name, &entitlement.spec.service_ref.name);
    if name == service {
        return Vec::new();
    }
    let metadata = Path::of("metadata");
    let why = format!("must be the name of the service, {service:?}");
    vec![FieldError::invalid(&metadata.field("name"), &json!(name), why)]
}
