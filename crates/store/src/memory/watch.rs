//! A watch: every change under a prefix, once, in order, from any version the window still holds.

use std::sync::Arc;

use super::hub::{Group, Hub, Next};
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
}

/// Commits looked through before a batch is handed out.
const CATCH_UP: usize = 1_024;

impl Watch {
    pub(crate) fn start(hub: Arc<Hub>, prefix: &[u8], from: Version) -> Result<Watch> {
        let group = hub.join(prefix);
        let watch = Watch { hub, group, position: from };
        if is_gone(from, watch.hub.load().recent.floor()) { Err(watch.gone()) } else { Ok(watch) }
    }

    /// The next changes, at least one. Waits for them; may be dropped while waiting without losing any.
    pub async fn next(&mut self) -> Result<Vec<Arc<Event>>> {
        let group = self.group.clone();
        loop {
            let changed = group.changed.notified();
            tokio::pin!(changed);
            // From here on a change wakes us, so looking before waiting misses none.
            changed.as_mut().enable();
            let events = self.ready()?;
            if !events.is_empty() {
                return Ok(events);
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
            let (events, more) =
                if self.position < self.group.since.end() { self.catch_up()? } else { self.follow()? };
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

    /// Reads commits that happened before the group began to take notes.
    fn catch_up(&mut self) -> Result<(Vec<Arc<Event>>, bool)> {
        let published = self.hub.load().clone();
        if is_gone(self.position, published.recent.floor()) {
            return Err(self.gone());
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
        let from = if self.position == self.position.revision().end() {
            self.position.revision().next()
        } else {
            self.position.revision()
        };
        match self.group.next(from) {
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
                    let commit = published.recent.get(revision).ok_or_else(|| self.gone())?;
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
        Error::Gone { asked: self.position.revision(), earliest: self.hub.load().recent.floor() }
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
