//! The past as the embedded engine keeps it.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use redb::{ReadTransaction, ReadableDatabase};

use super::blocking;
use super::committer::Job;
use super::disk::Disk;
use super::file::failed;
use super::jobs::Jobs;
use super::log::Log;
use super::records::Lives;
use super::tables::{META, u64_of};
use crate::error::{Error, Result};
use crate::history::archive::{Archive, Edit, Filed, Later, LogEntry, Mark, Order, Row, RowId};
use crate::history::record::{Record, RecordId};
use crate::history::{Cursor, Deed};
use crate::key::Key;
use crate::transaction::Fence;
use crate::version::{Revision, Version};

#[derive(Clone)]
pub(crate) struct EmbeddedArchive {
    pub disk: Arc<Disk>,
    pub reads: Reads,
    pub jobs: Jobs,
}

/// Where reads wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// On a thread that may wait.
    Blocking,
    /// Here: whoever asks is on such a thread.
    Here,
    /// Here: there is nothing to wait for, and no other thread.
    InMemory,
}

impl EmbeddedArchive {
    /// Reads, where the disk may be waited for.
    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<T> + Send + 'static,
    ) -> Later<'_, T> {
        let disk = self.disk.clone();
        let read = move || read(&disk.database()?.begin_read().map_err(failed)?);
        self.wait(read)
    }

    fn wait<T: Send + 'static>(&self, read: impl FnOnce() -> Result<T> + Send + 'static) -> Later<'_, T> {
        match self.reads {
            Reads::Blocking => Box::pin(blocking(read)),
            Reads::Here | Reads::InMemory => Box::pin(std::future::ready(read())),
        }
    }
}

impl Archive for EmbeddedArchive {
    fn pinned(&self, _revision: Revision) -> Box<dyn Archive> {
        // Whoever rewrites the past here waits until it was read.
        Box::new(self.clone())
    }

    fn at_hand(&self) -> Option<Box<dyn Archive>> {
        match self.reads {
            Reads::Blocking | Reads::Here => {
                Some(Box::new(EmbeddedArchive { reads: Reads::Here, ..self.clone() }))
            }
            // Whoever gets one goes to another thread with it.
            Reads::InMemory => None,
        }
    }

    fn records<'a>(
        &'a self,
        key: &'a Key,
        beyond: Option<Cursor>,
        order: Order,
        limit: usize,
    ) -> Later<'a, Vec<(RecordId, Record)>> {
        let key = key.clone();
        self.read(move |read| {
            Ok(Lives::open(read)?.records(&key, beyond, order, limit)?.into_iter().map(pair).collect())
        })
    }

    fn all_records<'a>(&'a self, after: Option<(&'a Key, RecordId)>, limit: usize) -> Later<'a, Vec<Filed>> {
        let after = after.map(|(key, place)| (key.clone(), place));
        self.read(move |read| Lives::open(read)?.all(after, limit))
    }

    fn rows<'a>(&'a self, beyond: Option<&'a RowId>, order: Order, limit: usize) -> Later<'a, Vec<Row>> {
        let beyond = beyond.map(version_of).transpose();
        self.read(move |read| {
            let log = Log::open(read)?;
            let edge = beyond?.map_or(Bound::Unbounded, Bound::Excluded);
            match order {
                Order::OldestFirst => log.lines((edge, Bound::Unbounded))?.take(limit).map(row).collect(),
                Order::NewestFirst => {
                    log.lines((Bound::Unbounded, edge))?.rev().take(limit).map(row).collect()
                }
            }
        })
    }

    fn lines<'a>(&'a self, from: Mark, to: Mark, enough: usize) -> Later<'a, Vec<LogEntry>> {
        let after = Bound::Excluded(from.version.get());
        let through = Bound::Included(to.version.get());
        self.read(move |read| Log::open(read)?.lines((after, through))?.take(enough).collect())
    }

    fn deeds_after<'a>(&'a self, from: Mark, enough: usize) -> Later<'a, Vec<Deed>> {
        let after = Bound::Excluded(from.version.get());
        self.read(move |read| Log::open(read)?.deeds((after, Bound::Unbounded), Order::OldestFirst, enough))
    }

    fn deeds_before<'a>(&'a self, below: Mark, enough: usize) -> Later<'a, Vec<Deed>> {
        let versions = ..below.version.get();
        self.read(move |read| Log::open(read)?.deeds(versions, Order::NewestFirst, enough))
    }

    fn place_of<'a>(&'a self, key: &'a Key, at: Mark) -> Later<'a, Option<RecordId>> {
        let key = key.clone();
        self.read(move |read| Log::open(read)?.place(&key, at.version))
    }

    fn row_of<'a>(&'a self, _time: u64, _version: Version) -> Later<'a, Option<Row>> {
        // A line goes with its record: there is no row to be rewritten.
        Box::pin(std::future::ready(Ok(None)))
    }

    fn meta<'a>(&'a self, name: &'a str) -> Later<'a, Option<Bytes>> {
        let name = name.to_owned();
        self.read(move |read| {
            let meta = read.open_table(META).map_err(failed)?;
            Ok(meta.get(name.as_str()).map_err(failed)?.map(|value| Bytes::copy_from_slice(value.value())))
        })
    }

    fn metas<'a>(&'a self, prefix: &'a str) -> Later<'a, Vec<(String, Bytes)>> {
        let (disk, prefix) = (self.disk.clone(), prefix.to_owned());
        self.wait(move || disk.metas(&prefix))
    }

    fn edit<'a>(&'a self, edits: Vec<Edit>, fence: Option<&'a Fence>) -> Later<'a, ()> {
        Box::pin(
            async move { self.jobs.ask(|reply| Job::Edit { edits, fence: fence.cloned(), reply }).await },
        )
    }

    fn bytes<'a>(&'a self) -> Later<'a, u64> {
        Box::pin(std::future::ready(Ok(self.disk.record_bytes())))
    }
}

fn pair(filed: Filed) -> (RecordId, Record) {
    (filed.place, filed.record)
}

/// Each line is a row of its own, named after its version.
fn row(line: Result<LogEntry>) -> Result<Row> {
    let line = line?;
    let id = RowId(Bytes::copy_from_slice(&line.version.get().to_be_bytes()));
    Ok(Row { id, entries: vec![line] })
}

fn version_of(id: &RowId) -> Result<u64> {
    u64_of(&id.0).ok_or_else(|| Error::damaged("the number of a row of the log"))
}
