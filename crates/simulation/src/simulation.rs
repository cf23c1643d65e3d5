//! A simulated process: its disk, its time, its randomness, and how it is run.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::simulated::{Disk, Fault, Point, Simulated, SimulatedClock};
use store::{Clock, Environment, Keys, Model, Rules, Seeded, Settings};

use crate::schedule::{Schedule, Stop};
use crate::trace::Trace;

/// When the first life begins: 2026-01-01, in microseconds since 1970.
const BEGINNING: u64 = 1_767_225_600_000_000;
/// How long the process is down after a stop.
const DOWN: Duration = Duration::from_secs(1);
/// Lives after which a process that is stopped again and again counts as failed.
const LIVES: u32 = 1_000;
/// A scenario that takes longer than this never ends.
const LONGEST: Duration = Duration::from_secs(3_600);

/// A process that can be stopped at any step and started again on what its disk holds.
pub struct Simulation {
    seed: u64,
    disk: Disk,
    keys: Keys,
    randomness: Arc<Seeded>,
    schedule: Arc<Schedule>,
    lives: AtomicU32,
    time: Mutex<Time>,
    outside: Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

struct Time {
    /// When the next life begins.
    next: u64,
    clock: Option<Arc<SimulatedClock>>,
}

/// How a life ended.
enum End {
    Stopped,
    Done(Result<(), String>),
}

impl Simulation {
    /// A simulation with an empty disk, in which nothing goes wrong.
    pub fn seeded(seed: u64) -> Simulation {
        // Each use has numbers of its own: a fault more leaves the rest as it was.
        let streams = Seeded::new(seed);
        let (keys, randomness, faults) = (streams.number(), streams.number(), streams.number());
        Simulation {
            seed,
            disk: Disk::new(),
            keys: Keys::in_memory(Arc::new(Seeded::new(keys))).expect("the numbers of a seed make keys"),
            randomness: Arc::new(Seeded::new(randomness)),
            schedule: Arc::new(Schedule::new(faults)),
            lives: AtomicU32::new(0),
            time: Mutex::new(Time { next: BEGINNING, clock: None }),
            outside: Mutex::default(),
        }
    }

    /// The same on a copy of a disk. It must have been written in a simulation of the same seed, whose keys it needs.
    pub fn on(self, disk: &Disk) -> Simulation {
        Simulation { disk: disk.copy(), ..self }
    }

    /// The same with faults: `decide` is asked at every point, counted over all lives, and draws from numbers that follow from the seed.
    pub fn with_faults(
        mut self,
        decide: impl Fn(&Point, &Seeded) -> Vec<Fault> + Send + Sync + 'static,
    ) -> Simulation {
        self.change(|schedule| schedule.decide = Some(Box::new(decide)));
        self
    }

    /// The same, stopped at one place.
    pub fn stopped(mut self, stop: Stop) -> Simulation {
        self.change(|schedule| schedule.stop = Some(stop));
        self
    }

    fn change(&mut self, change: impl FnOnce(&mut Schedule)) {
        // Nobody shares it before the simulation runs.
        if let Some(schedule) = Arc::get_mut(&mut self.schedule) {
            change(schedule);
        }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What the process has on disk.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// How often the process was started.
    pub fn lives(&self) -> u32 {
        self.lives.load(Ordering::Relaxed)
    }

    /// The durable steps that were taken, in all lives.
    pub fn steps(&self) -> u64 {
        self.schedule.steps()
    }

    /// All that happened.
    pub fn trace(&self) -> Trace {
        self.schedule.trace()
    }

    /// Writes a line to the trace.
    pub fn note(&self, line: impl AsRef<str>) {
        self.schedule.note(line.as_ref());
    }

    /// Numbers that follow from the seed.
    pub fn randomness(&self) -> &Arc<Seeded> {
        &self.randomness
    }

    /// Something outside of the process, which outlives it: a machine, say, that a reconciler switches on. There is one of
    /// each type.
    pub fn outside<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        let found = outside.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        found.clone().downcast().unwrap_or_default()
    }

    /// The time and randomness of the process. To be asked for while it runs.
    pub fn environment(&self) -> Environment {
        let clock = self.lock().clock.clone();
        let clock = clock.unwrap_or_else(|| Arc::new(SimulatedClock::starting_at(BEGINNING)));
        Environment { clock, randomness: self.randomness.clone(), is_single_threaded: true }
    }

    /// Opens the store on the process's disk; once in a life. History is pruned once a day of simulated time.
    pub async fn open(&self, model: Option<Arc<dyn Model>>) -> store::Result<Arc<Simulated>> {
        let housekeeping = Rules { every: Duration::from_secs(24 * 3_600), ..Rules::default() };
        let settings =
            Settings { model, housekeeping, environment: self.environment(), ..Settings::default() };
        self.schedule.open();
        Simulated::open(&self.disk, self.keys.clone(), settings, self.schedule.clone()).await
    }

    /// Runs a scenario to its end, on this thread and in simulated time. When the process is stopped, all that belongs
    /// to it is dropped, and the scenario is run again on what the disk holds.
    pub fn run(&self, scenario: impl AsyncFn(&Simulation) -> Result<(), String>) -> Result<(), String> {
        let told = Told(self);
        while self.lives() < LIVES {
            if let End::Done(outcome) = self.live(&scenario, false)? {
                drop(told);
                return outcome;
            }
        }
        Err(format!("it was stopped {LIVES} times"))
    }

    /// Runs a check on what the disk holds. Nothing goes wrong, and nothing is written to the trace.
    pub fn check(&self, invariant: impl AsyncFn(&Simulation) -> Result<(), String>) -> Result<(), String> {
        match self.live(&invariant, true)? {
            End::Done(outcome) => outcome,
            End::Stopped => Err("the check was stopped".to_owned()),
        }
    }

    fn live(
        &self,
        scenario: &impl AsyncFn(&Simulation) -> Result<(), String>,
        calm: bool,
    ) -> Result<End, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
        let end = runtime.block_on(async {
            let start = self.lock().next;
            let clock = Arc::new(SimulatedClock::starting_at(start));
            self.lock().clock = Some(clock.clone());
            let number = match calm {
                true => 0,
                false => self.lives.fetch_add(1, Ordering::Relaxed) + 1,
            };
            self.schedule.begin(number, calm);
            let end = tokio::select! {
                biased;
                () = self.schedule.stopping.notified() => End::Stopped,
                outcome = tokio::time::timeout(LONGEST, scenario(self)) => End::Done(outcome.unwrap_or_else(
                    |_| Err(format!("it has not ended after {} s of simulated time", LONGEST.as_secs())),
                )),
            };
            let mut time = self.lock();
            time.next = clock.now() + DOWN.as_micros() as u64;
            time.clock = None;
            end
        });
        // All tasks of the process go with it.
        drop(runtime);
        Ok(end)
    }

    fn lock(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the seed, and what happened, of a simulation that panics.
struct Told<'a>(&'a Simulation);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("this was seed {}:\n{}", self.0.seed, self.0.trace());
        }
    }
}
