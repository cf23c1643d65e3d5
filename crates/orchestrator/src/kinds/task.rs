//! Task: one run of an action on a revision of a design, and the part of it that is about one node.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{
    Bucket, Change, Declaration, History, Metadata, Missing, OnDelete, Planes, Reference, Resource, Sentence,
    Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_filter::NodeFilter;
use crate::action::{Action, Step};
use crate::algebra::ResultStatus;

/// Bucket of the node tasks of a task, by `<namespace>/<task>/<state>`: see [`Task::children_in`].
pub const CHILDREN: Bucket = Bucket::new("orchestration.groundplane.dev/node-tasks");
/// Bucket of the tasks that change what all nodes of a provisioner share, by provisioner, while they run.
pub const SITE_WORK: Bucket = Bucket::new("orchestration.groundplane.dev/site-work");

/// One run of an action on a revision of a design. Users create tasks without `parent`; for each node, the task controller
/// creates a task with `parent` and `node`, which runs the steps of the action on that node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// What to do, on which nodes. Immutable, except for `cancel` and `retry`.
    pub spec: TaskSpec,
    /// Progress of the task. Set by the task controllers; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
}

/// What a task does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskSpec {
    /// The action to run.
    pub action: Action,
    /// Name of the Design, in the same namespace. Must exist.
    #[schemars(length(min = 1, max = 253))]
    pub design: String,
    /// Number of the DesignRevision. Defaults to the active revision of the design at the time that the task begins;
    /// `status.revision` says which one it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revision: Option<i64>,
    /// Selects the nodes. Defaults to all nodes of the design. Not used by actions on the site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_filter: Option<NodeFilter>,
    /// Name of the Provisioner. Defaults to the one named `default`, or the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub provisioner: Option<String>,
    /// Number of nodes that are worked on at the same time, from 1 to 1000. Defaults to 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub parallel: Option<i64>,
    /// Whether nodes are deployed though their hardware differs from the design. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_differences: Option<bool>,
    /// Digest of the plan that the task was created from (`groundplane task plan`). If the plan is another one when the task
    /// begins, the task fails without doing anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = "^sha256:[0-9a-f]{64}$"))]
    pub plan_digest: Option<String>,
    /// Set to true to stop the task: no further step begins, and machines are left as they are. Cannot be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<bool>,
    /// Raise this number to run the task again on the nodes that failed. Defaults to 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub retry: Option<i64>,
    /// The task that this one is a part of. Set by the task controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentTask>,
    /// Name of the node in the design, if the task is about one node. Set by the task controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub node: Option<String>,
}

/// The task that another is a part of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParentTask {
    /// Name of the task, in the same namespace.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Unique identifier of the task.
    #[schemars(length(max = 63))]
    pub uid: String,
}

/// Progress of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// Where the task is in its life.
    #[serde(default)]
    pub phase: Phase,
    /// Result of the task so far.
    #[serde(default)]
    pub result: ResultStatus,
    /// What the task is doing or how it ended, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 4096))]
    pub message: String,
    /// What the task waits for, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub waiting_for: Option<String>,
    /// Number of the DesignRevision that the task works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revision: Option<i64>,
    /// Name of the Provisioner that the task uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub provisioner: Option<String>,
    /// The `spec.retry` that the task works on.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub retry: i64,
    /// When the task began, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub started_at: Option<String>,
    /// When the task ended, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub finished_at: Option<String>,
    /// Steps of the task, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub steps: Vec<StepStatus>,
    /// Number of nodes, by how they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeCounts>,
    /// Names of the nodes that failed, the first 1000 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "atomic"))]
    pub failures: Vec<String>,
    /// The claim on the host of the node, while the task holds it. No BMC is driven without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<HeldClaim>,
    /// Details for people: messages of steps and boot actions, the last 200 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200), extend("x-kubernetes-list-type" = "atomic"))]
    pub messages: Vec<TaskMessage>,
    /// Until when the key of the node is accepted on the node listener, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub key_expires_at: Option<String>,
    /// Conditions. `Progressing` is `False` while a step takes longer than its time limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
}

/// Where a task is in its life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// It has not begun.
    #[default]
    Queued,
    /// It runs.
    Running,
    /// It was cancelled, and some of its nodes have not stopped yet.
    Terminating,
    /// It was cancelled.
    Terminated,
    /// It ended.
    Complete,
}

impl Phase {
    /// Whether nothing happens any more.
    pub fn has_ended(self) -> bool {
        matches!(self, Phase::Terminated | Phase::Complete)
    }

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Queued => "Queued",
            Phase::Running => "Running",
            Phase::Terminating => "Terminating",
            Phase::Terminated => "Terminated",
            Phase::Complete => "Complete",
        }
    }
}

/// One step of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepStatus {
    /// The step.
    pub name: Step,
    /// How far it is.
    #[serde(default)]
    pub state: StepState,
    /// How often it was tried.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub tries: i64,
    /// When the last try began, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub started_at: Option<String>,
    /// When it ended, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub finished_at: Option<String>,
    /// What it does, waits for, or ended with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 4096))]
    pub message: String,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum StepState {
    /// It has not begun.
    #[default]
    Pending,
    /// It runs.
    Running,
    /// It succeeded.
    Done,
    /// It was not needed.
    Skipped,
    /// It failed.
    Failed,
    /// The task was cancelled before it ended.
    Cancelled,
}

/// Number of nodes of a task, by how they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeCounts {
    /// Selected nodes.
    #[schemars(range(min = 0))]
    pub total: i64,
    /// Nodes that have not begun.
    #[schemars(range(min = 0))]
    pub waiting: i64,
    /// Nodes that are worked on, or wait for their host.
    #[schemars(range(min = 0))]
    pub running: i64,
    /// Nodes that succeeded.
    #[schemars(range(min = 0))]
    pub succeeded: i64,
    /// Nodes that failed.
    #[schemars(range(min = 0))]
    pub failed: i64,
    /// Nodes that stopped because the task was cancelled.
    #[schemars(range(min = 0))]
    pub terminated: i64,
}

/// The claim that a task holds on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldClaim {
    /// Name of the Host.
    #[schemars(length(min = 1, max = 253))]
    pub host: String,
    /// Epoch of the HostClaim in which the task holds it.
    #[schemars(range(min = 0))]
    pub epoch: i64,
}

/// A message about a task, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskMessage {
    /// When it was recorded, in RFC 3339 format.
    #[schemars(length(max = 64))]
    pub time: String,
    /// The message.
    #[schemars(length(max = 4096))]
    pub message: String,
    /// Whether it reports an error.
    #[serde(default)]
    pub error: bool,
    /// What it is about: `node`, `bootaction`, `network` or `task`.
    #[schemars(length(max = 32))]
    pub context_type: String,
    /// Name of what it is about.
    #[schemars(length(max = 253))]
    pub context: String,
}

impl Resource for Task {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Task";
    const PLURAL: &'static str = "tasks";

    fn declare() -> Declaration<Task> {
        Declaration::namespaced()
            .planes(Planes::Root)
            .categories(&["orchestration"])
            .history(History::Spec)
            .status()
            .refers(
                Reference::at("spec.design", "design.groundplane.dev", "designs")
                    .same_namespace()
                    .missing(Missing::Refuse)
                    .on_delete(OnDelete::Ignore)
                    .tie("deploys it"),
            )
            .selects(&[
                "spec.action",
                "spec.design",
                "spec.node",
                "spec.parent.name",
                "status.phase",
                "status.result",
            ])
            .prints("Action", "string", ".spec.action")
            .prints("Design", "string", ".spec.design")
            .prints("Revision", "integer", ".status.revision")
            .prints("Node", "string", ".spec.node")
            .prints("Phase", "string", ".status.phase")
            .prints("Result", "string", ".status.result")
            .prints("Nodes", "integer", ".status.nodes.total")
            .prints("Failed", "integer", ".status.nodes.failed")
            .prints_wide("Message", "string", ".status.message")
            .prints_age()
            .answers("ports", "TaskPorts", crate::questions::ports)
            .bucket(CHILDREN, |task: &Task| task.as_child().into_iter().collect())
            .bucket(SITE_WORK, |task: &Task| task.site_work().into_iter().collect())
            .validate(is_immutable)
            .rule(drives_only_what_it_holds)
            .tells_created(&[
                Sentence { when: "has($.parent)", says: "began {{ $.action }} on node {{ $.node }}" },
                Sentence { when: "true", says: "requested {{ $.action }} for design {{ $.design }}" },
            ])
            .tells_updated(&[
                Sentence {
                    when: "has($.cancel) && $.cancel && (!has(before.spec.cancel) || !before.spec.cancel)",
                    says: "cancelled task @",
                },
                Sentence {
                    when: "has($.retry) && (!has(before.spec.retry) || before.spec.retry != $.retry)",
                    says: "requested a retry of task @",
                },
            ])
    }
}

impl Task {
    /// Its status; that of a new task if it has none.
    pub fn state(&self) -> TaskStatus {
        self.status.clone().unwrap_or_default()
    }

    /// The value of the bucket of node tasks in a state: `active`, `succeeded`, `terminated`, or `failed-<retry>`.
    pub fn children_in(namespace: &str, parent: &str, state: &str) -> String {
        format!("{namespace}/{parent}/{state}")
    }

    fn as_child(&self) -> Option<String> {
        let parent = self.spec.parent.as_ref()?;
        let status = self.state();
        // What is to run again is active from the moment on that this is asked for.
        let is_again = self.spec.retry.unwrap_or(0) > status.retry;
        let failed = format!("failed-{}", status.retry);
        let state = match (status.phase, status.result) {
            _ if is_again => "active",
            (Phase::Terminated, _) => "terminated",
            (Phase::Complete, ResultStatus::Success) => "succeeded",
            (Phase::Complete, _) => &failed,
            _ => "active",
        };
        Some(Task::children_in(&self.metadata.namespace, &parent.name, state))
    }

    fn site_work(&self) -> Option<String> {
        let status = self.status.as_ref()?;
        let is_running = matches!(status.phase, Phase::Running | Phase::Terminating);
        let is_site = self.spec.parent.is_none() && self.spec.action.is_about_the_site();
        status.provisioner.clone().filter(|_| is_running && is_site)
    }
}

/// What a task does never changes; whether it goes on may.
fn is_immutable(change: &Change<Task>) -> Vec<FieldError> {
    let (Some(before), Some(after)) = (change.before(), change.after()) else {
        return change.after().map(is_whole).unwrap_or_default();
    };
    let spec = Path::of("spec");
    let fixed = |task: &Task| TaskSpec { cancel: None, retry: None, ..task.spec.clone() };
    let mut faults = Vec::new();
    if fixed(before) != fixed(after) {
        faults.push(FieldError::forbidden(
            &spec,
            "a task is immutable, except for cancel and retry; create a new one",
        ));
    }
    if before.spec.cancel == Some(true) && after.spec.cancel != Some(true) {
        faults.push(FieldError::forbidden(
            &spec.field("cancel"),
            "a task that was cancelled does not go on; create a new one",
        ));
    }
    if after.spec.retry.unwrap_or(0) < before.spec.retry.unwrap_or(0) {
        faults.push(FieldError::forbidden(&spec.field("retry"), "must not be lowered"));
    }
    faults
}

fn is_whole(task: &Task) -> Vec<FieldError> {
    let spec = Path::of("spec");
    match (&task.spec.parent, &task.spec.node) {
        (Some(_), None) => {
            vec![FieldError::required(&spec.field("node"), "a part of a task is about one node")]
        }
        (None, Some(_)) => {
            let why = "is set by the task controller; use nodeFilter to select nodes";
            vec![FieldError::forbidden(&spec.field("node"), why)]
        }
        _ => Vec::new(),
    }
}

/// A step that drives a BMC begins only while the task holds the claim on the host, in the epoch that it knows. What is read
/// here guards the commit: if the claim changes meanwhile, the step does not begin.
fn drives_only_what_it_holds(change: &Change<Task>, view: &mut View<'_>) -> Verdict {
    let Some(task) = change.after() else { return allow() };
    let status = task.state();
    let drives = |step: &&StepStatus| step.state == StepState::Running && step.name.drives_bmc();
    let Some(step) = status.steps.iter().find(drives) else { return allow() };
    match &status.claim {
        Some(claim) => fulfillment::kinds::host_claim::may_drive(
            view,
            &claim.host,
            &crate::claim::claimant(task),
            claim.epoch,
        ),
        None => Err(krm::kind::Refusal::Conflict(format!(
            "the step {} drives a BMC, and the task holds no claim on a host",
            step.name
        ))),
    }
}

/// What a task needs to be looked up: a part of its spec, with its namespace.
#[derive(Debug, Clone, Copy)]
pub struct TaskSpecView<'a> {
    /// Namespace of the task.
    pub namespace: &'a str,
    /// Name of the design.
    pub design: &'a str,
    /// Number of the revision, if it is given.
    pub revision: Option<i64>,
    /// Name of the provisioner, if it is given.
    pub provisioner: Option<&'a str>,
}

impl Task {
    /// What it needs to be looked up, with what was decided when it began.
    pub fn view(&self) -> TaskSpecView<'_> {
        let status = self.status.as_ref();
        TaskSpecView {
            namespace: &self.metadata.namespace,
            design: &self.spec.design,
            revision: status.and_then(|status| status.revision).or(self.spec.revision),
            provisioner: status
                .and_then(|status| status.provisioner.as_deref())
                .or(self.spec.provisioner.as_deref()),
        }
    }
}
