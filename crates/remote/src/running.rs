//! What a controller does in this process: its queue, its counters, what is stuck.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use reconcile::metrics::Sample;
use reconcile::queue::Queue;
use reconcile::stats::Stats;
use reconcile::writes::Writes;

use crate::place::Place;

/// How many objects are named.
const NAMED: usize = 20;

/// A controller, from its start to its end.
pub(crate) struct Running {
    pub name: &'static str,
    pub stats: Arc<Stats>,
    pub writes: Arc<Writes>,
    is_active: AtomicBool,
    queue: Mutex<Weak<Queue<Place>>>,
    waiting: Mutex<BTreeMap<Place, String>>,
    /// Objects that are in a state for longer than they may be.
    overdue: Mutex<BTreeSet<Place>>,
}

/// The state of a controller at one moment.
#[derive(Debug, Clone)]
pub struct Progress {
    /// What metrics show.
    pub sample: Sample,
    /// Objects whose last attempts failed.
    pub failing: Vec<Stuck>,
    /// Objects that wait for something else, and for what.
    pub waiting: Vec<(Place, String)>,
}

/// An object whose last attempts failed.
#[derive(Debug, Clone)]
pub struct Stuck {
    /// The object.
    pub place: Place,
    /// Failed attempts in a row.
    pub attempts: u32,
    /// How long it has failed.
    pub for_time: Duration,
    /// Error of the last attempt.
    pub error: String,
}

impl Running {
    pub fn new(name: &'static str) -> Running {
        Running {
            name,
            stats: Arc::default(),
            writes: Arc::default(),
            is_active: AtomicBool::new(false),
            queue: Mutex::new(Weak::new()),
            waiting: Mutex::default(),
            overdue: Mutex::default(),
        }
    }

    /// It works from now on, with this queue.
    pub fn begun(&self, queue: &Arc<Queue<Place>>) {
        *self.queue.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(queue);
        self.is_active.store(true, Ordering::Relaxed);
    }

    /// It no longer works here.
    pub fn ended(&self) {
        self.is_active.store(false, Ordering::Relaxed);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.overdue.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Notes whether an object is in a state for longer than it may be.
    pub fn set_overdue(&self, place: &Place, is_overdue: bool) {
        let mut overdue = self.overdue.lock().unwrap_or_else(PoisonError::into_inner);
        match is_overdue {
            true => overdue.insert(place.clone()),
            false => overdue.remove(place),
        };
    }

    /// Notes what an object waits for.
    pub fn wait_for(&self, place: &Place, what: Option<String>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match what {
            Some(what) => drop(waiting.insert(place.clone(), what)),
            None => drop(waiting.remove(place)),
        }
    }

    pub fn progress(&self) -> Progress {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let failing = queue.as_ref().map(|queue| queue.failing(NAMED)).unwrap_or_default();
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        Progress {
            sample: Sample {
                name: self.name,
                is_active: self.is_active.load(Ordering::Relaxed),
                depth: queue.map(|queue| queue.depth()).unwrap_or_default(),
                counts: self.stats.read(),
                writes: self.writes.read(),
                overdue: self.overdue.lock().unwrap_or_else(PoisonError::into_inner).len(),
            },
            failing: failing
                .into_iter()
                .map(|(place, failing)| Stuck {
                    place,
                    attempts: failing.attempts,
                    for_time: failing.since.elapsed(),
                    error: failing.error.to_string(),
                })
                .collect(),
            waiting: waiting.iter().take(NAMED).map(|(place, what)| (place.clone(), what.clone())).collect(),
        }
    }
}
