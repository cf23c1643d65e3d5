//! Workload: containers or virtual machines that run in cities.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Missing, OnDelete, Planes, Reference, Resource, Rollout, Sentence};
use krm::names::name_is_dns_label;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::placement::Placement;
use super::template::InstanceTemplate;
use crate::{admission, rollout};

/// Containers or virtual machines that run in cities. Each placement has a number of instances in each of its cities. A
/// change of the template replaces the instances one after another.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// Standard object metadata. The name must be a DNS label of at most 63 characters.
    pub metadata: Metadata,
    /// Specification of the workload. Set by users.
    pub spec: WorkloadSpec,
    /// Observed state of the workload. Set by the workload controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<WorkloadStatus>,
}

/// Specification of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadSpec {
    /// What the instances are made from.
    pub template: InstanceTemplate,
    /// Where instances run, and how many. At least one.
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub placements: Vec<Placement>,
    /// How changes of the template reach the instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutSettings>,
    /// Accepted for older manifests, and ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub gateway: Option<Value>,
}

/// How changes of a template reach the instances.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutSettings {
    /// Whether instances stay as they are though the template changes. Defaults to false.
    #[serde(default)]
    pub paused: bool,
    /// Further instances in each city while others are replaced, 0 or 1: with 1, an instance is replaced once another one
    /// is ready in its place. They claim quota. Defaults to 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub surge: u32,
    /// Whether a new template is tried on one instance first. The others follow once `promoted` names the template.
    /// Defaults to false.
    #[serde(default)]
    pub canary: bool,
    /// Hash of the template that was approved for all instances, as `status.templateHash` has it. For `canary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub promoted: Option<String>,
    /// Whether the last template that all instances were ready with is brought back when a new one fails. Defaults to
    /// false.
    #[serde(default)]
    pub auto_rollback: bool,
    /// Seconds without progress after which a rollout counts as failed, 10 to 86400. Defaults to 600.
    #[serde(default = "ten_minutes")]
    #[schemars(range(min = 10, max = 86_400))]
    pub progress_deadline_seconds: u32,
}

fn ten_minutes() -> u32 {
    600
}

/// Observed state of a workload.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadStatus {
    /// The `metadata.generation` that the status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// `Available` is `True` while at least one placement has a ready instance. If not, its reason and message are those of
    /// the deployment that is worst off.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Hash of the template of the specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub template_hash: Option<String>,
    /// Number of WorkloadDeployments.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub deployments: i32,
    /// Instances, summed over deployments.
    #[serde(flatten)]
    pub counts: Counts,
    /// State of each placement, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placements: Vec<PlacementStatus>,
    /// State of the last change of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutStatus>,
    /// The last template that all instances were ready with. Kept while `spec.rollout.autoRollback` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub stable_template: Option<Value>,
}

/// Numbers of instances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Instances that exist.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub replicas: i32,
    /// Instances that run the latest template.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub current_replicas: i32,
    /// Instances that were made from the latest template, ready or not. It dips while instances are replaced.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub updated_replicas: i32,
    /// Instances that are wanted.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub desired_replicas: i32,
    /// Instances that are ready.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub ready_replicas: i32,
}

/// State of a placement.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementStatus {
    /// Name of the placement.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Instances, summed over the deployments of the placement.
    #[serde(flatten)]
    pub counts: Counts,
    /// Names of the locations that the placement has a deployment at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<String>,
    /// `Available` is `True` while a deployment of the placement is.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// State of a change of the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutStatus {
    /// `Updating` while instances are replaced, `Paused`, `Canary` while one instance is tried and the others wait for
    /// `promoted`, `Blocked` while a failure keeps it from going on, or `Done`.
    pub phase: RolloutPhase,
    /// Hash of the template that is rolled out.
    #[schemars(length(min = 1, max = 63))]
    pub template_hash: String,
    /// When the rollout of this template began.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// When the number of ready instances of this template last grew.
    #[schemars(extend("format" = "date-time"))]
    pub progressed_at: String,
    /// Ready instances of this template, for `progressedAt`.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub ready: i32,
    /// What keeps it from going on: reason of the instance that is worst off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub reason: Option<String>,
    /// The same for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32768))]
    pub message: Option<String>,
}

/// How far a rollout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RolloutPhase {
    /// Instances are replaced or started.
    Updating,
    /// It waits until `spec.rollout.paused` is false.
    Paused,
    /// One instance is tried, and the others wait for `spec.rollout.promoted`.
    Canary,
    /// A failure keeps it from going on.
    Blocked,
    /// All instances are ready and up to date.
    Done,
}

/// Where templates name ConfigMaps and Secrets, and what it takes to name one: whoever gives a container a Secret can read it
/// there.
const DATA: [(&str, &str, &str); 7] = [
    ("runtime.sandbox.containers[].env[].valueFrom.configMapKeyRef.name", "configmaps", "get"),
    ("runtime.sandbox.containers[].env[].valueFrom.secretKeyRef.name", "secrets", "reveal"),
    ("runtime.sandbox.containers[].envFrom[].configMapRef.name", "configmaps", "get"),
    ("runtime.sandbox.containers[].envFrom[].secretRef.name", "secrets", "reveal"),
    ("runtime.sandbox.imagePullSecrets[].name", "secrets", "reveal"),
    ("volumes[].configMap.name", "configmaps", "get"),
    ("volumes[].secret.secretName", "secrets", "reveal"),
];

impl Resource for Workload {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Workload";
    const PLURAL: &'static str = "workloads";

    fn declare() -> Declaration<Workload> {
        let network = Reference::at(
            "spec.template.spec.networkInterfaces[].network.name",
            crate::NETWORKING_GROUP,
            crate::NETWORKS,
        );
        let network = network
            .same_namespace()
            .takes("use")
            .missing(Missing::NotReady("NetworkNotFound"))
            .on_delete(OnDelete::Block)
            .tie("attached to it");
        let declaration = DATA.iter().fold(Declaration::namespaced(), |declaration, (path, plural, verb)| {
            let data = Reference::at(&format!("spec.template.spec.{path}"), "", plural).same_namespace();
            // It may come later, and go: what runs keeps what it was started with.
            declaration.refers(data.takes(verb).missing(Missing::Ignore).on_delete(OnDelete::Ignore))
        });
        declaration
            .planes(Planes::Project)
            .names(name_is_dns_label)
            .categories(&["all"])
            .status()
            .rollout(Rollout {
                hash: rollout::hash_of,
                image: rollout::image_of,
                describe: rollout::describe,
            })
            .refers(network)
            .prints_age()
            .prints("Available", "string", r#".status.conditions[?(@.type=="Available")].status"#)
            .prints("Reason", "string", r#".status.conditions[?(@.type=="Available")].reason"#)
            .prints("Deployments", "integer", ".status.deployments")
            .prints("Replicas", "integer", ".status.replicas")
            .prints("Ready", "integer", ".status.readyReplicas")
            .prints("Desired", "integer", ".status.desiredReplicas")
            .prints("Up-to-date", "integer", ".status.updatedReplicas")
            .rule(admission::is_admissible)
            .tells_created(&[Sentence {
                when: "has($.placements) && size($.placements) > 0",
                says: "deployed @",
            }])
            .tells_updated(&[
                Sentence {
                    when: "$.template != before.spec.template",
                    says: "rolled out a new version of @",
                },
                Sentence {
                    when: "$.placements != before.spec.placements",
                    says: "changed the placements of @",
                },
            ])
    }
}
