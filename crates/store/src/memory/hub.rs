//! Wakes the watches that a commit concerns, and only those.
//!
//! A thread of its own walks the commits, so that neither the number nor the slowness of watches reaches a
//! writer; in a simulation the writer walks them. Watches of one prefix form a group, which notes the revisions that touched it; so a watch of a
//! quiet prefix sleeps through other people's commits, and is not behind when they leave the window.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::Notify;

use super::holds::{Holds, overlap};
use super::overflow::Overflow;
use super::{Published, Threads};
use crate::error::{Error, Result};
use crate::version::Revision;

pub(crate) struct Hub {
    published: Arc<ArcSwap<Published>>,
    groups: Mutex<Groups>,
    dispatched: AtomicU64,
    pending: Mutex<bool>,
    wake: Condvar,
    closed: AtomicBool,
    /// Whether there is any group.
    any: AtomicBool,
    threads: Threads,
    holds: Holds,
    overflow: Overflow,
    /// The thread has ended though nobody closed the hub.
    failed: AtomicBool,
}

#[derive(Default)]
struct Groups {
    by_prefix: HashMap<Arc<[u8]>, Arc<Group>>,
    /// How many groups have a prefix of this length.
    lengths: BTreeMap<usize, usize>,
}

impl Groups {
    /// By their prefixes: who is woken first must not depend on how a map hashes.
    fn in_order(&self) -> Vec<&Arc<Group>> {
        let mut all: Vec<_> = self.by_prefix.values().collect();
        all.sort_unstable_by(|one, other| one.prefix.cmp(&other.prefix));
        all
    }

    fn remove(&mut self, group: &Group) {
        self.by_prefix.remove(group.prefix());
        let length = group.prefix.len();
        if let Some(count) = self.lengths.get_mut(&length) {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&length);
            }
        }
    }
}

/// The watches of one prefix.
pub(crate) struct Group {
    prefix: Arc<[u8]>,
    /// The group knows every touching revision after this one.
    pub since: Revision,
    queue: Mutex<Queue>,
    pub changed: Notify,
    watches: AtomicU64,
    cut: AtomicBool,
}

#[derive(Default)]
struct Queue {
    revisions: VecDeque<Revision>,
    /// The last revision that was let go of.
    forgotten: Revision,
}

/// What a group has for a reader who has seen everything up to some revision.
pub(crate) enum Next {
    /// Nothing.
    Nothing,
    /// These revisions touched the prefix, in order; at most a batch.
    Revisions(Vec<Revision>),
    /// Something, but it has left the window.
    Missed,
}

const BATCH: usize = 256;

impl Group {
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// What touched the prefix at or after `from`.
    pub fn next(&self, from: Revision) -> Next {
        let queue = locked(&self.queue);
        if queue.forgotten >= from && queue.forgotten > Revision::ZERO {
            return Next::Missed;
        }
        let start = queue.revisions.partition_point(|revision| *revision < from);
        if start == queue.revisions.len() {
            return Next::Nothing;
        }
        Next::Revisions(queue.revisions.range(start..).take(BATCH).copied().collect())
    }

    /// Whether its watches have ended before their time.
    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    fn missed_through(&self, floor: Revision) {
        let mut queue = locked(&self.queue);
        queue.revisions.retain(|revision| *revision > floor);
        queue.forgotten = queue.forgotten.max(floor);
        self.changed.notify_waiters();
    }

    fn touched(&self, revision: Revision, floor: Revision) {
        let mut queue = locked(&self.queue);
        if queue.revisions.back() != Some(&revision) {
            queue.revisions.push_back(revision);
        }
        while queue.revisions.front().is_some_and(|first| *first <= floor) {
            queue.forgotten = queue.revisions.pop_front().unwrap_or(queue.forgotten);
        }
    }
}

impl Hub {
    pub fn start(published: Arc<ArcSwap<Published>>, overflow: Overflow, threads: Threads) -> Arc<Hub> {
        let now = published.load().state.revision.get();
        let hub = Arc::new(Hub {
            published,
            groups: Mutex::default(),
            dispatched: AtomicU64::new(now),
            pending: Mutex::new(false),
            wake: Condvar::new(),
            closed: AtomicBool::new(false),
            any: AtomicBool::new(false),
            threads,
            holds: Holds::default(),
            overflow,
            failed: AtomicBool::new(false),
        });
        if threads == Threads::None {
            return hub;
        }
        let worker = Arc::clone(&hub);
        let spawned = std::thread::Builder::new().name("store-watch".into()).spawn(move || worker.work());
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for watches: they will end");
            hub.fail();
        }
        hub
    }

    /// Dispatches until the hub is closed. A panic ends the watches, and is told by [`Hub::alive`].
    fn work(&self) {
        // The groups are changed by single steps, and nobody is told of them after a panic.
        if catch_unwind(AssertUnwindSafe(|| self.run())).is_err() {
            self.fail();
        }
    }

    fn fail(&self) {
        self.failed.store(true, Ordering::Release);
        self.close();
    }

    /// An error once watches are no longer fed, though the store is open.
    pub fn alive(&self) -> Result<()> {
        match self.failed.load(Ordering::Acquire) {
            true => {
                Err(Error::Unavailable("the thread that feeds watches failed; restart the server".into()))
            }
            false => Ok(()),
        }
    }

    /// Recent commits that memory does not have any more.
    pub fn overflow(&self) -> &Overflow {
        &self.overflow
    }

    /// The revision after which every commit can be told.
    pub fn floor(&self) -> Revision {
        // In this order: what leaves memory is on disk before.
        let memory = self.load().recent.floor();
        self.overflow.floor(memory)
    }

    /// Says that something new was published.
    pub fn published(&self) {
        // With nobody to tell, what was published waits for the first who joins. Sequentially consistent: either
        // we see who joined, or who joined sees what we published.
        if self.any.load(Ordering::SeqCst) {
            self.nudge();
        }
    }

    fn nudge(&self) {
        if self.threads == Threads::None {
            return self.dispatch();
        }
        *locked(&self.pending) = true;
        self.wake.notify_one();
    }

    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.nudge();
        for group in locked(&self.groups).in_order() {
            group.changed.notify_waiters();
        }
    }

    /// What is held back from readers.
    pub fn holds(&self) -> &Holds {
        &self.holds
    }

    /// Has the watches look again that may see keys under `prefix`.
    pub fn wake(&self, prefix: &[u8]) {
        for group in locked(&self.groups).in_order() {
            if overlap(group.prefix(), prefix) {
                group.changed.notify_waiters();
            }
        }
    }

    /// Ends the watches that may see keys under `prefix`.
    pub fn cut(&self, prefix: &[u8]) {
        let mut groups = locked(&self.groups);
        let met: Vec<Arc<Group>> =
            groups.in_order().into_iter().filter(|group| overlap(group.prefix(), prefix)).cloned().collect();
        for group in met {
            groups.remove(&group);
            group.cut.store(true, Ordering::Release);
            group.changed.notify_waiters();
        }
        self.any.store(!groups.by_prefix.is_empty(), Ordering::SeqCst);
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Every commit up to this one has reached its groups.
    pub fn dispatched(&self) -> Revision {
        Revision::new(self.dispatched.load(Ordering::Acquire))
    }

    pub fn load(&self) -> arc_swap::Guard<Arc<Published>> {
        self.published.load()
    }

    pub fn join(&self, prefix: &[u8]) -> Arc<Group> {
        let mut groups = locked(&self.groups);
        if let Some(group) = groups.by_prefix.get(prefix) {
            group.watches.fetch_add(1, Ordering::Relaxed);
            return group.clone();
        }
        let prefix: Arc<[u8]> = prefix.into();
        let group = Arc::new(Group {
            prefix: prefix.clone(),
            // Under the lock that dispatching takes too: no commit falls between.
            since: self.dispatched(),
            queue: Mutex::default(),
            changed: Notify::new(),
            watches: AtomicU64::new(1),
            cut: AtomicBool::new(false),
        });
        *groups.lengths.entry(prefix.len()).or_default() += 1;
        groups.by_prefix.insert(prefix, group.clone());
        self.any.store(true, Ordering::SeqCst);
        drop(groups);
        self.nudge();
        group
    }

    pub fn leave(&self, group: &Group) {
        let mut groups = locked(&self.groups);
        if group.watches.fetch_sub(1, Ordering::Relaxed) > 1 || group.is_cut() {
            return;
        }
        groups.remove(group);
        self.any.store(!groups.by_prefix.is_empty(), Ordering::SeqCst);
    }

    pub fn watches(&self) -> usize {
        let groups = locked(&self.groups);
        groups.by_prefix.values().map(|group| group.watches.load(Ordering::Relaxed) as usize).sum()
    }

    fn run(&self) {
        loop {
            let mut pending = locked(&self.pending);
            while !*pending {
                pending = self.wake.wait(pending).unwrap_or_else(PoisonError::into_inner);
            }
            *pending = false;
            drop(pending);
            if self.is_closed() {
                return;
            }
            self.dispatch();
        }
    }

    fn dispatch(&self) {
        let published = self.published.load_full();
        let floor = published.recent.floor();
        let groups = locked(&self.groups);
        if floor > self.dispatched() {
            // Commits left the window, or were never seen, before they came to be dispatched.
            for group in groups.in_order() {
                group.missed_through(floor);
            }
        }
        let mut touched: Vec<&Arc<Group>> = Vec::new();
        for commit in published.recent.since(self.dispatched()) {
            for event in &commit.events {
                for length in
                    groups.lengths.keys().take_while(|length| **length <= event.key.as_bytes().len())
                {
                    if let Some(group) = groups.by_prefix.get(&event.key.as_bytes()[..*length]) {
                        group.touched(commit.revision, floor);
                        touched.push(group);
                    }
                }
            }
        }
        self.dispatched.store(published.state.revision.get(), Ordering::Release);
        // In an order that does not depend on addresses.
        touched.sort_unstable_by(|one, other| one.prefix.cmp(&other.prefix));
        touched.dedup_by_key(|group| Arc::as_ptr(group));
        for group in touched {
            group.changed.notify_waiters();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code under these locks panics half-way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
