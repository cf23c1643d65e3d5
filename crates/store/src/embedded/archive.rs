//! The past as the embedded engine keeps it.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use redb::{AccessGuard, ReadTransaction, ReadableDatabase};
use tokio::sync::{mpsc, oneshot};

use super::committer::Job;
use super::disk::{Disk, row_entries, row_number};
use super::file::{Reached, failed};
use super::records::Lives;
use super::tables::{LOG, META};
use crate::error::{Error, Result};
use crate::history::archive::{Archive, Edit, Filed, Later, LogEntry, Mark, Order, Row, RowId};
use crate::history::record::{Place, Record};
use crate::key::Key;
use crate::transaction::Fence;
use crate::version::{Revision, Version};

/// A row of a table, as iterators hand it out.
type Found<'a, K> =
    std::result::Result<(AccessGuard<'a, K>, AccessGuard<'a, &'static [u8]>), redb::StorageError>;

#[derive(Clone)]
pub(crate) struct EmbeddedArchive {
    pub disk: Arc<Disk>,
    pub jobs: mpsc::UnboundedSender<Job>,
}

impl EmbeddedArchive {
    /// Reads on a thread that may wait for the disk.
    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<T> + Send + 'static,
    ) -> Later<'_, T> {
        let disk = self.disk.clone();
        Box::pin(async move {
            let task = tokio::task::spawn_blocking(move || {
                let transaction = disk.database()?.begin_read().map_err(failed)?;
                read(&transaction)
            });
            task.await.map_err(|error| Error::Unavailable(error.to_string()))?
        })
    }
}

impl Archive for EmbeddedArchive {
    fn pinned(&self, _revision: Revision) -> Box<dyn Archive> {
        // Whoever rewrites the past here waits until it was read.
        Box::new(self.clone())
    }

    fn records<'a>(
        &'a self,
        key: &'a Key,
        beyond: Option<Place>,
        order: Order,
        limit: usize,
    ) -> Later<'a, Vec<(Place, Record)>> {
        let key = key.clone();
        self.read(move |read| {
            Ok(Lives::open(read)?.records(&key, beyond, order, limit)?.into_iter().map(pair).collect())
        })
    }

    fn all_records<'a>(&'a self, after: Option<(&'a Key, Place)>, limit: usize) -> Later<'a, Vec<Filed>> {
        let after = after.map(|(key, place)| (key.clone(), place));
        self.read(move |read| Lives::open(read)?.all(after, limit))
    }

    fn rows<'a>(&'a self, beyond: Option<&'a RowId>, order: Order, limit: usize) -> Later<'a, Vec<Row>> {
        let beyond = beyond.map(row_number).transpose();
        self.read(move |read| {
            let log = read.open_table(LOG).map_err(failed)?;
            let edge = beyond?.map_or(Bound::Unbounded, Bound::Excluded);
            let take = |row: Found<u64>| {
                let (id, lines) = row.map_err(failed)?;
                let id = RowId(Bytes::copy_from_slice(&id.value().to_be_bytes()));
                Ok(Row { id, entries: row_entries(lines.value())? })
            };
            match order {
                Order::OldestFirst => log
                    .range::<u64>((edge, Bound::Unbounded))
                    .map_err(failed)?
                    .take(limit)
                    .map(take)
                    .collect(),
                Order::NewestFirst => log
                    .range::<u64>((Bound::Unbounded, edge))
                    .map_err(failed)?
                    .rev()
                    .take(limit)
                    .map(take)
                    .collect(),
            }
        })
    }

    fn lines<'a>(&'a self, from: Mark, to: Mark) -> Later<'a, Vec<LogEntry>> {
        self.read(move |read| {
            let log = read.open_table(LOG).map_err(failed)?;
            // The row that `from` stands in is named after an earlier revision.
            let first = log.range(..=from.version.revision().get()).map_err(failed)?.next_back().transpose();
            let first = first.map_err(failed)?.map_or(0, |(id, _)| id.value());
            let mut lines = Vec::new();
            for row in log.range(first..=to.version.revision().get()).map_err(failed)? {
                let (_, value) = row.map_err(failed)?;
                let inside = |line: &LogEntry| line.version > from.version && line.version <= to.version;
                lines.extend(row_entries(value.value())?.into_iter().filter(inside));
            }
            Ok(lines)
        })
    }

    fn row_of<'a>(&'a self, _time: u64, version: Version) -> Later<'a, Option<Row>> {
        self.read(move |read| {
            let log = read.open_table(LOG).map_err(failed)?;
            // A row is named after its first revision and holds all up to the next row.
            let found = log.range(..=version.revision().get()).map_err(failed)?.next_back();
            let Some(row) = found else { return Ok(None) };
            let (id, lines) = row.map_err(failed)?;
            let id = RowId(Bytes::copy_from_slice(&id.value().to_be_bytes()));
            Ok(Some(Row { id, entries: row_entries(lines.value())? }))
        })
    }

    fn meta<'a>(&'a self, name: &'a str) -> Later<'a, Option<Bytes>> {
        let name = name.to_owned();
        self.read(move |read| {
            let meta = read.open_table(META).map_err(failed)?;
            Ok(meta.get(name.as_str()).map_err(failed)?.map(|value| Bytes::copy_from_slice(value.value())))
        })
    }

    fn metas<'a>(&'a self, prefix: &'a str) -> Later<'a, Vec<(String, Bytes)>> {
        let prefix = prefix.to_owned();
        self.read(move |read| {
            let meta = read.open_table(META).map_err(failed)?;
            let mut found = Vec::new();
            for row in meta.range(prefix.as_str()..).map_err(failed)? {
                let (name, value) = row.map_err(failed)?;
                if !name.value().starts_with(&prefix) {
                    break;
                }
                found.push((name.value().to_owned(), Bytes::copy_from_slice(value.value())));
            }
            Ok(found)
        })
    }

    fn edit<'a>(&'a self, edits: Vec<Edit>, fence: Option<&'a Fence>) -> Later<'a, ()> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.jobs.send(Job::Edit { edits, fence: fence.cloned(), reply }).map_err(|_| Error::Closed)?;
            answer.await.map_err(|_| Error::Closed)?
        })
    }

    fn bytes<'a>(&'a self) -> Later<'a, u64> {
        self.read(|read| Ok(Reached::by(read)?.record_bytes))
    }
}

fn pair(filed: Filed) -> (Place, Record) {
    (filed.place, filed.record)
}
