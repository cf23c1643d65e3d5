//! The controllers of this process: what they do, what is stuck, and how they are stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use krm::kind::Address;
use krm::time::Moment;
use reconcile::gate::Gates;
use reconcile::metrics::{self, Sample};
use reconcile::queue::{Depth, Queue};
use reconcile::stats::{Counts, Stats};
use reconcile::writes::{WriteCounts, Writes};
use store::Key;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::feed::Feed;
use super::host::Waiting;
use super::writes::ControllerAudit;
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
    feed: Feed,
    gates: Gates,
    audit: OnceLock<ControllerAudit>,
    threads: OnceLock<Handle>,
    beside: Mutex<BTreeMap<String, Beside>>,
}

/// A controller that runs beside the server, as it last said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The process that holds its lease.
    pub holder: String,
    /// When it last took or renewed it.
    pub renewed: Moment,
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
    waiting: Waiting,
    overdue: Overdue,
    writes: Arc<Writes>,
}

/// Objects that are in a state for longer than they may be.
#[derive(Clone, Default)]
pub struct Overdue(Arc<Mutex<BTreeSet<Key>>>);

impl Overdue {
    /// Whether an object is one of them.
    pub fn set(&self, key: &Key, is_overdue: bool) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match is_overdue {
            true => all.insert(key.clone()),
            false => all.remove(key),
        };
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
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
    /// Its writes.
    pub writes: WriteCounts,
    /// Objects that fail.
    pub failing: Vec<Stuck>,
    /// Objects that wait for something else.
    pub waiting: Vec<WaitingObject>,
    /// How many objects are in a state for longer than they may be.
    pub overdue: usize,
}

/// An object that waits for something else.
#[derive(Debug, Clone)]
pub struct WaitingObject {
    /// Its project; empty for the root.
    pub plane: String,
    /// Where it is.
    pub at: Address,
    /// What it waits for.
    pub what: String,
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
                    waiting: Waiting::default(),
                    overdue: Overdue::default(),
                    writes: Arc::default(),
                });
                all.push(one.clone());
                one
            }
        };
        Some(Running { one, _task: self.0.tasks.token() })
    }

    /// Audits what they write from now on, except statuses and events.
    pub fn audit_to(&self, audit: ControllerAudit) {
        let _ = self.0.audit.set(audit);
    }

    /// Lets controllers work on the threads of this runtime from now on, apart from those that answer requests. Their leases
    /// are still renewed where they are held.
    pub fn work_on(&self, threads: Handle) {
        let _ = self.0.threads.set(threads);
    }

    /// Does a controller's work on the threads that controllers have, or on those of the caller if they have none of their
    /// own. When this is dropped, the work is cancelled.
    pub async fn on_their_threads(&self, work: impl Future<Output = ()> + Send + 'static) {
        let Some(threads) = self.0.threads.get() else { return work.await };
        match AbortOnDropHandle::new(threads.spawn(work)).await {
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // Cancelled: the threads are gone with the process.
            _ => {}
        }
    }

    /// Notes who runs a controller beside this server; `None` once nobody does.
    pub fn runs_beside(&self, controller: &str, beside: Option<Beside>) {
        let mut all = self.0.beside.lock().unwrap_or_else(PoisonError::into_inner);
        match beside {
            Some(beside) => drop(all.insert(controller.to_owned(), beside)),
            None => drop(all.remove(controller)),
        }
    }

    /// Who has run controllers beside this server, by the name of the controller.
    pub fn beside(&self) -> BTreeMap<String, Beside> {
        self.0.beside.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where their writes are audited.
    pub fn audit(&self) -> Option<&ControllerAudit> {
        self.0.audit.get()
    }

    /// The gates in front of endpoints, shared by all of them.
    pub fn gates(&self) -> &Gates {
        &self.0.gates
    }

    /// What shows changes to all of them.
    pub fn feed(&self) -> &Feed {
        &self.0.feed
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

    /// All of them in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        let sample = |State { name, is_active, depth, counts, writes, overdue, .. }: State| Sample {
            name,
            is_active,
            depth,
            counts,
            writes,
            overdue,
        };
        metrics::text(&self.states().into_iter().map(sample).collect::<Vec<_>>(), self.gates())
    }
}

impl Running {
    /// Its counters.
    pub fn stats(&self) -> &Arc<Stats> {
        &self.one.stats
    }

    /// Its writes.
    pub fn writes(&self) -> &Arc<Writes> {
        &self.one.writes
    }

    /// What its objects wait for.
    pub fn waiting(&self) -> &Waiting {
        &self.one.waiting
    }

    /// Its objects that are in a state for too long.
    pub fn overdue(&self) -> Overdue {
        self.one.overdue.clone()
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
    fn waiting(&self) -> Vec<WaitingObject> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let named = waiting.iter().take(NAMED).filter_map(|(key, what)| {
            let parts = keys::parts(key)?;
            Some(WaitingObject { plane: parts.plane.to_owned(), at: parts.address(), what: what.clone() })
        });
        named.collect()
    }

    fn state(&self) -> State {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let failing = queue.as_ref().map(|queue| queue.failing(NAMED)).unwrap_or_default();
        let now = tokio::time::Instant::now();
        State {
            name: self.name,
            is_active: self.is_active.load(Ordering::Relaxed),
            depth: queue.map(|queue| queue.depth()).unwrap_or_default(),
            counts: self.stats.read(),
            writes: self.writes.read(),
            waiting: self.waiting(),
            overdue: self.overdue.len(),
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
