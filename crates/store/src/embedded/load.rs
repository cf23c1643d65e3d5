//! Reads the file into memory: the objects, and the recent commits that watches may still ask for.

use std::collections::HashMap;
use std::sync::Arc;

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable};

use super::file::{Reached, failed};
use super::log::Log;
use super::tables::{META, META_FLOOR, OBJECTS, u64_of};
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::history::archive::Filed;
use crate::history::record::{Head, RecordId};
use crate::key::Key;
use crate::memory::indexer::Indexer;
use crate::memory::recent::{Commit, Event, Recent, Window};
use crate::memory::state::State;
use crate::version::{Revision, Version};

pub(crate) struct Loaded {
    pub state: State,
    pub recent: Recent,
    /// Microseconds since 1970 of the last commit.
    pub last_time: u64,
}

/// Commits made ready for watches when a store is opened: enough for clients that come back after a
/// restart, few enough not to hold it up.
const READY: usize = 20_000;

/// Reads all that the file has, at the time `now`.
pub(crate) fn load(database: &Database, indexer: &Indexer, window: &Window, now: u64) -> Result<Loaded> {
    let read = database.begin_read().map_err(failed)?;
    let mut revision = Reached::by(&read)?.revision;
    let mut found = Vec::new();
    for row in read.open_table(OBJECTS).map_err(failed)?.iter().map_err(failed)? {
        let (key, value) = row.map_err(failed)?;
        let (head, body) = Head::decode(value.value())?;
        // Whatever became of the records, no version that was handed out may be handed out again.
        revision = revision.max(head.version.revision());
        found.push((Key::new(key.value())?, Arc::new(head.entry_of(body))));
    }
    let state = State::opened(revision, indexer, found);
    let log = Log::open(&read)?;
    let last = log.records(..)?.next_back();
    let last_time = last.and_then(Result::ok).map_or(0, |(_, filed)| filed.record.time);
    let recent = recent(&log, &state, floor(&read)?, now.saturating_sub(window.age.as_micros() as u64))?;
    Ok(Loaded { state, recent, last_time })
}

/// Up to here the records were thinned out, and tell no commits any more.
fn floor(read: &ReadTransaction) -> Result<Revision> {
    let meta = read.open_table(META).map_err(failed)?;
    let found = meta.get(META_FLOOR).map_err(failed)?;
    Ok(Revision::new(found.and_then(|value| u64_of(value.value())).unwrap_or(0)))
}

/// The commits after `since`, found by walking back from the present. Where the past is damaged the walk ends, and so does
/// what watches may ask for: that is no reason not to open.
fn recent(log: &Log, state: &State, floor: Revision, since: u64) -> Result<Recent> {
    let mut older: HashMap<Key, Option<Arc<Entry>>> = HashMap::new();
    // Newest first.
    let mut commits: Vec<Commit> = Vec::new();
    let mut reached = floor;
    for (count, found) in log.records(floor.end().get()..)?.rev().enumerate() {
        let told = found.and_then(|(version, filed)| {
            let known = older.get(&filed.key).cloned();
            let after = known.unwrap_or_else(|| state.objects.get(&filed.key).cloned());
            Ok((before(version, &filed, after.as_deref())?, after, version, filed))
        });
        let (before, after, version, filed) = match told {
            Ok(told) => told,
            Err(error) => {
                tracing::error!(%error, "the recent past is damaged: watches can't go on from before it");
                // The rest of its commit can't be told either.
                reached = commits.pop().map_or(state.revision, |commit| commit.revision);
                break;
            }
        };
        let revision = version.revision();
        let begins = commits.last().is_none_or(|commit| commit.revision != revision);
        if begins && (count >= READY || filed.record.time < since) {
            reached = revision;
            break;
        }
        older.insert(filed.key.clone(), before.clone());
        let event = Arc::new(Event::new(version, filed.key, before, after));
        match commits.last_mut().filter(|_| !begins) {
            Some(commit) => commit.events.insert(0, event),
            None => commits.push(Commit { revision, time: filed.record.time, events: vec![event] }),
        }
    }
    let mut recent = Recent::after(reached);
    for commit in commits.into_iter().rev() {
        recent.push(commit);
    }
    Ok(recent)
}

/// The object before this change, which must be the one that led to `after`.
fn before(version: Version, filed: &Filed, after: Option<&Entry>) -> Result<Option<Arc<Entry>>> {
    let Filed { key, place, record } = filed;
    let fits = match after {
        Some(after) => !record.deleted && after.version == version && RecordId::of(&after.chain) == *place,
        None => record.deleted,
    };
    if !fits || record.version != version {
        return Err(Error::damaged(format_args!("the record of {key} at {version} does not fit")));
    }
    let stored = after.map(Entry::stored).unwrap_or_default();
    let before = record.before.as_ref().map(|before| before.entry(record, *place, &stored));
    Ok(before.transpose()?.map(Arc::new))
}
