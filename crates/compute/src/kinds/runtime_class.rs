//! RuntimeClass: what instances run on.

use krm::condition::Condition;
use krm::field::FieldError;
use krm::kind::{
    Bucket, Change, Declaration, Metadata, Planes, Refusal, Resource, Sentence, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lifecycle::goes_forward;
use super::{Lifecycle, LocationRef, offered_at};

/// The bucket of the default class.
const DEFAULT: Bucket = Bucket::new("compute.datumapis.com/default-runtime-class");

/// What instances run on: how they are isolated, and which features of a workload they support.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeClass {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the class. Set by the operators of the platform.
    pub spec: RuntimeClassSpec,
    /// Observed state of the class. Its controller reports here; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<RuntimeClassStatus>,
}

/// Specification of a runtime class.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.controllerName == oldSelf.controllerName", "message": "controllerName is immutable"},
]))]
pub struct RuntimeClassSpec {
    /// Provider that runs instances of the class, such as `compute.datumapis.com/unikraft-provider`. Immutable.
    #[schemars(length(min = 1, max = 253))]
    pub controller_name: String,
    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub display_name: Option<String>,
    /// Whether workloads that name no class get this one. At most one class is the default. Defaults to false.
    #[serde(default)]
    pub default: bool,
    /// How instances are kept apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// What instances of the class can do.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// How long the class is offered.
    #[serde(default)]
    pub lifecycle: Lifecycle,
    /// Locations that offer the class. Without any, all locations do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 500))]
    pub locations: Vec<LocationRef>,
}

/// How instances are kept apart.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Isolation {
    /// What is between instances, such as `unikernel` or `virtual-machine`.
    #[schemars(length(min = 1, max = 63))]
    pub boundary: String,
    /// Description of it, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
}

/// What instances of a class can do.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// Features of workloads that the class supports.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub features: Vec<Feature>,
    /// What images have to be made for, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub compatibility: Option<String>,
}

/// A feature of workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Feature {
    /// Containers in a sandbox.
    SandboxRuntime,
    /// Virtual machines.
    VirtualMachineRuntime,
    /// Volumes from ConfigMaps.
    ConfigMapVolumes,
    /// Volumes from Secrets.
    SecretVolumes,
    /// Disks.
    DiskVolumes,
    /// Volumes that are attached as devices.
    DeviceVolumeAttachments,
    /// Environment variables from ConfigMaps and Secrets.
    EnvFrom,
    /// Secrets for pulling images.
    ImagePullSecrets,
}

/// Observed state of a runtime class.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeClassStatus {
    /// `Accepted` is what the controller of the class reports, and `Available` whether instances can run on it.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for RuntimeClass {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "RuntimeClass";
    const PLURAL: &'static str = "runtimeclasses";

    fn declare() -> Declaration<RuntimeClass> {
        Declaration::cluster()
            .planes(Planes::Root)
            .status()
            .refers(offered_at())
            .selects(&["spec.lifecycle.phase"])
            .searches(&["spec.displayName"])
            .prints("Controller", "string", ".spec.controllerName")
            .prints("Default", "boolean", ".spec.default")
            .prints("Isolation", "string", ".spec.isolation.boundary")
            .prints("Phase", "string", ".spec.lifecycle.phase")
            .prints_age()
            .bucket(DEFAULT, |class: &RuntimeClass| {
                class.spec.default.then(|| "default".to_owned()).into_iter().collect()
            })
            .validate(|change: &Change<RuntimeClass>| -> Vec<FieldError> {
                match (change.before(), change.after()) {
                    (Some(old), Some(new)) => goes_forward(&old.spec.lifecycle, &new.spec.lifecycle),
                    _ => Vec::new(),
                }
            })
            .rule(is_the_only_default)
            .tells_updated(&[Sentence {
                when: "$.lifecycle.phase != before.spec.lifecycle.phase",
                says: "moved @ to {{ $.lifecycle.phase }}",
            }])
    }
}

fn is_the_only_default(change: &Change<RuntimeClass>, view: &mut View<'_>) -> Verdict {
    let Some(class) = change.after().filter(|class| class.spec.default) else { return allow() };
    let others = view.bucket_of::<RuntimeClass>(DEFAULT, "default");
    match others.iter().find(|other| other.metadata.name != class.metadata.name) {
        None => allow(),
        Some(other) => Err(Refusal::Conflict(format!(
            "RuntimeClass {} is the default; only one can be",
            other.metadata.name
        ))),
    }
}
