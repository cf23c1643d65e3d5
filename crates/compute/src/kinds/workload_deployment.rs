//! WorkloadDeployment: a workload in one city.

use krm::condition::Condition;
use krm::kind::{Bucket, Declaration, Metadata, Planes, Resource, Scale};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::LocationRef;
use super::placement::ScaleSettings;
use super::template::InstanceTemplate;
use super::workload::Counts;
use crate::claims;

/// The bucket of the deployments of a workload, by its uid.
pub const OF_WORKLOAD: Bucket = Bucket::new("compute.datumapis.com/deployments-of-workload");

/// A workload in one city: its instances and their quota. The workload controller makes it; change the Workload instead.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadDeployment {
    /// Standard object metadata. The name is that of the workload, the placement and the city, with dashes in between.
    pub metadata: Metadata,
    /// Specification of the deployment. Set by the workload controller.
    pub spec: WorkloadDeploymentSpec,
    /// Observed state of the deployment. Set by the deployment controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<WorkloadDeploymentStatus>,
}

/// Specification of a deployment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadDeploymentSpec {
    /// The Workload.
    pub workload_ref: WorkloadRef,
    /// Name of the placement.
    #[schemars(length(min = 1, max = 63))]
    pub placement_name: String,
    /// City code of the location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub city_code: Option<String>,
    /// The location. Without it, the first that is available in the city.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location_ref: Option<LocationRef>,
    /// What instances are made from.
    pub template: InstanceTemplate,
    /// Number of instances, as the placement has it.
    pub scale_settings: ScaleSettings,
    /// Number of instances that are wanted now, 1 to 1000. Set by autoscaling, or through the subresource `scale`. Defaults to
    /// `scaleSettings.minReplicas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub replicas: Option<i32>,
    /// How a new template reaches the instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<DeploymentRollout>,
}

/// A workload by its name, with its uid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadRef {
    /// Name of the Workload, in the same namespace.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Uid of the Workload.
    #[schemars(length(min = 1, max = 63))]
    pub uid: String,
}

/// How a new template reaches the instances of a deployment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentRollout {
    /// Whether instances stay as they are though they are out of date. Defaults to false.
    #[serde(default)]
    pub paused: bool,
    /// Further instances while others are replaced, 0 or 1. Defaults to 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub surge: u32,
    /// Template of the instance with the highest ordinal, on which it is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub canary_template: Option<Value>,
}

/// Observed state of a deployment.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadDeploymentStatus {
    /// The `metadata.generation` that the status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// `Available` is `True` while at least one instance is ready. `ReplicasReady` is `True` unless instances wait for
    /// quota or for ConfigMaps and Secrets. `ReferencedDataReady` says whether those exist.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Numbers of instances.
    #[serde(flatten)]
    pub counts: Counts,
    /// Hash of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub template_hash: Option<String>,
    /// Ordinals that were started: one below it that is missing is started again at once.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub started_replicas: i32,
    /// Location that the instances run at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<LocationRef>,
    /// Where the ports of the workload are reached in this city. Placements in one city share them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub addresses: Vec<ServedAddress>,
    /// Label selector of the instances, for autoscalers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub selector: Option<String>,
    /// What an instance of the latest template failed of, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// State of autoscaling, if the deployment is scaled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<AutoscalingStatus>,
}

/// Where a port of a workload is reached in a city.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedAddress {
    /// Name of the port.
    #[schemars(length(min = 1, max = 15))]
    pub name: String,
    /// Port that the instances listen on.
    #[schemars(range(min = 1))]
    pub port: u16,
    /// Address and port to connect to. Connections go to instances that are ready.
    #[schemars(length(min = 1, max = 64))]
    pub address: String,
    /// The address as a URL: `http`, `https` or `tcp`.
    #[schemars(length(min = 1, max = 128))]
    pub url: String,
}

/// Why an instance is not ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Name of the instance.
    #[schemars(length(min = 1, max = 253))]
    pub instance: String,
    /// Machine-readable reason.
    #[schemars(length(min = 1, max = 63))]
    pub reason: String,
    /// Details for people.
    #[schemars(length(max = 32768))]
    pub message: String,
}

/// What autoscaling found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutoscalingStatus {
    /// When usage was last looked at.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub sampled_at: String,
    /// Instances that the last samples recommend, the newest first.
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub recommended: Vec<u32>,
    /// Why the number is as it is, for people.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub message: String,
}

impl Resource for WorkloadDeployment {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "WorkloadDeployment";
    const PLURAL: &'static str = "workloaddeployments";

    fn declare() -> Declaration<WorkloadDeployment> {
        Declaration::namespaced()
            .planes(Planes::Project)
            .status()
            .scale(Scale {
                spec_replicas: ".spec.replicas".to_owned(),
                status_replicas: ".status.replicas".to_owned(),
                selector: Some(".status.selector".to_owned()),
            })
            .controlled()
            .selects(&["spec.workloadRef.name", "spec.cityCode"])
            .prints_age()
            .prints("Available", "string", r#".status.conditions[?(@.type=="Available")].status"#)
            .prints("Reason", "string", r#".status.conditions[?(@.type=="Available")].reason"#)
            .prints("Replicas", "integer", ".status.replicas")
            .prints("Ready", "integer", ".status.readyReplicas")
            .prints("Desired", "integer", ".status.desiredReplicas")
            .prints("Up-to-date", "integer", ".status.updatedReplicas")
            .prints("Location", "string", ".status.location.name")
            .bucket(OF_WORKLOAD, |deployment: &WorkloadDeployment| {
                vec![deployment.spec.workload_ref.uid.clone()]
            })
            .effects(claims::of_deployment)
    }
}

impl WorkloadDeployment {
    /// Number of instances that are wanted.
    pub fn desired(&self) -> u32 {
        let settings = &self.spec.scale_settings;
        let most = settings.max_replicas.unwrap_or(settings.min_replicas).max(settings.min_replicas);
        let wanted =
            self.spec.replicas.unwrap_or(settings.min_replicas).clamp(settings.min_replicas.min(most), most);
        u32::try_from(wanted).unwrap_or(0)
    }
}
