//! Decides what goes wrong, and writes everything down.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::Seeded;
use store::simulated::{Fault, Faults, Operation, Point};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::trace::Trace;

/// A place where the process stops: before or after a step, counted from 1 over all its lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Nothing of the step is written.
    Before(u64),
    /// The step is written, but not acknowledged.
    After(u64),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Before(step) => write!(f, "before step {step}"),
            Stop::After(step) => write!(f, "after step {step}"),
        }
    }
}

/// Decides on faults by the point and numbers that follow from the seed.
pub(crate) type Decide = Box<dyn Fn(&Point, &Seeded) -> Vec<Fault> + Send + Sync>;

pub(crate) struct Schedule {
    pub decide: Option<Decide>,
    pub stop: Option<Stop>,
    dice: Seeded,
    /// Told when the process stops.
    pub stopping: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    trace: Trace,
    points: u64,
    steps: u64,
    /// What the two were when the store was opened: it counts from there.
    opened: (u64, u64),
    /// The process has stopped: what its tasks still do before they are dropped is of no interest.
    stopped: bool,
    /// Nothing goes wrong, and nothing is written down.
    calm: bool,
    life: Option<Life>,
}

/// One run of the process, from its start to its end or stop.
struct Life {
    number: u32,
    began: Instant,
}

impl Schedule {
    pub fn new(seed: u64) -> Schedule {
        Schedule {
            decide: None,
            stop: None,
            dice: Seeded::new(seed),
            stopping: Notify::new(),
            state: Mutex::default(),
        }
    }

    pub fn begin(&self, number: u32, calm: bool) {
        let mut state = self.lock();
        state.stopped = false;
        state.calm = calm;
        state.life = Some(Life { number, began: Instant::now() });
        state.write("starts");
    }

    /// The store is opened.
    pub fn open(&self) {
        let mut state = self.lock();
        state.opened = (state.points, state.steps);
    }

    pub fn note(&self, line: &str) {
        self.lock().write(line);
    }

    /// The durable steps so far.
    pub fn steps(&self) -> u64 {
        self.lock().steps
    }

    pub fn trace(&self) -> Trace {
        self.lock().trace.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The point as it is counted over all lives.
    fn overall(&self, point: &Point) -> Point {
        let (points, steps) = self.opened;
        Point { number: points + point.number, step: point.step.map(|step| steps + step), ..point.clone() }
    }

    fn write(&mut self, line: &str) {
        if self.stopped || self.calm {
            return;
        }
        let (life, time) = match &self.life {
            Some(life) => (life.number, life.began.elapsed().as_micros()),
            None => (0, 0),
        };
        self.trace.push(format!("{life}.{:03}.{:06} {line}", time / 1_000_000, time % 1_000_000));
    }
}

impl Faults for Schedule {
    fn at(&self, point: &Point) -> Vec<Fault> {
        let mut state = self.lock();
        if state.stopped || state.calm {
            return Vec::new();
        }
        let point = state.overall(point);
        state.points = point.number;
        let mut faults = self.decide.as_ref().map_or_else(Vec::new, |decide| decide(&point, &self.dice));
        let mut step = String::new();
        if let Some(number) = point.step {
            state.steps = number;
            step = format!("step {number} ");
            match self.stop {
                Some(Stop::Before(stop)) if stop == number => faults.push(Fault::StopBefore),
                Some(Stop::After(stop)) if stop == number => faults.push(Fault::StopAfter),
                _ => {}
            }
        }
        if point.operation != Operation::Read || !faults.is_empty() {
            let wrong: String = faults.iter().map(|fault| format!(" !{fault:?}")).collect();
            state.write(&format!("{step}{} {}{wrong}", point.server, point.operation));
        }
        faults
    }

    fn carried_out(&self, point: &Point, outcome: &store::Result<String>) {
        let told = match outcome {
            Ok(done) => done.clone(),
            Err(error) => format!("refused: {error}"),
        };
        let mut state = self.lock();
        let number = state.overall(point).number;
        state.write(&format!("  {} at point {number}: {told}", point.server));
    }

    fn stopped(&self, _point: &Point) {
        let mut state = self.lock();
        state.write("stops");
        state.stopped = true;
        drop(state);
        self.stopping.notify_one();
    }
}
