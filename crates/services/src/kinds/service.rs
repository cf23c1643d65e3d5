//! Service: something that projects can be entitled to use, in the root.

use krm::field::{FieldError, Path};
use krm::kind::{
    Bucket, Change, Declaration, Metadata, Missing, OnDelete, Planes, Reference, Resource, SHOWN_TO_ALL,
    Sentence,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::NameRef;

/// The bucket of services by their canonical name, which is the API group of their kinds.
pub const BY_SERVICE_NAME: Bucket = Bucket::new("services.miloapis.com/by-service-name");

/// A service that projects can be entitled to use. Its kinds are those of the API group that is its canonical name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Service {
    /// Standard object metadata. ServiceEntitlements refer to the service by this name.
    pub metadata: Metadata,
    /// Specification of the service. Set by the operators of the platform.
    pub spec: ServiceSpec,
}

/// Specification of a service.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.serviceName == oldSelf.serviceName", "message": "serviceName is immutable"},
]))]
pub struct ServiceSpec {
    /// Canonical name in reverse DNS order, such as `compute.datumapis.com`: the API group of the kinds of the service.
    /// Unique and immutable.
    #[schemars(length(min = 1, max = 253))]
    pub service_name: String,
    /// Lifecycle phase. It only goes forward: `Draft`, `Published`, `Deprecated`, `Retired`. Projects can be entitled to
    /// published and deprecated services.
    pub phase: Phase,
    /// Name for people.
    #[schemars(length(min = 1, max = 253))]
    pub display_name: String,
    /// What the service is for, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// Who provides the service.
    pub owner: ServiceOwner,
    /// Services that this one needs. A project that is entitled to this one is entitled to those too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub dependencies: Vec<ServiceDependency>,
    /// How projects become entitled.
    #[serde(default)]
    pub enablement_policy: EnablementPolicy,
}

/// Lifecycle phase of a service or its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// Not offered yet.
    #[default]
    Draft,
    /// Offered.
    Published,
    /// Offered, but to be replaced.
    Deprecated,
    /// No longer offered.
    Retired,
}

impl Phase {
    /// Whether projects can use it.
    pub fn is_offered(self) -> bool {
        matches!(self, Phase::Published | Phase::Deprecated)
    }
}

/// Who provides a service.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceOwner {
    /// Project of the provider. The ServiceConsumers of the service are in its control plane.
    pub producer_project_ref: NameRef,
}

/// A service that another one needs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceDependency {
    /// The other Service.
    pub service_ref: NameRef,
}

/// How projects become entitled to a service.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct EnablementPolicy {
    /// `SelfService` entitles every project that asks. With `GatedByProvider`, the provider approves or denies each
    /// request. Defaults to `SelfService`.
    #[serde(default)]
    pub mode: EnablementMode,
}

/// Who decides about requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum EnablementMode {
    /// Nobody: every request is approved.
    #[default]
    SelfService,
    /// The provider.
    GatedByProvider,
}

impl Resource for Service {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Service";
    const PLURAL: &'static str = "services";

    fn declare() -> Declaration<Service> {
        let producer =
            Reference::at("spec.owner.producerProjectRef.name", crate::TENANCY_GROUP, crate::PROJECTS);
        let needed = Reference::to::<Service>("spec.dependencies[].serviceRef.name");
        Declaration::cluster()
            .planes(Planes::Root)
            .custom_verbs(&["consume"])
            .refers(producer.missing(Missing::Ignore).on_delete(OnDelete::Ignore))
            .refers(needed)
            .selects(&["spec.serviceName", "spec.phase"])
            .searches(&["spec.serviceName", "spec.displayName"])
            .prints("Service", "string", ".spec.serviceName")
            .prints("Phase", "string", ".spec.phase")
            .prints("Enablement", "string", ".spec.enablementPolicy.mode")
            .prints_wide("Provider", "string", ".spec.owner.producerProjectRef.name")
            .prints_age()
            // What is offered is for everybody to know; drafts are not.
            .shown_to_project(|service: &Service| {
                (service.spec.phase != Phase::Draft).then(|| SHOWN_TO_ALL.to_owned())
            })
            .bucket(BY_SERVICE_NAME, |service: &Service| vec![service.spec.service_name.clone()])
            .validate(goes_forward)
            .rule(has_a_name_of_its_own)
            .tells_display_name()
            .tells_updated(&[Sentence {
                when: "before.spec.phase != $.phase",
                says: "moved @ to {{ $.phase }}",
            }])
    }
}

/// A phase is not taken back.
fn goes_forward(change: &Change<Service>) -> Vec<FieldError> {
    let (Some(before), Some(after)) = (change.before(), change.after()) else { return Vec::new() };
    phase_goes_forward(before.spec.phase, after.spec.phase)
}

/// The error of a phase that is taken back.
pub fn phase_goes_forward(before: Phase, after: Phase) -> Vec<FieldError> {
    if after >= before {
        return Vec::new();
    }
    let why = format!("a phase only goes forward, and it is {before:?}");
    let spec = Path::of("spec");
    vec![FieldError::invalid(&spec.field("phase"), &json!(after), why)]
}

/// A canonical name is one service's.
fn has_a_name_of_its_own(change: &Change<Service>, view: &mut krm::kind::View<'_>) -> krm::kind::Verdict {
    let Some(service) = change.after() else { return krm::kind::allow() };
    let others = view.bucket_of::<Service>(BY_SERVICE_NAME, &service.spec.service_name);
    match others.iter().find(|other| other.metadata.name != service.metadata.name) {
        None => krm::kind::allow(),
        Some(other) => {
            let why = format!("Service {} has this canonical name", other.metadata.name);
            Err(krm::kind::Refusal::Conflict(why))
        }
    }
}
