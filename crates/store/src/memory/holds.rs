//! What is held back from readers for a while, so that a simulation shows them stale data of some keys.
//!
//! Guards are checked by the committer, which nothing is held back from.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Published;
use super::indexer::Indexer;
use super::state::State;
use crate::version::Revision;

/// All that is held back of one memory; outside of simulations nothing is.
#[derive(Default)]
pub(crate) struct Holds {
    any: AtomicBool,
    held: Mutex<Held>,
}

/// Names one hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HoldId(u64);

#[derive(Default)]
struct Held {
    holds: Vec<Hold>,
    next: u64,
}

struct Hold {
    id: HoldId,
    prefix: Arc<[u8]>,
    /// Watches see nothing after this.
    watched: Revision,
    /// Snapshots show nothing after this.
    read: Revision,
}

impl Holds {
    /// Holds back what happens under `prefix` after a revision.
    pub fn add(&self, prefix: &[u8], after: Revision) -> HoldId {
        let mut held = self.lock();
        let id = HoldId(held.next);
        held.next += 1;
        held.holds.push(Hold { id, prefix: prefix.into(), watched: after, read: after });
        self.any.store(true, Ordering::SeqCst);
        id
    }

    /// Ends a hold; gives its prefix.
    pub fn remove(&self, id: HoldId) -> Option<Arc<[u8]>> {
        let mut held = self.lock();
        let at = held.holds.iter().position(|hold| hold.id == id)?;
        let hold = held.holds.remove(at);
        self.any.store(!held.holds.is_empty(), Ordering::SeqCst);
        Some(hold.prefix)
    }

    /// Lets snapshots show everything up to a revision.
    pub fn raise(&self, revision: Revision) {
        if self.any.load(Ordering::SeqCst) {
            self.lock().holds.iter_mut().for_each(|hold| hold.read = hold.read.max(revision));
        }
    }

    /// The last revision that a watch of `prefix` may see; `None` when it may see all.
    pub fn limit(&self, prefix: &[u8]) -> Option<Revision> {
        if !self.any.load(Ordering::SeqCst) {
            return None;
        }
        let held = self.lock();
        let met = held.holds.iter().filter(|hold| overlap(&hold.prefix, prefix));
        met.map(|hold| hold.watched).min()
    }

    /// The objects as a reader sees them while some are held back; `None` when nothing is. The revision is the oldest
    /// that is shown, so that a guard on a bucket is checked since then.
    pub fn shown(&self, published: &Published, indexer: &Indexer) -> Option<Arc<State>> {
        if !self.any.load(Ordering::SeqCst) {
            return None;
        }
        let held = self.lock();
        let floor = published.recent.floor();
        let oldest = held.holds.iter().map(|hold| hold.read).min()?.max(floor);
        if oldest >= published.state.revision {
            return None;
        }
        let mut state = State::clone(&published.state);
        let commits: Vec<_> = published.recent.since(oldest).collect();
        for commit in commits.into_iter().rev() {
            for event in commit.events.iter().rev() {
                let is_held = |hold: &Hold| {
                    commit.revision > hold.read && event.key().as_bytes().starts_with(&hold.prefix)
                };
                if held.holds.iter().any(is_held) {
                    state.set(indexer, event.key(), event.before().cloned());
                }
            }
        }
        state.revision = oldest;
        Some(Arc::new(state))
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // No code under this lock panics half-way through a change.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a key can start with both.
pub(crate) fn overlap(one: &[u8], other: &[u8]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}
