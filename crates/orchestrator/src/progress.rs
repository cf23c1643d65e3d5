//! The planner of one run: which step comes next, from the steps so far, the report of the last one, and the time.
//!
//! It is a pure function. The controller commits what it decides together with the claim that it depends on, and only then
//! executes the step.

use std::collections::BTreeMap;

use krm::time::Moment;

use crate::action::{Action, Step};
use crate::kinds::task::{StepState, StepStatus};

/// What came of a try of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// It succeeded. The steps that are named are not needed any more.
    Done {
        /// What was done, for people.
        message: String,
        /// Steps that are not needed.
        skips: Vec<Step>,
    },
    /// It failed.
    Failed {
        /// Why, for people.
        message: String,
        /// Whether trying again may help.
        may_retry: bool,
    },
    /// It goes on.
    Running {
        /// What it waits for, for people.
        message: String,
    },
}

/// What the planner depends on besides the steps.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// The time.
    pub now: Moment,
    /// Whether the run was cancelled.
    pub is_cancelled: bool,
    /// Whether the run holds the claim on its host.
    pub is_claimed: bool,
    /// Limits.
    pub limits: &'a Limits,
}

/// Limits of steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Time limits in seconds that differ from the default.
    pub seconds: BTreeMap<Step, i64>,
    /// How often a step is tried.
    pub tries: i64,
}

impl Limits {
    /// The time limit of a step in seconds; `None` if it has none.
    pub fn of(&self, step: Step) -> Option<i64> {
        Some(self.seconds.get(&step).copied().unwrap_or_else(|| step.time_limit())).filter(|limit| *limit > 0)
    }
}

/// How a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The step of this index runs: it is to be executed, or asked how far it is.
    Run(usize),
    /// The run ended.
    End(Ending),
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All steps succeeded.
    Success,
    /// A step failed.
    Failure,
    /// It was cancelled.
    Terminated,
}

/// The steps of an action before anything was done.
pub fn begin(action: Action) -> Vec<StepStatus> {
    let pending = |step: &Step| StepStatus {
        name: *step,
        state: StepState::Pending,
        tries: 0,
        started_at: None,
        finished_at: None,
        message: String::new(),
    };
    action.steps().iter().map(pending).collect()
}

/// Moves a run on: takes in the report of the running step, and decides what comes next. With the same arguments it decides the
/// same; a report is taken in once, since a step that ended does not run any more.
pub fn advance(steps: &mut [StepStatus], report: Option<Report>, seen: &Seen<'_>) -> Next {
    let mut report = report;
    loop {
        let open = |step: &StepStatus| !matches!(step.state, StepState::Done | StepState::Skipped);
        let Some(index) = steps.iter().position(open) else { return Next::End(Ending::Success) };
        let step = &mut steps[index];
        match step.state {
            StepState::Failed => return Next::End(Ending::Failure),
            StepState::Cancelled => return Next::End(Ending::Terminated),
            _ => {}
        }
        if step.state == StepState::Running {
            take_in(steps, index, report.take(), seen);
            if !matches!(steps[index].state, StepState::Running | StepState::Pending) {
                continue;
            }
        }
        let step = &mut steps[index];
        if seen.is_cancelled {
            step.state = StepState::Cancelled;
            step.finished_at = Some(seen.now.to_string());
            step.message = match step.tries {
                0 => "the task was cancelled".to_owned(),
                _ => format!("the task was cancelled; last: {}", step.message),
            };
            return Next::End(Ending::Terminated);
        }
        if step.state == StepState::Pending {
            if step.name.drives_bmc() && !seen.is_claimed {
                step.state = StepState::Failed;
                step.finished_at = Some(seen.now.to_string());
                step.message = "the claim on the host was lost".to_owned();
                return Next::End(Ending::Failure);
            }
            step.state = StepState::Running;
            step.tries += 1;
            step.started_at = Some(seen.now.to_string());
        }
        return Next::Run(index);
    }
}

/// The report of a running step. Without one, or if it goes on, its time may be over.
fn take_in(steps: &mut [StepStatus], index: usize, report: Option<Report>, seen: &Seen<'_>) {
    let step = &mut steps[index];
    let now = Some(seen.now.to_string());
    let waits = match report {
        Some(Report::Done { message, skips }) => {
            step.state = StepState::Done;
            step.finished_at = now.clone();
            step.message = message;
            for later in steps.iter_mut().skip(index + 1).filter(|later| skips.contains(&later.name)) {
                later.state = StepState::Skipped;
                later.finished_at = now.clone();
            }
            return;
        }
        Some(Report::Failed { message, may_retry }) => {
            let is_tried_again = may_retry && step.tries < seen.limits.tries.max(1);
            step.state = if is_tried_again { StepState::Pending } else { StepState::Failed };
            step.finished_at = now.filter(|_| !is_tried_again);
            step.message = message;
            return;
        }
        Some(Report::Running { message }) => message,
        None => step.message.clone(),
    };
    step.message = waits;
    let Some(limit) = seen.limits.of(step.name) else { return };
    let started = step.started_at.as_deref().and_then(|text| Moment::parse(text).ok());
    if started.is_some_and(|started| seen.now.seconds - started.seconds >= limit) {
        step.state = StepState::Failed;
        step.finished_at = now;
        step.message = match step.message.as_str() {
            "" => format!("timed out after {limit} s"),
            waited => format!("timed out after {limit} s; last: {waited}"),
        };
    }
}

/// The seconds that are left to a running step; `None` if it has no limit.
pub fn left(step: &StepStatus, seen: &Seen<'_>) -> Option<i64> {
    let limit = seen.limits.of(step.name)?;
    let started = Moment::parse(step.started_at.as_deref()?).ok()?;
    Some((started.seconds + limit - seen.now.seconds).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(limits: &Limits, seconds: i64) -> Seen<'_> {
        Seen { now: Moment::of_seconds(1_000_000 + seconds), is_cancelled: false, is_claimed: true, limits }
    }

    fn done() -> Option<Report> {
        Some(Report::Done { message: String::new(), skips: Vec::new() })
    }

    #[test]
    fn a_known_node_is_not_power_cycled() {
        let limits = Limits { tries: 3, ..Limits::default() };
        let mut steps = begin(Action::PrepareNodes);
        let at = |steps: &[StepStatus], next: Next| match next {
            Next::Run(index) => Some(steps[index].name),
            Next::End(_) => None,
        };
        let mut next = advance(&mut steps, None, &seen(&limits, 0));
        let mut seen_steps = Vec::new();
        while let Some(step) = at(&steps, next) {
            seen_steps.push(step);
            let skips = vec![Step::SetNodeBoot, Step::PowerCycleNode, Step::IdentifyNode];
            let report = match step {
                Step::FindNode => Report::Done { message: "known".to_owned(), skips },
                _ => Report::Done { message: String::new(), skips: Vec::new() },
            };
            next = advance(&mut steps, Some(report), &seen(&limits, 1));
        }
        assert_eq!(next, Next::End(Ending::Success));
        assert!(!seen_steps.contains(&Step::PowerCycleNode) && seen_steps.contains(&Step::ConfigureHardware));
    }

    #[test]
    fn a_step_fails_after_its_tries_or_its_time_and_says_what_it_waited_for() {
        let limits = Limits { tries: 2, ..Limits::default() };
        let mut steps = begin(Action::DestroyNodes);
        advance(&mut steps, None, &seen(&limits, 0));
        assert_eq!(advance(&mut steps, done(), &seen(&limits, 0)), Next::Run(1));
        let failed = || Some(Report::Failed { message: "HTTP 409".to_owned(), may_retry: true });
        assert_eq!(advance(&mut steps, failed(), &seen(&limits, 5)), Next::Run(1));
        assert_eq!(steps[1].tries, 2);
        let waits = || Some(Report::Running { message: "MAAS releases it".to_owned() });
        assert_eq!(advance(&mut steps, waits(), &seen(&limits, 1_000)), Next::Run(1));
        assert_eq!(advance(&mut steps, waits(), &seen(&limits, 2_000)), Next::End(Ending::Failure));
        assert_eq!(steps[1].message, "timed out after 1800 s; last: MAAS releases it");
        assert_eq!(
            advance(&mut steps, None, &seen(&limits, 9_000)),
            Next::End(Ending::Failure),
            "it stays so"
        );
    }

    #[test]
    fn no_bmc_is_driven_after_the_claim_was_lost() {
        let limits = Limits { tries: 1, ..Limits::default() };
        let mut steps = begin(Action::RebootNodes);
        advance(&mut steps, None, &seen(&limits, 0));
        let lost = Seen { is_claimed: false, ..seen(&limits, 1) };
        assert_eq!(advance(&mut steps, done(), &lost), Next::End(Ending::Failure));
        assert!(steps[1].tries == 0 && steps[1].message.contains("claim"));
    }

    #[test]
    fn a_cancelled_run_begins_nothing_and_keeps_what_ended_meanwhile() {
        let limits = Limits { tries: 1, ..Limits::default() };
        let mut steps = begin(Action::DeployNodes);
        advance(&mut steps, None, &seen(&limits, 0));
        let cancelled = Seen { is_cancelled: true, ..seen(&limits, 1) };
        assert_eq!(advance(&mut steps, done(), &cancelled), Next::End(Ending::Terminated));
        assert_eq!(
            (steps[0].state, steps[1].state, steps[1].tries),
            (StepState::Done, StepState::Cancelled, 0)
        );
    }
}
