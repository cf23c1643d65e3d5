//! A watch: every change under a prefix, once, in order, from any version the window still holds.

use std::sync::Arc;

use super::hub::{Group, Hub, Next};
use super::overflow::Chunk;
use super::recent::Event;
use crate::error::{Error, Result};
use crate::version::{Revision, Version};

/// A stream of changes. It holds no more than its place, so a slow one costs nothing and is told
/// [`Error::Gone`] when the window has moved past it.
pub struct Watch {
    hub: Arc<Hub>,
    group: Arc<Group>,
    /// Everything up to here was delivered.
    position: Version,
    /// A commit up to here was looked for in memory, and had left it.
    missing: Version,
}

/// Commits looked through before a batch is handed out.
const CATCH_UP: usize = 1_024;

impl Watch {
    pub(crate) fn start(hub: Arc<Hub>, prefix: &[u8], from: Version) -> Result<Watch> {
        let group = hub.join(prefix);
        let watch = Watch { hub, group, position: from, missing: Version::ZERO };
        if is_gone(from, watch.hub.floor()) { Err(watch.gone()) } else { Ok(watch) }
    }

    /// The next changes, at least one. Waits for them; may be dropped while waiting without losing any.
    pub async fn next(&mut self) -> Result<Vec<Arc<Event>>> {
        let group = self.group.clone();
        loop {
            let changed = group.changed.notified();
            tokio::pin!(changed);
            // From here on a change wakes us, so looking before waiting misses none.
            changed.as_mut().enable();
            let behind = self.behind_memory();
            let events = match behind {
                Some(until) => self.read_overflow(until).await?,
                None => self.ready()?,
            };
            if !events.is_empty() {
                return Ok(events);
            }
            if behind.is_some() {
                // What comes next is further on, on disk or in memory.
                continue;
            }
            if self.hub.is_closed() {
                return Err(Error::Closed);
            }
            changed.await;
        }
    }

    /// The changes that are there already; none when the watch is up to date.
    pub fn ready(&mut self) -> Result<Vec<Arc<Event>>> {
        if self.group.is_cut() {
            return Err(self.gone());
        }
        loop {
            let (events, more) = if let Some(until) = self.behind_memory() {
                let chunk = self.hub.overflow().read(self.position, self.group.prefix(), until)?;
                (self.take(chunk, until), true)
            } else if self.position < self.group.since.end() {
                self.catch_up()?
            } else {
                self.follow()?
            };
            if !events.is_empty() || !more {
                return Ok(events);
            }
        }
    }

    /// Everything up to this version was delivered. It moves on with [`Watch::next`] and [`Watch::ready`],
    /// also when others' changes go by: the version of a bookmark.
    pub fn position(&self) -> Version {
        self.position
    }

    /// The last commit that memory has no more, where one up to it is to be told. A watch that nothing concerns is not
    /// behind, however many commits go by.
    fn behind_memory(&self) -> Option<Revision> {
        let floor = self.hub.load().recent.floor();
        if !is_gone(self.position, floor) {
            return None;
        }
        let is_missing = self.position < self.group.since.end()
            || self.missing > self.position
            || matches!(self.group.next(self.next_revision()), Next::Missed);
        is_missing.then_some(floor)
    }

    /// The first revision that may have something to tell.
    fn next_revision(&self) -> Revision {
        match self.position == self.position.revision().end() {
            true => self.position.revision().next(),
            false => self.position.revision(),
        }
    }

    /// Reads on from disk, not on the thread of the caller. Dropped while it waits, it has taken nothing.
    async fn read_overflow(&mut self, until: Revision) -> Result<Vec<Arc<Event>>> {
        let (hub, group, position) = (self.hub.clone(), self.group.clone(), self.position);
        let read = tokio::task::spawn_blocking(move || hub.overflow().read(position, group.prefix(), until));
        let chunk = read.await.map_err(|error| Error::Unavailable(error.to_string()))??;
        Ok(self.take(chunk, until))
    }

    fn take(&mut self, chunk: Chunk, until: Revision) -> Vec<Arc<Event>> {
        let reached = if chunk.reached == Revision::ZERO { until } else { chunk.reached };
        self.position = self.position.max(reached.end());
        chunk.events
    }

    /// Reads commits that happened before the group began to take notes.
    fn catch_up(&mut self) -> Result<(Vec<Arc<Event>>, bool)> {
        let published = self.hub.load().clone();
        if is_gone(self.position, published.recent.floor()) {
            // They left memory a moment ago.
            return Ok((Vec::new(), true));
        }
        let limit = self.hub.holds().limit(self.group.prefix()).filter(|limit| *limit < self.group.since);
        if limit.is_some_and(|limit| self.position >= limit.end()) {
            return Ok((Vec::new(), false));
        }
        let until = limit.unwrap_or(self.group.since);
        let mut events = Vec::new();
        let mut reached = until;
        let before = Revision::new(self.position.revision().get().saturating_sub(1));
        let mut commits = published.recent.since(before).take_while(|commit| commit.revision <= until);
        for commit in commits.by_ref().take(CATCH_UP) {
            self.collect(&commit.events, &mut events);
            reached = commit.revision;
        }
        if commits.next().is_none() {
            reached = until;
        }
        self.position = self.position.max(reached.end());
        Ok((events, limit.is_none()))
    }

    fn follow(&mut self) -> Result<(Vec<Arc<Event>>, bool)> {
        // Read first: whatever was dispatched up to here is in the group's notes by now.
        let limit = self.hub.holds().limit(self.group.prefix());
        let dispatched = limit.unwrap_or(Revision::new(u64::MAX)).min(self.hub.dispatched());
        match self.group.next(self.next_revision()) {
            Next::Missed if self.behind_memory().is_some() => Ok((Vec::new(), true)),
            Next::Missed => Err(self.gone()),
            Next::Nothing => {
                self.position = self.position.max(dispatched.end());
                Ok((Vec::new(), false))
            }
            Next::Revisions(mut revisions) => {
                revisions.retain(|revision| limit.is_none_or(|limit| *revision <= limit));
                if revisions.is_empty() {
                    self.position = self.position.max(dispatched.end());
                    return Ok((Vec::new(), false));
                }
                let published = self.hub.load().clone();
                let mut events = Vec::new();
                for revision in revisions {
                    let Some(commit) = published.recent.get(revision) else {
                        self.missing = revision.end();
                        break;
                    };
                    self.collect(&commit.events, &mut events);
                    self.position = revision.end();
                }
                Ok((events, true))
            }
        }
    }

    fn collect(&self, from: &[Arc<Event>], into: &mut Vec<Arc<Event>>) {
        let wanted = |event: &&Arc<Event>| {
            event.version > self.position && event.key.as_bytes().starts_with(self.group.prefix())
        };
        into.extend(from.iter().filter(wanted).cloned());
    }

    fn gone(&self) -> Error {
        Error::Gone { asked: self.position.revision(), earliest: self.hub.floor() }
    }
}

/// A place inside the commit at the floor can't be resumed either: the rest of that commit is gone. Before the
/// first commit there is nothing that could be.
fn is_gone(place: Version, floor: Revision) -> bool {
    floor > Revision::ZERO && place < floor.end()
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.hub.leave(&self.group);
    }
}
