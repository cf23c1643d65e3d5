//! Stops a scenario at every place where it can be stopped.

use std::fmt;

use crate::schedule::Stop;
use crate::simulation::Simulation;
use crate::trace::Trace;

/// What was walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walked {
    /// The durable steps of the scenario when nobody stops it.
    pub steps: u64,
    /// How often the scenario was run.
    pub runs: u64,
}

/// A run that did not end as it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The seed of its simulation.
    pub seed: u64,
    /// Where the process was stopped; `None` when it was not.
    pub stop: Option<Stop>,
    /// Why it failed.
    pub why: String,
    /// What happened.
    pub trace: Trace,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stop {
            Some(stop) => write!(f, "stopped {stop}, with seed {}: {}", self.seed, self.why)?,
            None => write!(f, "with seed {}: {}", self.seed, self.why)?,
        }
        write!(f, "\n{}", self.trace)
    }
}

impl std::error::Error for Failure {}

/// Runs a scenario once as it is, and then once for each place where its process can stop: before and after each of its
/// durable steps. Each run is a new simulation made by `fresh`, goes on from its disk after the stop, and has to end;
/// then `invariant` has to hold of what the disk holds. Up to its stop each run has to do what the first did.
pub fn walk_stops(
    fresh: impl Fn() -> Simulation,
    scenario: impl AsyncFn(&Simulation) -> Result<(), String>,
    invariant: impl AsyncFn(&Simulation) -> Result<(), String>,
) -> Result<Walked, Box<Failure>> {
    let whole = fresh();
    run(&whole, None, &scenario, &invariant)?;
    let steps = whole.steps();
    let mut runs = 1;
    for step in 1..=steps {
        for stop in [Stop::Before(step), Stop::After(step)] {
            let stopped = fresh().stopped(stop);
            run(&stopped, Some(stop), &scenario, &invariant)?;
            is_repeated(&whole, &stopped, stop)?;
            runs += 1;
        }
    }
    Ok(Walked { steps, runs })
}

pub(crate) fn run(
    simulation: &Simulation,
    stop: Option<Stop>,
    scenario: &impl AsyncFn(&Simulation) -> Result<(), String>,
    invariant: &impl AsyncFn(&Simulation) -> Result<(), String>,
) -> Result<(), Box<Failure>> {
    let outcome = simulation.run(scenario).and_then(|()| simulation.check(invariant));
    outcome.map_err(|why| failure(simulation, stop, why))
}

/// Without this, a walk would not stop where it says.
fn is_repeated(whole: &Simulation, stopped: &Simulation, stop: Stop) -> Result<(), Box<Failure>> {
    let mut before = Trace::default();
    let trace = stopped.trace();
    // The line of the step itself names the stop.
    let (Stop::Before(step) | Stop::After(step)) = stop;
    let is_step = |line: &&String| !line.contains(&format!(" step {step} "));
    trace.lines().iter().take_while(is_step).for_each(|line| before.push(line.clone()));
    match whole.trace().first_difference(&before) {
        None => Ok(()),
        Some(line) => Err(failure(
            stopped,
            Some(stop),
            format!("it did not do as before from line {line} of the trace on"),
        )),
    }
}

fn failure(simulation: &Simulation, stop: Option<Stop>, why: String) -> Box<Failure> {
    Box::new(Failure { seed: simulation.seed(), stop, why, trace: simulation.trace() })
}
