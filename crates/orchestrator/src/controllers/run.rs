//! Runs the steps of a task: takes in what came of the last one, begins the next, and plans its action.

use krm::Object;
use krm::kind::Resource;
use krm::time::Moment;
use reconcile::context::Context;
use reconcile::plan::{Action as PlannedAction, Plan, Write};
use serde_json::{Value, json};
use std::time::Duration;

use crate::action::{Executor, Step};
use crate::driver::{Finished, Found, Progress};
use crate::kinds::task::{HeldClaim, StepState, TaskMessage, TaskStatus};
use crate::kinds::{BuildData, Task};
use crate::progress::{self, Ending, Limits, Next, Report, Seen};

/// Longest data of a record, in bytes.
const MOST_DATA: usize = 512 << 10;
/// Messages that are kept.
const MESSAGES: usize = 200;
/// Longest message.
const MOST_MESSAGE: usize = 2048;

/// What the steps of a task need from its controller.
pub trait Steps {
    /// Whether the claim stands, and which it is.
    fn claim(&self) -> Option<HeldClaim>;
    /// Does a step that needs no driver.
    fn evaluate(&mut self, step: Step, plan: &mut Plan) -> Report;
    /// Parameters of the action that executes a step.
    fn parameters(&self, step: Step, tries: i64) -> Value;
}

/// Runs the steps as far as they go now. Returns how they ended, if they did.
pub fn run(
    task: &Task,
    status: &mut TaskStatus,
    steps: &mut dyn Steps,
    (limits, is_cancelled): (&Limits, bool),
    plan: &mut Plan,
    context: &Context<'_>,
) -> Option<Ending> {
    let now = context.now();
    let mut report = told(status, steps, context, task, plan);
    let mut evaluated = None;
    loop {
        let seen = Seen { now, is_cancelled, is_claimed: steps.claim().is_some(), limits };
        let before: Vec<StepState> = status.steps.iter().map(|step| step.state).collect();
        let next = progress::advance(&mut status.steps, report.take(), &seen);
        note_failures(status, &before, task, now);
        let index = match next {
            Next::End(ending) => return Some(ending),
            Next::Run(index) => index,
        };
        let (step, tries) = (status.steps[index].name, status.steps[index].tries);
        if step.executor() == Executor::Planner {
            if evaluated != Some((index, tries)) {
                evaluated = Some((index, tries));
                report = Some(steps.evaluate(step, plan));
                status.claim = steps.claim();
                continue;
            }
        } else {
            let name = action_name(status, index);
            plan.actions.push(PlannedAction {
                name,
                parameters: steps.parameters(step, tries),
                is_external: true,
            });
        }
        if let Some(left) = progress::left(&status.steps[index], &seen) {
            plan.again_after(Duration::from_secs(u64::try_from(left).unwrap_or(0).max(1)));
        }
        let waits = status.steps[index].message.clone();
        status.waiting_for = Some(waits).filter(|waits| !waits.is_empty());
        status.message = format!("running {step}");
        return None;
    }
}

/// The name of the action of a step: another one for each try.
fn action_name(status: &TaskStatus, index: usize) -> String {
    let step = &status.steps[index];
    format!("{}-{}-{}", step.name, status.retry, step.tries)
}

/// What came of the action of the running step, if there is one.
fn told(
    status: &mut TaskStatus,
    steps: &dyn Steps,
    context: &Context<'_>,
    task: &Task,
    plan: &mut Plan,
) -> Option<Report> {
    let index = status.steps.iter().position(|step| step.state == StepState::Running)?;
    let (step, tries) = (status.steps[index].name, status.steps[index].tries);
    if step.drives_bmc() && steps.claim().is_none() {
        let message = "the claim on the host was lost while the step ran".to_owned();
        return Some(Report::Failed { message, may_retry: false });
    }
    if step.executor() == Executor::Planner {
        return None;
    }
    let name = action_name(status, index);
    if let Some(result) = context.result(&name) {
        return Some(match serde_json::from_value::<Progress>(result.clone()) {
            Ok(Progress::Done(Finished { message, skips, found })) => {
                for one in found {
                    keep(one, task, (step, tries), context.now(), plan);
                }
                Report::Done { message: cut(message), skips }
            }
            Ok(Progress::Failed { message, may_retry }) => {
                Report::Failed { message: cut(message), may_retry }
            }
            Ok(Progress::Waiting { message, .. }) => Report::Running { message: cut(message) },
            Err(error) => {
                let message = format!("the result of {step} cannot be read: {error}");
                Report::Failed { message, may_retry: true }
            }
        });
    }
    let message = context.handle(&name)?["message"].as_str()?.to_owned();
    Some(Report::Running { message: cut(message) })
}

/// Keeps what was found as a record, in the commit that takes the step in.
fn keep(found: Found, task: &Task, (step, tries): (Step, i64), now: Moment, plan: &mut Plan) {
    let Some(node) = &task.spec.node else { return };
    let Found { generator, format, mut data } = found;
    let truncated = data.len() > MOST_DATA;
    if truncated {
        let mut end = MOST_DATA;
        while !data.is_char_boundary(end) {
            end -= 1;
        }
        data.truncate(end);
    }
    let name = format!(
        "{}-{}-{}-{tries}",
        task.metadata.name,
        generator.replace([':', '/', '_'], "-"),
        step.as_str().replace('_', "-")
    );
    let mut object = Object::new(&format!("{}/{}", BuildData::GROUP, BuildData::VERSION), BuildData::KIND);
    object.set_meta("name", Some(fulfillment::identity::name_of(&name.to_lowercase()).into()));
    object.set_meta("namespace", Some(task.metadata.namespace.as_str().into()));
    let mut spec = json!({
        "node": node, "task": task.metadata.name, "generator": generator, "format": format,
        "collectedAt": now.to_micros(), "data": data,
    });
    if truncated {
        spec["truncated"] = true.into();
    }
    object.set("spec", Some(spec));
    plan.write(Write::Create(String::new(), object));
}

/// Steps that failed are told in the messages, too.
fn note_failures(status: &mut TaskStatus, before: &[StepState], task: &Task, now: Moment) {
    let failed: Vec<(Step, i64, String)> = status
        .steps
        .iter()
        .zip(before)
        .filter(|(step, before)| {
            let was_running = **before == StepState::Running;
            step.state == StepState::Failed && **before != StepState::Failed
                || was_running && step.state != StepState::Running && step.state != StepState::Done
        })
        .map(|(step, _)| (step.name, step.tries, step.message.clone()))
        .collect();
    for (step, tries, why) in failed {
        let (context_type, context) = match &task.spec.node {
            Some(node) => ("node", node.clone()),
            None => ("task", task.metadata.name.clone()),
        };
        let message = TaskMessage {
            time: now.to_string(),
            message: format!("{step}, try {tries}: {why}"),
            error: true,
            context_type: context_type.to_owned(),
            context,
        };
        note(status, message);
    }
}

/// Adds a message; the oldest go.
pub fn note(status: &mut TaskStatus, message: TaskMessage) {
    status.messages.push(message);
    let over = status.messages.len().saturating_sub(MESSAGES);
    status.messages.drain(..over);
}

fn cut(mut message: String) -> String {
    if message.len() > MOST_MESSAGE {
        let mut end = MOST_MESSAGE;
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push('…');
    }
    message
}
