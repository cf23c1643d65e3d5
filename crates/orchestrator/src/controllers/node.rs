//! The node task controller: runs the steps of a task on one node, under the claim on its host.

use std::sync::Arc;
use std::time::Duration;

use design::as_built::Built;
use fulfillment::kinds::Host;
use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Action as PlannedAction, Plan, Write};
use reconcile::reconciler::{Executing, Execution, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

use super::execute::{self, Parameters};
use super::inputs::{Inputs, credential, inputs, sealed};
use super::run::{self, Steps};
use crate::action::Step;
use crate::algebra::ResultStatus;
use crate::claim::{self, Standing};
use crate::hardware;
use crate::kinds::Task;
use crate::kinds::task::{HeldClaim, Phase, StepState, TaskStatus};
use crate::oob::Oob;
use crate::progress::{self, Ending, Report};
use crate::work::NodeWork;

/// Nodes that are worked on at the same moment.
const WORKERS: usize = 32;
/// How often a claim that somebody else holds is looked at, though its release is seen.
const CLAIM_PAUSE: Duration = Duration::from_secs(60);

/// Reconciles tasks about one node.
pub struct NodeTaskController {
    oob: Arc<dyn Oob>,
}

impl NodeTaskController {
    /// The controller, with what drives BMCs.
    pub fn new(oob: Arc<dyn Oob>) -> NodeTaskController {
        NodeTaskController { oob }
    }
}

impl Reconciler for NodeTaskController {
    fn name(&self) -> &'static str {
        "node-task-controller"
    }

    fn description(&self) -> &'static str {
        "Runs the steps of tasks on nodes, each under the claim on its host."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Task>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["tasks/status"], &["update"]),
            Rule::new(crate::GROUP, &["builddata"], &["create"]),
            Rule::new(fulfillment::GROUP, &["hosts"], &["create"]),
            Rule::new(fulfillment::GROUP, &["hostclaims"], &["create", "update"]),
            fulfillment::bmcs::ROLE,
        ]
    }

    fn settings(&self) -> Settings {
        Settings { workers: WORKERS, ..Settings::new(self.name()) }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Ok(task) = Task::deserialize(&Value::Object(object.0.clone())) else { return plan };
        let Some(parent) = task.spec.parent.clone().filter(|_| !object.is_deleting()) else { return plan };
        let mut status = task.state();
        let retry = task.spec.retry.unwrap_or(0);
        if status.phase.has_ended() && retry <= status.retry {
            return plan;
        }
        if status.phase == Phase::Queued || retry > status.retry {
            status.phase = Phase::Running;
            status.result = ResultStatus::Incomplete;
            status.retry = retry;
            status.steps = progress::begin(task.spec.action);
            status.started_at = Some(context.now().to_string());
            status.finished_at = None;
        }
        let at = Task::address(&task.metadata.namespace, &parent.name);
        let root = context.here().get(&at).filter(|root| root.uid() == parent.uid);
        let is_cancelled = task.spec.cancel == Some(true)
            || root.is_none_or(|root| root.at("spec.cancel").and_then(Value::as_bool) == Some(true));
        go_on(&task, &mut status, is_cancelled, &mut plan, context);
        let mut new = Object::clone(object);
        new.set("status", Some(json!(status)));
        plan.change(&target.plane, object, new);
        plan.waiting.clone_from(&status.waiting_for);
        plan
    }

    fn execute<'a>(&'a self, action: &'a PlannedAction, execution: &'a Execution) -> Executing<'a> {
        Box::pin(execute::execute(action, execution, &self.oob))
    }
}

fn go_on(task: &Task, status: &mut TaskStatus, is_cancelled: bool, plan: &mut Plan, context: &Context<'_>) {
    let name = task.spec.node.clone().unwrap_or_default();
    let found = inputs(&task.view(), &context.here());
    let work = found.as_ref().map_err(String::clone).and_then(|found| {
        let (site, design) = (found.site()?, &found.compiled.compiled.design);
        let node =
            site.node(&name).ok_or_else(|| format!("revision {} has no node {name}", found.revision))?;
        let lshw = hardware::lshw(&context.here(), &task.metadata.namespace, &name);
        Ok(NodeWork::of(node, site, design, lshw.as_ref()))
    });
    let (found, work) = match (found, work) {
        (Ok(found), Ok(work)) => (found, work),
        (Err(why), _) | (_, Err(why)) => return end(task, status, Ending::Failure, why, plan, context),
    };
    status.revision = Some(found.revision);
    status.provisioner = Some(found.provisioner_name().to_owned());
    let limits = found.limits();
    let claim = status.claim.clone().filter(|claim| stands(task, claim, &work, context));
    let mut steps = NodeSteps { task, found: &found, work: &work, context, claim };
    let ended = run::run(task, status, &mut steps, (&limits, is_cancelled), plan, context);
    let Some(ending) = ended else { return };
    let failed =
        status.steps.iter().find(|step| matches!(step.state, StepState::Failed | StepState::Cancelled));
    let message = match (ending, failed) {
        (Ending::Success, _) => format!("{} succeeded", task.spec.action),
        (_, Some(step)) => format!("{}: {}", step.name, step.message),
        (_, None) => String::new(),
    };
    end(task, status, ending, message, plan, context);
}

/// Whether the task still holds the claim that it took, in the same epoch.
fn stands(task: &Task, claim: &HeldClaim, work: &NodeWork, context: &Context<'_>) -> bool {
    matches!(claim::standing(task, work, context), Standing::Held(held) if held == *claim)
}

/// Ends the task: the host is released in the same commit.
fn end(
    task: &Task,
    status: &mut TaskStatus,
    ending: Ending,
    message: String,
    plan: &mut Plan,
    context: &Context<'_>,
) {
    status.phase = if ending == Ending::Terminated { Phase::Terminated } else { Phase::Complete };
    status.result = match ending {
        Ending::Success => ResultStatus::Success,
        Ending::Failure => ResultStatus::Failure,
        Ending::Terminated => ResultStatus::Incomplete,
    };
    status.finished_at = Some(context.now().to_string());
    status.waiting_for = None;
    status.message = message;
    let held = status.claim.take();
    if let Some((old, new)) = held.and_then(|claim| claim::released(task, &claim.host, context)) {
        plan.change("", &old, new);
    }
}

struct NodeSteps<'a> {
    task: &'a Task,
    found: &'a Inputs,
    work: &'a NodeWork,
    context: &'a Context<'a>,
    claim: Option<HeldClaim>,
}

impl Steps for NodeSteps<'_> {
    fn claim(&self) -> Option<HeldClaim> {
        self.claim.clone()
    }

    fn evaluate(&mut self, step: Step, plan: &mut Plan) -> Report {
        match step {
            Step::ClaimHost => self.claim_host(plan),
            Step::CompareHardware => self.compare_hardware(),
            Step::BootactionReport => {
                Report::Done { message: "no boot action reports".to_owned(), skips: Vec::new() }
            }
            other => Report::Failed { message: format!("{other} is no step of a node"), may_retry: false },
        }
    }

    fn parameters(&self, step: Step, tries: i64) -> Value {
        let host = self.claim.as_ref().map(|claim| claim.host.clone());
        let host = host.or_else(|| claim::host_of(self.work, self.context));
        let stored = host.as_ref().and_then(|host| self.context.root().get(&Host::address("", host)));
        let url = stored.as_ref().and_then(|host| host.at("spec.bmc.url")?.as_str().map(str::to_owned));
        let password =
            stored.as_ref().and_then(|host| sealed(host.at("spec.bmc.passwordRef")?, &self.context.root()));
        let under = self.claim.as_ref().map(|claim| (claim::claimant(self.task), claim.epoch));
        let parameters = Parameters {
            step,
            tries,
            now: self.context.now().seconds,
            node: Some(self.work.clone()),
            site: None,
            provisioner: self.found.provisioner.spec.clone(),
            host,
            under,
            bmc_url: url,
            credential: credential(&self.found.provisioner, &self.context.root()),
            bmc_password: password,
            node_key: None,
        };
        serde_json::to_value(&parameters).unwrap_or_default()
    }
}

impl NodeSteps<'_> {
    fn claim_host(&mut self, plan: &mut Plan) -> Report {
        let waits = |message: String| Report::Running { message };
        match claim::standing(self.task, self.work, self.context) {
            Standing::Held(held) => {
                let message = format!("claimed host {} in epoch {}", held.host, held.epoch);
                self.claim = Some(held);
                Report::Done { message, skips: Vec::new() }
            }
            Standing::Taken { host, by } => {
                plan.again_after(CLAIM_PAUSE);
                waits(format!("host {host} is held by {by}"))
            }
            Standing::Free { host, old, new } => {
                match old {
                    Some(old) => plan.change("", &old, new),
                    None => plan.write(Write::Create(String::new(), new)),
                }
                plan.again_after(Duration::from_secs(1));
                waits(format!("claiming host {host}"))
            }
            Standing::NoHost => {
                plan.write(Write::Create(String::new(), host_of_design(self.work)));
                plan.again_after(Duration::from_secs(1));
                waits(format!("creating host {} from the design", self.work.name))
            }
        }
    }

    fn compare_hardware(&self) -> Report {
        let (here, namespace) = (self.context.here(), &self.task.metadata.namespace);
        let built = Built {
            lshw: hardware::lshw(&here, namespace, &self.work.name),
            lldp: hardware::lldp(&here, namespace, &self.work.name),
            inventory: None,
        };
        if built.lshw.is_none() {
            let message = "the hardware was not inspected, and not compared with the design".to_owned();
            return Report::Done { message, skips: Vec::new() };
        }
        let node = self.found.site().ok().and_then(|site| site.node(&self.work.name));
        let all = node
            .map(|node| hardware::comparisons(node, &self.found.compiled.compiled.design, &built))
            .unwrap_or_default();
        let differences = hardware::differences(&all);
        match (differences.is_empty(), self.task.spec.allow_differences.unwrap_or(false)) {
            (true, _) => {
                let message = format!("{} fields compared, none differs", all.len());
                Report::Done { message, skips: Vec::new() }
            }
            (false, true) => {
                let message = format!("goes on though the hardware differs: {}", differences.join("; "));
                Report::Done { message, skips: Vec::new() }
            }
            (false, false) => Report::Failed {
                message: format!("the hardware differs from the design: {}", differences.join("; ")),
                may_retry: false,
            },
        }
    }
}

/// A Host for a node that has none, as the design has its BMC. Its password is set by an operator.
fn host_of_design(work: &NodeWork) -> Object {
    let mut host = Object::new(&format!("{}/{}", Host::GROUP, Host::VERSION), Host::KIND);
    let name = fulfillment::identity::name_of(&work.name);
    host.set_meta("name", Some(name.as_str().into()));
    host.set_label(DESIGNED, Some("true"));
    if name != work.name {
        host.set("id", Some(work.name.as_str().into()));
    }
    let mut spec = json!({});
    let url = match (work.oob_type.as_deref(), &work.oob_address, &work.libvirt_uri) {
        (Some("redfish"), Some(address), _) => Some(format!("redfish://{address}")),
        (Some("ipmi"), Some(address), _) => Some(format!("ipmi://{address}")),
        (Some("libvirt"), _, Some(uri)) => Some(format!("{uri}?domain={}", work.name)),
        (Some("manual"), ..) => Some(format!("manual://{}", work.name)),
        _ => None,
    };
    if let Some(url) = url {
        spec["bmc"] = json!({"url": url});
        if let Some(account) = &work.oob_account {
            spec["bmc"]["user"] = account.as_str().into();
        }
    }
    if let Some(mac) = &work.boot_mac {
        spec["bootMac"] = mac.as_str().into();
    }
    host.set("spec", Some(spec));
    host
}

/// Label of hosts that were created from a design.
pub const DESIGNED: &str = "orchestration.groundplane.dev/designed";
