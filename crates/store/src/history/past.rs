//! Reads the past: the changes of one object, and how things were at a point in time.

use std::sync::Arc;

use super::archive::{Archive, LogEntry, Mark, Order, RowId};
use super::record::{Record, RecordId};
use super::{At, Change, Changes, Cursor, DeedPlace, Touched, horizon};
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::memory::indexer::Indexer;
use crate::memory::state::State;
use crate::snapshot::Snapshot;
use crate::transaction::recorded;
use crate::version::{Revision, Version};

/// The past as seen from one snapshot of the present.
pub(crate) struct Past<'a> {
    pub archive: &'a dyn Archive,
    pub now: Snapshot,
}

/// Records read at a time.
const STEP: usize = 64;
/// Rows of the log read at a time.
const ROWS: usize = 256;
/// Servers that share a store may disagree on the time by this much (µs).
pub(crate) const SKEW: u64 = 600_000_000;

impl Past<'_> {
    /// The changes of one key, newest first, older than `beyond`.
    pub async fn changes(&self, key: &Key, beyond: Option<Cursor>, limit: usize) -> Result<Changes> {
        let limit = limit.max(1);
        let mut found = self.archive.records(key, beyond, Order::NewestFirst, limit + 1).await?;
        found.retain(|(_, record)| record.version <= self.now.version());
        let more = found.len() > limit;
        found.truncate(limit);

        let mut items = Vec::with_capacity(found.len());
        let mut after: Option<(u64, Option<Arc<Entry>>)> = None;
        let mut near = beyond;
        for (place, record) in &found {
            near = near.filter(|near| near.place.born == place.born);
            let newer = match after.take() {
                Some((born, entry)) if born == place.born => entry,
                _ => self.after(key, *place, record, near_of(near)).await?,
            };
            let before = match (&record.before, &newer) {
                (None, _) => None,
                (Some(before), Some(newer)) => Some(before.entry(record, *place, &newer.stored())?),
                (Some(before), None) => Some(before.entry(record, *place, &[])?),
            }
            .map(Arc::new);
            after = Some((place.born, before.clone()));
            if is_whole(record) {
                near = Some(Cursor { place: *place, near: record.version });
            }
            items.push(tell(*place, record, before, newer));
        }
        let last = found.last().filter(|_| more).map(|(place, _)| *place);
        let next = last.map(|place| Cursor { place, near: near_of(near) });
        Ok(Changes { items, next })
    }

    /// One object as it was.
    pub async fn object(&self, key: &Key, at: At) -> Result<Option<Arc<Entry>>> {
        let version = match at {
            At::Revision(revision) => self.check_future(revision)?.end(),
            At::Time(time) => self.version_at(key.as_bytes(), time, |_| {}).await?,
        };
        self.object_at(key, version).await
    }

    /// Everything under `prefix` as it was. What stands elsewhere in the snapshot is as it is now.
    ///
    /// Takes time in proportion to what changed since then; of a time before a restore, to what there is.
    pub async fn list(&self, indexer: &Indexer, prefix: &[u8], at: At) -> Result<Snapshot> {
        let mut changed = std::collections::BTreeSet::new();
        let mut note = |entry: &LogEntry| {
            if entry.key.as_bytes().starts_with(prefix) {
                changed.insert((entry.key.clone(), entry.version));
            }
        };
        let version = match at {
            At::Time(time) => self.version_at(prefix, time, note).await?,
            At::Revision(revision) => {
                let version = self.check_future(revision)?.end();
                self.check_horizon(prefix, version).await?;
                self.walk_log(|entry| entry.version > version, &mut note).await?;
                version
            }
        };
        let mut state = State::clone(self.now.state());
        let mut last: Option<Key> = None;
        for (key, changed_at) in changed {
            if changed_at <= version || last.as_ref() == Some(&key) {
                continue;
            }
            let entry = self.object_at(&key, version).await?;
            state.set(indexer, &key, entry);
            last = Some(key);
        }
        // What a restore gave another version, and nobody has changed since, had its own then.
        for (key, entry) in self.now.list(prefix).filter(|(_, entry)| entry.version > version) {
            if let Some(then) = entry.as_of(version) {
                state.set(indexer, key, Some(then));
            }
        }
        state.revision = version.revision();
        Ok(Snapshot::new(Arc::new(state)))
    }

    /// Which objects under `prefix` were changed after a point, and of which groups of keys that is not known any more.
    ///
    /// Takes time in proportion to what changed since then.
    pub async fn touched(&self, prefix: &[u8], after: At) -> Result<Touched> {
        let mut lines = Vec::new();
        let mut note = |entry: &LogEntry| {
            if entry.key.as_bytes().starts_with(prefix) {
                lines.push((entry.key.clone(), entry.version));
            }
        };
        let version = match after {
            At::Time(time) => self.walk_to(time, &mut note).await?,
            At::Revision(revision) => {
                let version = self.check_future(revision)?.end();
                self.walk_log(|entry| entry.version > version, &mut note).await?;
                version
            }
        };
        let is_forgotten = |mark: &Mark| match after {
            At::Time(time) => time < mark.time,
            At::Revision(_) => version < mark.version,
        };
        let horizons = horizon::all(self.archive, prefix).await?.into_iter();
        Ok(Touched {
            version,
            keys: lines.into_iter().filter(|(_, at)| *at > version).collect(),
            forgotten: horizons
                .filter(|(_, mark)| is_forgotten(mark))
                .map(|(group, mark)| (group, mark.time))
                .collect(),
        })
    }

    fn check_future(&self, revision: Revision) -> Result<Revision> {
        let now = self.now.revision();
        if revision > now { Err(Error::Future { asked: revision, now }) } else { Ok(revision) }
    }

    async fn check_horizon(&self, prefix: &[u8], version: Version) -> Result<()> {
        match horizon::of(self.archive, prefix).await? {
            Some(horizon) if version < horizon.version => Err(Error::Forgotten { earliest: horizon.time }),
            _ => Ok(()),
        }
    }

    /// The end of the last commit at or before `time`; shows every newer line of the log to `note`.
    async fn version_at(&self, prefix: &[u8], time: u64, note: impl FnMut(&LogEntry)) -> Result<Version> {
        if let Some(horizon) = horizon::of(self.archive, prefix).await?
            && time < horizon.time
        {
            return Err(Error::Forgotten { earliest: horizon.time });
        }
        let mut note = note;
        self.walk_to(time, &mut note).await
    }

    /// The same, whether or not all of it is known.
    async fn walk_to(&self, time: u64, note: &mut impl FnMut(&LogEntry)) -> Result<Version> {
        let mut first_after: Option<Version> = None;
        self.walk_log(|entry| entry.time > time, &mut |entry| {
            if entry.time > time && first_after.is_none_or(|first| entry.version < first) {
                first_after = Some(entry.version);
            }
            note(entry);
        })
        .await?;
        Ok(match first_after {
            Some(version) => Revision::new(version.revision().get().saturating_sub(1)).end(),
            None => self.now.version(),
        })
    }

    /// Shows lines of the log, newest first, until all further ones must be older than wanted.
    async fn walk_log(
        &self,
        wanted: impl Fn(&LogEntry) -> bool,
        note: &mut impl FnMut(&LogEntry),
    ) -> Result<()> {
        let mut beyond: Option<RowId> = None;
        // Rows are only roughly in order: past the first unwanted line a wanted one may still come for a while.
        let mut stop_below = 0;
        loop {
            let rows = self.archive.rows(beyond.as_ref(), Order::NewestFirst, ROWS).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            beyond = Some(last.id.clone());
            for row in &rows {
                for entry in row.entries.iter().filter(|entry| entry.version <= self.now.version()) {
                    if wanted(entry) {
                        note(entry);
                    } else {
                        stop_below = stop_below.max(entry.time.saturating_sub(SKEW));
                    }
                }
                if row.entries.iter().all(|entry| entry.time < stop_below) {
                    return Ok(());
                }
            }
        }
    }

    async fn object_at(&self, key: &Key, version: Version) -> Result<Option<Arc<Entry>>> {
        let live = self.now.get(key);
        if let Some(entry) = live.and_then(|live| live.as_of(version)) {
            return Ok(Some(entry));
        }
        let mut beyond: Option<Cursor> = None;
        let mut oldest: Option<Record> = None;
        let (mut step, mut near) = (STEP, Version::ZERO);
        // The version that the record after had found, which a restore may have given.
        let mut found = None;
        loop {
            let records = self.archive.records(key, beyond, Order::NewestFirst, step).await?;
            step *= 4;
            let Some((last, record)) = records.last() else { break };
            beyond = Some(Cursor { place: *last, near: record.version });
            for (place, record) in records {
                if record.version <= version {
                    let given = found.filter(|(born, at)| *born == place.born && *at <= version);
                    let given = given.map_or(record.version, |(_, at)| record.version.max(at));
                    let entry = self.after(key, place, &record, near).await?;
                    return Ok(entry.map(|entry| stamped(entry, given)));
                }
                found = record.before.as_ref().map(|before| (place.born, before.version));
                if is_whole(&record) {
                    near = record.version;
                }
                oldest = Some(record);
            }
        }
        match (oldest, live) {
            // The first change we know of was the making of the object.
            (Some(first), _) if first.before.is_none() && first.gap.is_none() => Ok(None),
            (Some(first), _) => Err(Error::Forgotten { earliest: first.time }),
            (None, Some(_)) => Err(Error::Gone { asked: version.revision(), earliest: self.now.revision() }),
            (None, None) => Ok(None),
        }
    }

    /// The object right after the record at `place`; the record at `near`, not far after it, may hold it whole.
    async fn after(
        &self,
        key: &Key,
        place: RecordId,
        record: &Record,
        near: Version,
    ) -> Result<Option<Arc<Entry>>> {
        if record.deleted {
            return Ok(None);
        }
        let mut newer = self.newer(key, Cursor { place, near }).await?;
        if near > Version::ZERO && !newer.last().is_some_and(|(_, last)| is_whole(last)) {
            // Retention may have been there since: look as far as it takes.
            newer = self.newer(key, place.into()).await?;
        }
        let mut entry: Option<Arc<Entry>> = match newer.last() {
            Some((_, last)) if is_whole(last) => None,
            _ => match self.now.get(key).filter(|entry| entry.chain.born == place.born) {
                Some(live) => Some(live.clone()),
                None => return Err(Error::damaged(format_args!("the history of {key} has no end"))),
            },
        };
        for (at, record) in newer.iter().rev() {
            let before = record.before.as_ref();
            let before =
                before.ok_or_else(|| Error::damaged(format_args!("the history of {key} has a hole")))?;
            let bytes = entry.as_ref().map(|entry| entry.stored()).unwrap_or_default();
            entry = Some(Arc::new(before.entry(record, *at, &bytes)?));
        }
        // A restore gives objects new versions; the past tells the old ones.
        Ok(entry.map(|entry| stamped(entry, record.version)))
    }

    /// The records of one life after a place, oldest first, up to the first that holds a whole object.
    async fn newer(&self, key: &Key, from: Cursor) -> Result<Vec<(RecordId, Record)>> {
        let mut newer = Vec::new();
        let mut beyond = from;
        loop {
            let step = self.archive.records(key, Some(beyond), Order::OldestFirst, STEP).await?;
            let full = step.len() == STEP;
            for (at, record) in step {
                if at.born != from.place.born || record.version > self.now.version() {
                    return Ok(newer);
                }
                beyond.place = at;
                let whole = is_whole(&record);
                newer.push((at, record));
                if whole {
                    return Ok(newer);
                }
            }
            if !full {
                return Ok(newer);
            }
        }
    }
}

/// The object at the version it is to be shown at.
fn stamped(entry: Arc<Entry>, version: Version) -> Arc<Entry> {
    if entry.version == version { entry } else { Arc::new(entry.restamped(version)) }
}

/// The record that is near, zero when none is known.
fn near_of(cursor: Option<Cursor>) -> Version {
    cursor.map_or(Version::ZERO, |cursor| cursor.near)
}

/// Whether the record holds the whole object before it.
fn is_whole(record: &Record) -> bool {
    record.before.as_ref().is_some_and(|before| before.body.is_whole())
}

fn tell(place: RecordId, record: &Record, before: Option<Arc<Entry>>, after: Option<Arc<Entry>>) -> Change {
    let (user, impersonator) = recorded(&record.user);
    Change {
        version: record.version,
        place: DeedPlace { born: place.born, sequence: place.sequence },
        time: record.time,
        uid: record.uid,
        user: if user.len() == record.user.len() { record.user.clone() } else { user.into() },
        impersonator: impersonator.map(Arc::from),
        manager: record.manager.clone(),
        verb: record.verb.clone(),
        message: record.message.clone(),
        level: record.level,
        before,
        after,
        pruned_before: record.gap.is_some(),
    }
}
