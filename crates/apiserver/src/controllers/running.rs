//! The controllers of this process: what they do, what is stuck, and how they are stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use krm::kind::Address;
use reconcile::queue::{Depth, Queue};
use reconcile::stats::{Counts, Stats};
use store::Key;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::keys;

/// How long a stop waits for controllers.
const STOPPING: Duration = Duration::from_secs(5);

/// How many failing objects of a controller are named.
const NAMED: usize = 20;

/// All controllers that were started in this process.
#[derive(Clone, Default)]
pub struct Controllers(Arc<Shared>);

#[derive(Default)]
struct Shared {
    all: Mutex<Vec<Arc<One>>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// One controller, from its start to its end.
pub struct Running {
    one: Arc<One>,
    /// While this is there, stopping waits.
    _task: tokio_util::task::task_tracker::TaskTrackerToken,
}

struct One {
    name: &'static str,
    is_active: AtomicBool,
    stats: Arc<Stats>,
    queue: Mutex<Weak<Queue<Key>>>,
}

/// The state of a controller at one moment.
#[derive(Debug, Clone)]
pub struct State {
    /// Its name.
    pub name: &'static str,
    /// Whether it works in this process; with several servers another one may have its lease.
    pub is_active: bool,
    /// Its queue.
    pub depth: Depth,
    /// Its attempts.
    pub counts: Counts,
    /// Objects that fail.
    pub failing: Vec<Stuck>,
}

/// An object whose last attempts failed.
#[derive(Debug, Clone)]
pub struct Stuck {
    /// Its project; empty for the root.
    pub plane: String,
    /// Where it is.
    pub at: Address,
    /// Failed attempts in a row.
    pub attempts: u32,
    /// How long it has failed.
    pub for_time: Duration,
    /// Error of the last attempt.
    pub error: String,
}

impl Controllers {
    /// Registers a controller; `None` when the server stops already.
    pub fn begin(&self, name: &'static str) -> Option<Running> {
        if self.0.stop.is_cancelled() {
            return None;
        }
        let mut all = self.0.all.lock().unwrap_or_else(PoisonError::into_inner);
        let one = match all.iter().find(|one| one.name == name) {
            Some(one) => one.clone(),
            None => {
                let one = Arc::new(One {
                    name,
                    is_active: AtomicBool::new(false),
                    stats: Arc::default(),
                    queue: Mutex::new(Weak::new()),
                });
                all.push(one.clone());
                one
            }
        };
        Some(Running { one, _task: self.0.tasks.token() })
    }

    /// Cancelled when the server stops.
    pub fn stopping(&self) -> CancellationToken {
        self.0.stop.clone()
    }

    /// Stops all controllers: cancels what runs, waits for it, and gives back the leases, so that another server can go
    /// on at once. A controller that does not end keeps its lease, which then expires; the server stops without it.
    pub async fn stop(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
        if tokio::time::timeout(STOPPING, self.0.tasks.wait()).await.is_err() {
            tracing::warn!("a controller did not stop within {STOPPING:?}; its lease expires by itself");
        }
    }

    /// The state of each, by name.
    pub fn states(&self) -> Vec<State> {
        let all = self.0.all.lock().unwrap_or_else(PoisonError::into_inner);
        let mut states: Vec<State> = all.iter().map(|one| one.state()).collect();
        states.sort_by_key(|state| state.name);
        states
    }
}

impl Running {
    /// Its counters.
    pub fn stats(&self) -> &Arc<Stats> {
        &self.one.stats
    }

    /// It works from now on, with this queue.
    pub fn begun(&self, queue: &Arc<Queue<Key>>) {
        *self.one.queue.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(queue);
        self.one.is_active.store(true, Ordering::Relaxed);
    }

    /// It no longer works here.
    pub fn ended(&self) {
        self.one.is_active.store(false, Ordering::Relaxed);
    }
}

impl One {
    fn state(&self) -> State {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let failing = queue.as_ref().map(|queue| queue.failing(NAMED)).unwrap_or_default();
        let now = tokio::time::Instant::now();
        State {
            name: self.name,
            is_active: self.is_active.load(Ordering::Relaxed),
            depth: queue.map(|queue| queue.depth()).unwrap_or_default(),
            counts: self.stats.read(),
            failing: failing
                .into_iter()
                .filter_map(|(key, failing)| {
                    let parts = keys::parts(&key)?;
                    Some(Stuck {
                        plane: parts.plane.to_owned(),
                        at: parts.address(),
                        attempts: failing.attempts,
                        for_time: now - failing.since,
                        error: failing.error.to_string(),
                    })
                })
                .collect(),
        }
    }
}
