//! ResourceRegistration: a type of resource that quota is kept of.

use krm::condition::Condition;
use krm::kind::{
    Bucket, Change, Declaration, Metadata, Planes, Refusal, Resource, SHOWN_TO_ALL, Sentence, Verdict, View,
    allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KindRef;

/// The bucket of registrations by their type of resource.
pub const BY_TYPE: Bucket = Bucket::new("quota.miloapis.com/registrations-by-type");

/// A type of resource that quota is kept of, such as the instances of a project.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRegistration {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the type of resource. Set by the operators of the platform.
    pub spec: ResourceRegistrationSpec,
    /// Observed state of the registration. Set by the quota controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ResourceRegistrationStatus>,
}

/// Specification of a type of resource.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.resourceType == oldSelf.resourceType", "message": "resourceType is immutable"},
    {"rule": "self.consumerType == oldSelf.consumerType", "message": "consumerType is immutable"},
    {"rule": "self.type == oldSelf.type", "message": "type is immutable"},
]))]
pub struct ResourceRegistrationSpec {
    /// Kind of the consumers: whose quota it is. Immutable.
    pub consumer_type: KindRef,
    /// `Entity` counts objects, `Allocation` sums amounts, `Feature` is had or not. Immutable.
    #[serde(rename = "type")]
    pub kind: ResourceKind,
    /// Name of the type of resource, such as `compute.datumapis.com/instances`. Unique and immutable.
    #[schemars(length(min = 1, max = 253))]
    pub resource_type: String,
    /// What is counted, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    pub description: Option<String>,
    /// Unit of amounts in grants and claims, such as `millicore`.
    #[schemars(length(min = 1, max = 50))]
    pub base_unit: String,
    /// Unit that people are shown, such as `vCPU`.
    #[schemars(length(min = 1, max = 50))]
    pub display_unit: String,
    /// How many base units are one display unit. At least 1.
    #[schemars(range(min = 1))]
    pub unit_conversion_factor: u64,
    /// Kinds whose objects may claim the resource. 1 to 20.
    #[schemars(length(min = 1, max = 20))]
    pub claiming_resources: Vec<KindRef>,
}

/// How a resource is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ResourceKind {
    /// Objects are counted.
    Entity,
    /// Amounts are summed up.
    Allocation,
    /// It is had or not.
    Feature,
}

/// Observed state of a registration.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRegistrationStatus {
    /// `Active` is `True` once the resource can be granted and claimed.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for ResourceRegistration {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ResourceRegistration";
    const PLURAL: &'static str = "resourceregistrations";

    fn declare() -> Declaration<ResourceRegistration> {
        Declaration::cluster()
            .planes(Planes::Root)
            .status()
            .selects(&["spec.resourceType"])
            .searches(&["spec.resourceType"])
            .prints("Type", "string", ".spec.resourceType")
            .prints("Active", "string", r#".status.conditions[?(@.type=="Active")].status"#)
            .prints_age()
            // What is counted, and in which unit, is no secret; what others have of it is.
            .shown_to_project(|_| Some(SHOWN_TO_ALL.to_owned()))
            .bucket(BY_TYPE, |registration: &ResourceRegistration| {
                vec![registration.spec.resource_type.clone()]
            })
            .rule(is_the_only_one_of_its_type)
            .tells_created(&[Sentence {
                when: "has($.resourceType)",
                says: "registered @ as {{ $.resourceType }}",
            }])
    }
}

fn is_the_only_one_of_its_type(change: &Change<ResourceRegistration>, view: &mut View<'_>) -> Verdict {
    let Some(registration) = change.after() else { return allow() };
    let others = view.bucket_of::<ResourceRegistration>(BY_TYPE, &registration.spec.resource_type);
    match others.iter().find(|other| other.metadata.name != registration.metadata.name) {
        None => allow(),
        Some(other) => {
            let why = format!("ResourceRegistration {} has this type of resource", other.metadata.name);
            Err(Refusal::Conflict(why))
        }
    }
}
