//! Reads the file into memory: the objects, and the recent commits that watches may still ask for.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use redb::{Database, ReadableDatabase, ReadableTable};

use super::disk::row_entries;
use super::file::{Reached, failed};
use super::records;
use super::tables::{LOG, META, META_FLOOR, OBJECTS, RECORDS, u64_of};
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::history::archive::LogEntry;
use crate::history::record::{Head, Record};
use crate::key::Key;
use crate::memory::indexer::Indexer;
use crate::memory::recent::{Commit, Event, Recent, Window};
use crate::memory::state::State;
use crate::version::Revision;

pub(crate) struct Loaded {
    pub state: State,
    pub recent: Recent,
    pub record_bytes: u64,
    /// Microseconds since 1970 of the last commit.
    pub last_time: u64,
}

/// Commits made ready for watches when a store is opened: enough for clients that come back after a
/// restart, few enough not to hold it up.
const READY: usize = 20_000;

pub(crate) fn load(database: &Database, indexer: &Indexer, window: &Window) -> Result<Loaded> {
    let read = database.begin_read().map_err(failed)?;
    let meta = read.open_table(META).map_err(failed)?;
    let number = |name| -> Result<u64> {
        Ok(meta.get(name).map_err(failed)?.and_then(|value| u64_of(value.value())).unwrap_or(0))
    };
    let reached_by_file = Reached::by(&read)?;
    let mut state = State { revision: reached_by_file.revision, ..State::default() };
    for row in read.open_table(OBJECTS).map_err(failed)?.iter().map_err(failed)? {
        let (key, value) = row.map_err(failed)?;
        let (head, body) = Head::decode(value.value())?;
        let entry = head.entry(Bytes::copy_from_slice(body));
        state.set(indexer, &Key::new(key.value())?, Some(Arc::new(entry)));
    }

    let log = read.open_table(LOG).map_err(failed)?;
    let kept = read.open_table(RECORDS).map_err(failed)?;
    let floor = Revision::new(number(META_FLOOR)?);
    let since = crate::clock::now().saturating_sub(window.age.as_micros() as u64);
    let mut lines: Vec<LogEntry> = Vec::new();
    let mut last_time = 0;
    let mut reached = floor;
    for row in log.iter().map_err(failed)?.rev() {
        let (first, value) = row.map_err(failed)?;
        let entries = row_entries(value.value())?;
        last_time = last_time.max(entries.last().map_or(0, |entry| entry.time));
        let first = Revision::new(first.value());
        if first <= floor {
            break;
        }
        if lines.len() + entries.len() > READY || entries.iter().all(|entry| entry.time < since) {
            reached = entries.last().map_or(reached, |entry| entry.version.revision());
            break;
        }
        lines.extend(entries.into_iter().rev());
    }
    let fetch = |line: &LogEntry| -> Result<Record> {
        let found = kept.get(line.version.get()).map_err(failed)?;
        let found = found
            .ok_or_else(|| Error::damaged(format_args!("no record of {} at {}", line.key, line.version)))?;
        Ok(records::decode(&line.key, found.value())?.record)
    };
    let (commits, cut) = commits(&state, &lines, fetch);
    let mut recent = Recent::after(cut.unwrap_or(reached));
    for commit in commits.into_iter().rev() {
        recent.push(commit);
    }
    Ok(Loaded { state, recent, record_bytes: reached_by_file.record_bytes, last_time })
}

/// The commits of these lines, newest first as the lines are, found by walking back from the present. Where the
/// past is damaged the walk ends, and so does what watches may ask for: that is no reason not to open.
fn commits(
    state: &State,
    lines: &[LogEntry],
    fetch: impl Fn(&LogEntry) -> Result<Record>,
) -> (Vec<Commit>, Option<Revision>) {
    let mut older: HashMap<Key, Option<Arc<Entry>>> = HashMap::new();
    let mut commits: Vec<Commit> = Vec::new();
    for line in lines {
        let revision = line.version.revision();
        let known = older.get(&line.key).cloned();
        let after = known.unwrap_or_else(|| state.objects.get(&line.key).cloned());
        let before = match fetch(line).and_then(|record| before(line, &record, after.as_deref())) {
            Ok(before) => before,
            Err(error) => {
                tracing::error!(%error, "the recent past is damaged: watches can't go on from before it");
                commits.retain(|commit| commit.revision > revision);
                return (commits, Some(revision));
            }
        };
        older.insert(line.key.clone(), before.clone());
        let event = Arc::new(Event::new(line.version, line.key.clone(), before, after));
        match commits.last_mut() {
            Some(commit) if commit.revision == revision => commit.events.insert(0, event),
            _ => commits.push(Commit { revision, time: line.time, events: vec![event] }),
        }
    }
    (commits, None)
}

fn before(line: &LogEntry, record: &Record, after: Option<&Entry>) -> Result<Option<Arc<Entry>>> {
    if record.deleted == after.is_some() {
        return Err(Error::damaged(format_args!(
            "the record of {} at {} does not fit",
            line.key, line.version
        )));
    }
    let stored = after.map(Entry::stored).unwrap_or_default();
    let before = record.before.as_ref().map(|before| before.entry(record, line.place, &stored));
    Ok(before.transpose()?.map(Arc::new))
}
