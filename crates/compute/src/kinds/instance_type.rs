//! InstanceType: how much CPU and memory an instance has.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Planes, Resource, Sentence};
use krm::quantity::amount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::lifecycle::goes_forward;
use super::{Lifecycle, LocationRef, offered_at};

/// A size of instances in the catalog: how much CPU and memory an instance of it has, and claims of quota.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct InstanceType {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the type. Set by the operators of the platform.
    pub spec: InstanceTypeSpec,
    /// Observed state of the type. Set by the catalog controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<InstanceTypeStatus>,
}

/// Specification of a type of instances.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.resources == oldSelf.resources", "message": "resources are immutable"},
]))]
pub struct InstanceTypeSpec {
    /// What an instance has. Immutable.
    pub resources: InstanceResources,
    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// What the type is for, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// How long the type is offered.
    #[serde(default)]
    pub lifecycle: Lifecycle,
    /// Locations that offer the type. Without any, all locations do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 500))]
    pub locations: Vec<LocationRef>,
}

/// What an instance has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstanceResources {
    /// CPU as a Kubernetes quantity, such as `1000m` for one vCPU.
    #[schemars(length(min = 1, max = 32))]
    pub cpu: String,
    /// Memory as a Kubernetes quantity, such as `2048Mi`.
    #[schemars(length(min = 1, max = 32))]
    pub memory: String,
}

/// Observed state of a type of instances.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceTypeStatus {
    /// When the type was deprecated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub deprecated_at: Option<String>,
    /// `Ready` is `True` while instances of the type can be created.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for InstanceType {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "InstanceType";
    const PLURAL: &'static str = "instancetypes";

    fn declare() -> Declaration<InstanceType> {
        Declaration::cluster()
            .planes(Planes::Root)
            .status()
            .refers(offered_at())
            .selects(&["spec.lifecycle.phase"])
            .searches(&["spec.displayName"])
            .prints("CPU", "string", ".spec.resources.cpu")
            .prints("Memory", "string", ".spec.resources.memory")
            .prints("Phase", "string", ".spec.lifecycle.phase")
            .prints_age()
            .validate(is_sound)
            .tells_updated(&[Sentence {
                when: "$.lifecycle.phase != before.spec.lifecycle.phase",
                says: "moved @ to {{ $.lifecycle.phase }}",
            }])
    }
}

/// Resources are positive quantities, and the lifecycle goes forward.
fn is_sound(change: &Change<InstanceType>) -> Vec<FieldError> {
    let Some(new) = change.after() else { return Vec::new() };
    let spec = Path::of("spec");
    let resources = spec.field("resources");
    let given = [("cpu", &new.spec.resources.cpu), ("memory", &new.spec.resources.memory)];
    let is_wrong = |text: &str| amount(text).is_none_or(|amount| amount <= 0.0);
    let wrong = given.into_iter().filter(|(_, text)| is_wrong(text));
    let error = |(field, text): (&str, &String)| {
        FieldError::invalid(
            &resources.field(field),
            &json!(text),
            "must be a quantity, such as 1000m or 2048Mi",
        )
    };
    let mut errors: Vec<FieldError> = wrong.map(error).collect();
    errors.extend(
        change.before().into_iter().flat_map(|old| goes_forward(&old.spec.lifecycle, &new.spec.lifecycle)),
    );
    errors
}
