//! Provisioner: what installs machines, and how it is reached.

use std::collections::BTreeMap;

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Step;

/// What installs machines. Tasks name one.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Provisioner {
    /// Standard object metadata. Tasks that name no provisioner use the one named `default`.
    pub metadata: Metadata,
    /// How the provisioner is reached. Set by operators.
    pub spec: ProvisionerSpec,
    /// Observed state. Set by the server; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ProvisionerStatus>,
}

/// How a provisioner is reached, and its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvisionerSpec {
    /// Driver of the provisioner. The section of its name has its settings.
    #[serde(rename = "type")]
    pub kind: ProvisionerType,
    /// Settings of the simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulated>,
    /// Time limits of steps in seconds, by the name of the step, such as `deploy_node: 2700`. A step that takes longer fails.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub time_limits: BTreeMap<Step, i64>,
    /// How often a step is tried before it fails, from 1 to 10. Defaults to 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub tries: Option<i64>,
}

/// Drivers of provisioners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProvisionerType {
    /// Nothing is installed: each step takes some time and succeeds. For trying out designs and tasks.
    Simulated,
}

/// Settings of the simulation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Simulated {
    /// How long `deploy_node` takes, in seconds. Other steps take a tenth of it. Defaults to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 86400))]
    pub seconds: Option<i64>,
    /// Names of nodes whose deployment fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000), extend("x-kubernetes-list-type" = "atomic"))]
    pub failing: Vec<String>,
    /// Names of nodes whose deployment never ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000), extend("x-kubernetes-list-type" = "atomic"))]
    pub hanging: Vec<String>,
    /// Whether hosts have BMCs that are driven for real. Otherwise those are simulated too. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drives_bmcs: Option<bool>,
}

/// Observed state of a provisioner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvisionerStatus {
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
}

impl Resource for Provisioner {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Provisioner";
    const PLURAL: &'static str = "provisioners";

    fn declare() -> Declaration<Provisioner> {
        Declaration::cluster()
            .planes(Planes::Root)
            .categories(&["orchestration"])
            .status()
            .selects(&["spec.type"])
            .prints("Type", "string", ".spec.type")
            .prints_age()
            .answers_about("task-plan", "TaskPlan", crate::questions::task_plan)
    }
}
