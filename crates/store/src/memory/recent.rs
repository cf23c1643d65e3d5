//! The recent commits: what watches are fed from and older snapshots are made of.

use std::sync::Arc;
use std::time::Duration;

use imbl::Vector;

use super::indexer::Indexer;
use super::state::State;
use crate::entry::Entry;
use crate::key::Key;
use crate::version::{Revision, Version};

/// One change of one object.
#[derive(Debug, Clone)]
pub struct Event {
    pub(crate) version: Version,
    pub(crate) key: Key,
    pub(crate) before: Option<Arc<Entry>>,
    pub(crate) after: Option<Arc<Entry>>,
    /// What a deletion deleted, at the deletion's version.
    pub(crate) deleted: Option<Arc<Entry>>,
}

impl Event {
    pub(crate) fn new(
        version: Version,
        key: Key,
        before: Option<Arc<Entry>>,
        after: Option<Arc<Entry>>,
    ) -> Event {
        let deleted = match (&before, &after) {
            (Some(before), None) => Some(Arc::new(before.restamped(version))),
            _ => None,
        };
        Event { version, key, before, after, deleted }
    }

    /// Where the change stands.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whose change it is.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The object before the change; `None` when it was made.
    pub fn before(&self) -> Option<&Arc<Entry>> {
        self.before.as_ref()
    }

    /// The object after the change; `None` when it was deleted.
    pub fn after(&self) -> Option<&Arc<Entry>> {
        self.after.as_ref()
    }

    /// The object as a watcher is shown it: after the change, or, of a deletion, its last state at the
    /// version of the deletion.
    pub fn shown(&self) -> &Arc<Entry> {
        // Each event has one of the two: a change with neither is never made.
        self.after.as_ref().or(self.deleted.as_ref()).unwrap_or_else(|| unreachable!("an event of nothing"))
    }

    fn weight(&self) -> usize {
        let bytes = |entry: &Option<Arc<Entry>>| entry.as_ref().map_or(0, |entry| entry.bytes.len());
        bytes(&self.before) + bytes(&self.deleted) + 200
    }
}

/// All changes of one revision.
pub(crate) struct Commit {
    pub revision: Revision,
    /// Microseconds since 1970.
    pub time: u64,
    pub events: Vec<Arc<Event>>,
}

impl Commit {
    fn weight(&self) -> usize {
        self.events.iter().map(|event| event.weight()).sum::<usize>() + 64
    }
}

/// How much of the recent past is kept at hand.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// At most this many commits.
    pub commits: usize,
    /// At most this many bytes of replaced objects.
    pub bytes: usize,
    /// At most this many bytes of commits that memory has no room for, on disk, where the store has a folder for them.
    pub disk: u64,
    /// Nothing older than this, except the last [`Window::FEW`] commits.
    pub age: Duration,
}

impl Window {
    const FEW: usize = 1_000;

    /// The time before which nothing need be kept at `now`; both in microseconds since 1970.
    pub(crate) fn oldest(&self, now: u64) -> u64 {
        now.saturating_sub(self.age.as_micros() as u64)
    }
}

impl Default for Window {
    fn default() -> Window {
        Window { commits: 20_000, bytes: 64 << 20, disk: 4 << 30, age: Duration::from_secs(300) }
    }
}

/// Commits `floor+1 ..= last`, in order.
#[derive(Clone, Default)]
pub(crate) struct Recent {
    floor: Revision,
    commits: Vector<Arc<Commit>>,
    weight: usize,
}

impl Recent {
    /// Nothing yet; everything up to `floor` is gone.
    pub fn after(floor: Revision) -> Recent {
        Recent { floor, ..Recent::default() }
    }

    pub fn floor(&self) -> Revision {
        self.floor
    }

    pub fn push(&mut self, commit: Commit) {
        self.weight += commit.weight();
        self.commits.push_back(Arc::new(commit));
    }

    /// Lets go of what the window does not hold any more; gives what was dropped, oldest first.
    pub fn trim(&mut self, window: &Window, now: u64) -> Vec<Arc<Commit>> {
        let oldest_time = window.oldest(now);
        let mut dropped = Vec::new();
        while let Some(first) = self.commits.front() {
            let too_old = first.time < oldest_time && self.commits.len() > Window::FEW;
            if !too_old && self.commits.len() <= window.commits && self.weight <= window.bytes {
                break;
            }
            dropped.extend(self.drop_first());
        }
        dropped
    }

    /// Lets go of everything up to `revision`.
    pub fn drop_through(&mut self, revision: Revision) -> Vec<Arc<Commit>> {
        let mut dropped = Vec::new();
        while self.commits.front().is_some_and(|first| first.revision <= revision) {
            dropped.extend(self.drop_first());
        }
        self.floor = self.floor.max(revision);
        dropped
    }

    fn drop_first(&mut self) -> Option<Arc<Commit>> {
        let first = self.commits.pop_front()?;
        self.floor = first.revision;
        self.weight -= first.weight();
        Some(first)
    }

    /// The commits after `revision`, in order.
    pub fn since(&self, revision: Revision) -> impl Iterator<Item = &Arc<Commit>> {
        // By index: skipping through an iterator would walk all that is skipped.
        (self.position_after(revision)..self.commits.len()).map(|at| &self.commits[at])
    }

    /// The commit numbered `revision`.
    pub fn get(&self, revision: Revision) -> Option<&Arc<Commit>> {
        let at = self.position_after(Revision::new(revision.get().checked_sub(1)?));
        self.commits.get(at).filter(|commit| commit.revision == revision)
    }

    /// The state right after `revision`, made from a newer one by undoing what came between.
    pub fn undone(&self, indexer: &Indexer, newer: &Arc<State>, revision: Revision) -> Arc<State> {
        let end = self.position_after(newer.revision);
        let mut state = State::clone(newer);
        for at in (self.position_after(revision)..end).rev() {
            for event in self.commits[at].events.iter().rev() {
                state.set(indexer, &event.key, event.before.clone());
            }
        }
        state.revision = revision;
        Arc::new(state)
    }

    fn position_after(&self, revision: Revision) -> usize {
        // Commits are nearly always numbered without holes, so the place is known without a search.
        let Some(first) = self.commits.front() else { return 0 };
        let guess = revision.get().saturating_sub(first.revision.get()) as usize + 1;
        let right = |at: usize| self.commits.get(at.wrapping_sub(1)).is_some_and(|c| c.revision == revision);
        if revision >= first.revision && right(guess) {
            return guess;
        }
        let (mut low, mut high) = (0, self.commits.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.commits[middle].revision <= revision { low = middle + 1 } else { high = middle }
        }
        low
    }
}
