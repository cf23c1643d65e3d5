//! Where the past is kept: what history asks of an engine.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::record::{Hash, Record, RecordId};
use super::{Cursor, Deed, Level};
use crate::error::Result;
use crate::key::Key;
use crate::transaction::Fence;
use crate::version::{Revision, Version};

/// A result that is there later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// One line of the log: which record a write left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogEntry {
    /// See [`Record::version`].
    pub version: Version,
    pub time: u64,
    pub key: Key,
    pub place: RecordId,
    pub level: Level,
    pub hash: Hash,
}

/// The log is kept in rows of a few lines; their ids sort roughly, never exactly, as the versions do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowId(pub Bytes);

/// Some lines of the log that were written together.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub id: RowId,
    pub entries: Vec<LogEntry>,
}

/// A place in the log by both its measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub version: Version,
    pub time: u64,
}

/// In which direction to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    NewestFirst,
    OldestFirst,
}

/// A record and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Filed {
    pub key: Key,
    pub place: RecordId,
    pub record: Record,
}

/// A change of the past itself: what retention and checkpoints do.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    PutRecord(Box<Filed>),
    DropRecord(Key, RecordId, Version),
    PutRow(Row),
    DropRow(RowId),
    PutMeta(String, Bytes),
}

/// All lines of the log up to `version`, in the order of their versions, which not every engine keeps them in.
pub(crate) async fn whole_log(archive: &dyn Archive, version: Version) -> Result<Vec<LogEntry>> {
    let mut lines = Vec::new();
    let mut beyond = None;
    loop {
        let rows = archive.rows(beyond.as_ref(), Order::OldestFirst, 512).await?;
        let Some(last) = rows.last() else { break };
        beyond = Some(last.id.clone());
        lines.extend(rows.into_iter().flat_map(|row| row.entries));
    }
    lines.retain(|line| line.version <= version);
    lines.sort_by_key(|line| line.version);
    Ok(lines)
}

/// The records and the log of an engine.
pub(crate) trait Archive: Send + Sync {
    /// The past as it was at a revision, for as long as the engine can still tell.
    fn pinned(&self, revision: Revision) -> Box<dyn Archive>;

    /// The same for whoever may wait: every answer is there when it is asked for. Nothing where answers come from afar.
    fn at_hand(&self) -> Option<Box<dyn Archive>>;

    /// Records of one key, strictly beyond `beyond` in the given order. Oldest first, they may end with the record that
    /// `beyond` names as near.
    fn records<'a>(
        &'a self,
        key: &'a Key,
        beyond: Option<Cursor>,
        order: Order,
        limit: usize,
    ) -> Later<'a, Vec<(RecordId, Record)>>;

    /// Records of all keys, by key and place, strictly after `after`.
    fn all_records<'a>(&'a self, after: Option<(&'a Key, RecordId)>, limit: usize) -> Later<'a, Vec<Filed>>;

    /// Rows of the log, strictly beyond `beyond` in the given order.
    fn rows<'a>(&'a self, beyond: Option<&'a RowId>, order: Order, limit: usize) -> Later<'a, Vec<Row>>;

    /// The lines after `from` up to and with `to`, in the order of their versions: all, or the first of them, no fewer
    /// than `enough`.
    fn lines<'a>(&'a self, from: Mark, to: Mark, enough: usize) -> Later<'a, Vec<LogEntry>>;

    /// What was done after `from`, in the order of the versions: all, or the first of it, no fewer than `enough`.
    fn deeds_after<'a>(&'a self, from: Mark, enough: usize) -> Later<'a, Vec<Deed>>;

    /// What was done before `below`, newest first: all, or the newest of it, no fewer than `enough`.
    fn deeds_before<'a>(&'a self, below: Mark, enough: usize) -> Later<'a, Vec<Deed>>;

    /// Which change of which life of a key stands there; nothing when it is no longer kept.
    fn place_of<'a>(&'a self, key: &'a Key, at: Mark) -> Later<'a, Option<RecordId>>;

    /// The row that may hold the log's line of this record.
    fn row_of<'a>(&'a self, time: u64, version: Version) -> Later<'a, Option<Row>>;

    /// Something small kept under a name.
    fn meta<'a>(&'a self, name: &'a str) -> Later<'a, Option<Bytes>>;

    /// All names that start with `prefix`, with what is kept under them, in order.
    fn metas<'a>(&'a self, prefix: &'a str) -> Later<'a, Vec<(String, Bytes)>>;

    /// Makes all edits, or, where an engine limits a transaction, in order and in several steps.
    fn edit<'a>(&'a self, edits: Vec<Edit>, fence: Option<&'a Fence>) -> Later<'a, ()>;

    /// Roughly how many bytes the records take.
    fn bytes<'a>(&'a self) -> Later<'a, u64>;
}
