//! The task controller: begins tasks, runs the steps of the site, and creates a task for each node, some at a time.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Action as PlannedAction, Guard, Plan, Write};
use reconcile::reconciler::{DependsOn, Executing, Execution, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

use super::execute::{self, Parameters};
use super::inputs::{Inputs, inputs};
use super::run::{self, Steps};
use crate::action::{Action, Step};
use crate::algebra::{ResultStatus, of_counts};
use crate::filter;
use crate::kinds::task::{CHILDREN, HeldClaim, NodeCounts, Phase, SITE_WORK, TaskStatus};
use crate::kinds::{Task, Validation};
use crate::oob::Oob;
use crate::progress::{self, Ending, Report};
use crate::questions;
use crate::schedule::{self, Known};
use crate::work::{NodeWork, SiteWork};

/// Nodes at once unless the task says otherwise.
const PARALLEL: i64 = 64;
/// Names of failed nodes that a task tells.
const MOST_FAILURES: usize = 1000;
/// Findings that a Validation has.
const MOST_FINDINGS: usize = 1000;

/// Reconciles tasks over many nodes.
pub struct TaskController {
    oob: Arc<dyn Oob>,
}

impl TaskController {
    /// The controller. Steps of the site drive no BMC.
    pub fn new(oob: Arc<dyn Oob>) -> TaskController {
        TaskController { oob }
    }
}

impl Reconciler for TaskController {
    fn name(&self) -> &'static str {
        "task-controller"
    }

    fn description(&self) -> &'static str {
        "Runs tasks: the steps of the site, and a task for each node, some at a time."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Task>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["tasks"], &["create", "patch"]),
            Rule::new(crate::GROUP, &["tasks/status"], &["update"]),
            Rule::new(crate::GROUP, &["validations"], &["create"]),
        ]
    }

    fn depends_on(&self) -> DependsOn {
        // How the tasks of nodes are is in their status.
        DependsOn::Everything
    }

    fn settings(&self) -> Settings {
        let settling = Duration::from_millis(100);
        Settings { settling, is_heavy: true, ..Settings::new(self.name()) }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Ok(task) = Task::deserialize(&Value::Object(object.0.clone())) else { return plan };
        if task.spec.parent.is_some() || object.is_deleting() {
            return plan;
        }
        let mut status = task.state();
        let retry = task.spec.retry.unwrap_or(0);
        if status.phase.has_ended() && retry <= status.retry {
            return plan;
        }
        decide(&task, &mut status, &mut plan, context);
        let mut new = Object::clone(object);
        new.set("status", Some(json!(status)));
        plan.change(&target.plane, object, new);
        if let Some(waits) = &status.waiting_for {
            plan.waiting = Some(waits.clone());
        }
        plan
    }

    fn execute<'a>(&'a self, action: &'a PlannedAction, execution: &'a Execution) -> Executing<'a> {
        Box::pin(execute::execute(action, execution, &self.oob))
    }
}

fn decide(task: &Task, status: &mut TaskStatus, plan: &mut Plan, context: &Context<'_>) {
    let found = match inputs(&task.view(), &context.here()) {
        Ok(found) => found,
        Err(why) => return end(status, Ending::Failure, why, context),
    };
    let is_again = task.spec.retry.unwrap_or(0) > status.retry;
    if status.phase == Phase::Queued || is_again {
        if let Err(why) = begin(task, status, &found, context) {
            return end(status, Ending::Failure, why, context);
        }
        status.retry = task.spec.retry.unwrap_or(0);
    }
    match task.spec.action.is_about_the_site() {
        true => on_site(task, status, &found, plan, context),
        false => on_nodes(task, status, &found, plan, context),
    }
}

/// Whether a task can begin: the design has no errors, and the driver can do what it asks for.
fn begin(task: &Task, status: &mut TaskStatus, found: &Inputs, context: &Context<'_>) -> Result<(), String> {
    status.revision = Some(found.revision);
    status.provisioner = Some(found.provisioner_name().to_owned());
    if task.spec.cancel == Some(true) {
        status.phase = Phase::Terminating;
        return Ok(());
    }
    if task.spec.action != Action::ValidateDesign {
        found.site()?;
        let errors = found.errors();
        if errors > 0 {
            return Err(format!(
                "revision {} of design {} has {errors} errors; run the action validate_design to see them",
                found.revision, task.spec.design
            ));
        }
    }
    if !task.spec.action.is_about_the_site() || task.spec.plan_digest.is_some() {
        let now =
            questions::plan(found, task.spec.action, &task.spec.design, task.spec.node_filter.as_ref())?;
        if let Some(problem) = now.problems.first() {
            return Err(problem.clone());
        }
        if task.spec.plan_digest.as_ref().is_some_and(|digest| *digest != now.digest) {
            return Err(format!(
                "the plan is another one by now ({}): look at it again with groundplane task plan",
                now.digest
            ));
        }
    }
    status.phase = Phase::Running;
    status.result = ResultStatus::Incomplete;
    status.started_at.get_or_insert_with(|| context.now().to_string());
    status.finished_at = None;
    if task.spec.action.is_about_the_site() {
        status.steps = progress::begin(task.spec.action);
    }
    Ok(())
}

/// What a driver would get to know of the nodes that a task is about.
fn selected(task: &Task, found: &Inputs) -> Result<Vec<NodeWork>, String> {
    let (site, design) = (found.site()?, &found.compiled.compiled.design);
    let nodes = filter::select(site, task.spec.node_filter.as_ref());
    Ok(nodes.into_iter().map(|node| NodeWork::of(node, site, design, None)).collect())
}

/// Runs the steps of the site. One task at a time works on what all nodes of a provisioner share.
fn on_site(task: &Task, status: &mut TaskStatus, found: &Inputs, plan: &mut Plan, context: &Context<'_>) {
    if task.spec.action != Action::ValidateDesign {
        let here = context.here();
        let all = here.bucket(SITE_WORK, found.provisioner_name());
        let mine =
            (task.metadata.creation_timestamp.clone().unwrap_or_default(), task.metadata.name.as_str());
        let earlier = all.iter().find(|other| {
            other.uid() != task.metadata.uid
                && (other.meta_text("creationTimestamp").to_owned(), other.name()) < mine
        });
        if let Some(other) = earlier {
            status.waiting_for =
                Some(format!("task {} works on provisioner {}", other.name(), found.provisioner_name()));
            return;
        }
        let guard = Guard::bucket("", SITE_WORK, found.provisioner_name(), &all);
        plan.guards.push(guard);
    }
    status.waiting_for = None;
    let mut steps = SiteSteps { task, found, context };
    let is_cancelled = task.spec.cancel == Some(true);
    let limits = found.limits();
    let ended = run::run(task, status, &mut steps, (&limits, is_cancelled), plan, context);
    if let Some(ending) = ended {
        let failed = status.steps.iter().find(|step| step.state == crate::kinds::task::StepState::Failed);
        let message = match failed {
            Some(step) => format!("{} failed: {}", step.name, step.message),
            None => status.steps.last().map(|step| step.message.clone()).unwrap_or_default(),
        };
        end(status, ending, message, context);
    }
}

struct SiteSteps<'a> {
    task: &'a Task,
    found: &'a Inputs,
    context: &'a Context<'a>,
}

impl Steps for SiteSteps<'_> {
    fn claim(&self) -> Option<HeldClaim> {
        None
    }

    fn evaluate(&mut self, _: Step, plan: &mut Plan) -> Report {
        validate(self.task, self.found, plan)
    }

    fn parameters(&self, step: Step, tries: i64) -> Value {
        let design = &self.found.compiled.compiled.design;
        let site = self.found.site().ok().map(|site| SiteWork::of(site, design));
        let parameters = Parameters {
            step,
            tries,
            now: self.context.now().seconds,
            node: None,
            site,
            provisioner: self.found.provisioner.spec.clone(),
            host: None,
            under: None,
            bmc_url: None,
            credential: super::inputs::credential(&self.found.provisioner, &self.context.root()),
            bmc_password: None,
            node_key: None,
        };
        serde_json::to_value(&parameters).unwrap_or_default()
    }
}

/// Validates a design, and keeps the findings.
fn validate(task: &Task, found: &Inputs, plan: &mut Plan) -> Report {
    let findings = found.compiled.diagnostics();
    let inabilities = selected(task, found).map(|nodes| found.inabilities(&nodes)).unwrap_or_default();
    let finding = |code: &str, level: &str, message: &str, advice: &str, documents: &[String]| json!({"code": code, "level": level, "message": message, "advice": advice, "documents": documents});
    let own = findings.iter().map(|one| {
        let level = if one.severity == design::validate::Severity::Error { "Error" } else { "Warning" };
        let documents: Vec<String> = one.documents.iter().take(100).cloned().collect();
        finding(one.code, level, &one.message, &one.advice, &documents)
    });
    let advice = "Use a provisioner that can do it, or take it out of the design.";
    let cannot = inabilities.iter().map(|what| finding("DRIVER", "Error", what, advice, &[]));
    let mut all: Vec<Value> = own.chain(cannot).collect();
    all.sort_by_key(|one| one["level"] != "Error");
    let errors = all.iter().filter(|one| one["level"] == "Error").count();
    let warnings = all.len() - errors;
    all.truncate(MOST_FINDINGS);
    let mut object = Object::new(&format!("{}/{}", Validation::GROUP, Validation::VERSION), Validation::KIND);
    let name = match task.spec.retry.unwrap_or(0) {
        0 => task.metadata.name.clone(),
        again => format!("{}-{again}", task.metadata.name),
    };
    object.set_meta("name", Some(name.as_str().into()));
    object.set_meta("namespace", Some(task.metadata.namespace.as_str().into()));
    object.set_meta("ownerReferences", Some(json!([owner(task)])));
    object.set(
        "spec",
        Some(json!({
            "design": task.spec.design, "revision": found.revision, "provisioner": found.provisioner_name(),
            "valid": errors == 0, "errors": errors, "warnings": warnings, "findings": all,
        })),
    );
    plan.write(Write::Create(String::new(), object));
    let told = format!("{errors} errors, {warnings} warnings; see validation {name}");
    match errors {
        0 => Report::Done { message: format!("site design passed validation: {told}"), skips: Vec::new() },
        _ => Report::Failed { message: format!("site design failed validation: {told}"), may_retry: false },
    }
}

/// Creates tasks for nodes, as many as may run at once, and counts how they are.
fn on_nodes(task: &Task, status: &mut TaskStatus, found: &Inputs, plan: &mut Plan, context: &Context<'_>) {
    let site = match found.site() {
        Ok(site) => site,
        Err(why) => return end(status, Ending::Failure, why, context),
    };
    let nodes = filter::select(site, task.spec.node_filter.as_ref());
    let names: Vec<(String, String)> = nodes
        .iter()
        .map(|node| (child_name(&task.metadata.name, node.name()), node.name().to_owned()))
        .collect();
    let known = known(task, status.retry, &names, context);
    let parallel = usize::try_from(task.spec.parallel.unwrap_or(PARALLEL)).unwrap_or(1);
    let is_cancelled = task.spec.cancel == Some(true);
    let order: Vec<String> = names.iter().map(|(_, node)| node.clone()).collect();
    let turn = schedule::turn(&order, &known, parallel, is_cancelled);
    for node in &turn.begin {
        plan.independent.push(Write::Create(String::new(), child(task, status, node)));
    }
    for node in &turn.retry {
        let at = Target::of::<Task>("", &task.metadata.namespace, &child_name(&task.metadata.name, node));
        plan.independent.push(Write::Patch(at, json!({"spec": {"retry": status.retry}})));
    }
    let count = |set: &HashSet<String>| i64::try_from(set.len()).unwrap_or(i64::MAX);
    let again = i64::try_from(turn.retry.len()).unwrap_or(0);
    let counts = NodeCounts {
        total: i64::try_from(names.len()).unwrap_or(i64::MAX),
        waiting: i64::try_from(turn.waiting).unwrap_or(0),
        running: count(&known.active) + i64::try_from(turn.begin.len()).unwrap_or(0) + again,
        succeeded: count(&known.succeeded),
        failed: count(&known.failed) + if is_cancelled { count(&known.stale) } else { 0 },
        terminated: count(&known.terminated),
    };
    status.nodes = Some(counts);
    status.failures =
        order.iter().filter(|node| known.failed.contains(*node)).take(MOST_FAILURES).cloned().collect();
    status.result = of_counts(counts.total, counts.succeeded, counts.failed);
    status.phase = if is_cancelled { Phase::Terminating } else { Phase::Running };
    status.message =
        format!("{} of {} nodes done", counts.succeeded + counts.failed + counts.terminated, counts.total);
    if !turn.has_ended {
        return;
    }
    if counts.total == 0 {
        return end(status, Ending::Success, "no nodes in scope, no work to do".to_owned(), context);
    }
    let message = format!("{} succeeded, {} failed", counts.succeeded, counts.failed);
    match is_cancelled {
        true => end(
            status,
            Ending::Terminated,
            format!("cancelled: {message}, {} stopped", counts.terminated),
            context,
        ),
        false => {
            status.phase = Phase::Complete;
            status.finished_at = Some(context.now().to_string());
            status.waiting_for = None;
            status.message = message;
        }
    }
}

/// The nodes of a task by how their tasks are.
fn known(task: &Task, retry: i64, names: &[(String, String)], context: &Context<'_>) -> Known {
    let here = context.here();
    let of = |state: &str| -> HashSet<String> {
        let value = Task::children_in(&task.metadata.namespace, &task.metadata.name, state);
        here.places(CHILDREN, &value).into_iter().map(|at| at.name).collect()
    };
    let (active, succeeded, terminated) = (of("active"), of("succeeded"), of("terminated"));
    let failed = of(&format!("failed-{retry}"));
    let stale: HashSet<String> = (0..retry).flat_map(|earlier| of(&format!("failed-{earlier}"))).collect();
    let pick = |set: &HashSet<String>| -> HashSet<String> {
        names.iter().filter(|(child, _)| set.contains(child)).map(|(_, node)| node.clone()).collect()
    };
    Known {
        active: pick(&active),
        succeeded: pick(&succeeded),
        failed: pick(&failed),
        stale: pick(&stale),
        terminated: pick(&terminated),
    }
}

/// The name of the task of a node.
pub fn child_name(task: &str, node: &str) -> String {
    fulfillment::identity::name_of(&format!("{task}-{}", node.to_lowercase()))
}

fn owner(task: &Task) -> Value {
    json!({
        "apiVersion": format!("{}/{}", Task::GROUP, Task::VERSION), "kind": Task::KIND,
        "name": task.metadata.name, "uid": task.metadata.uid, "controller": true, "blockOwnerDeletion": false,
    })
}

fn child(task: &Task, status: &TaskStatus, node: &str) -> Object {
    let mut object = Object::new(&format!("{}/{}", Task::GROUP, Task::VERSION), Task::KIND);
    object.set_meta("name", Some(child_name(&task.metadata.name, node).into()));
    object.set_meta("namespace", Some(task.metadata.namespace.as_str().into()));
    object.set_meta("ownerReferences", Some(json!([owner(task)])));
    let mut spec = json!({
        "action": task.spec.action, "design": task.spec.design, "revision": status.revision,
        "provisioner": status.provisioner, "node": node,
        "parent": {"name": task.metadata.name, "uid": task.metadata.uid},
    });
    if let Some(allow) = task.spec.allow_differences {
        spec["allowDifferences"] = allow.into();
    }
    if status.retry > 0 {
        spec["retry"] = status.retry.into();
    }
    object.set("spec", Some(spec));
    object
}

fn end(status: &mut TaskStatus, ending: Ending, message: String, context: &Context<'_>) {
    status.phase = if ending == Ending::Terminated { Phase::Terminated } else { Phase::Complete };
    status.result = match ending {
        Ending::Success => ResultStatus::Success,
        Ending::Failure => ResultStatus::Failure,
        Ending::Terminated => status.result,
    };
    status.finished_at = Some(context.now().to_string());
    status.waiting_for = None;
    status.message = message;
}
