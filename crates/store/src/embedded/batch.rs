//! What one group of jobs writes to the file.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::leases::KeptLease;
use crate::history::Level;
use crate::history::archive::Edit;
use crate::history::record::{Head, Record, RecordId};
use crate::key::Key;

#[derive(Default)]
pub(crate) struct Batch {
    pub rows: Vec<Row>,
    pub leases: Vec<(Arc<str>, Option<KeptLease>)>,
    pub edits: Vec<Edit>,
    weight: usize,
    /// The last rows of objects that were amended.
    amended: HashMap<Key, usize>,
}

/// One write: the object and its bytes, `None` when it is deleted, and its record.
pub(crate) struct Row {
    pub key: Key,
    pub place: RecordId,
    pub object: Option<(Head, Bytes)>,
    pub record: Record,
    /// A later row of the same batch has the object: only the record of this one is written.
    pub is_superseded: bool,
}

impl Row {
    /// It is the end of a life that has a history.
    pub fn ends(&self) -> bool {
        self.record.deleted && self.record.level != Level::None
    }

    /// Roughly the bytes it writes.
    fn weight(&self) -> usize {
        let before = self.record.before.as_ref().map_or(0, |before| before.body.len());
        self.object.as_ref().map_or(0, |(_, bytes)| bytes.len()) + before + HEADS
    }
}

/// What an object and a record take beside the bytes they hold.
const HEADS: usize = 512;

/// Rows that room is kept for between groups.
const KEPT_ROOM: usize = 4_096;

impl Batch {
    /// A batch in the room of an earlier one: growing it anew each time costs more than filling it.
    pub fn in_place_of(rows: Vec<Row>) -> Batch {
        Batch { rows, ..Batch::default() }
    }

    /// The room of its rows, for the next one.
    pub fn into_room(mut self) -> Vec<Row> {
        self.rows.clear();
        self.rows.shrink_to(KEPT_ROOM);
        self.rows
    }

    pub fn push(&mut self, row: Row) {
        self.weight += row.weight();
        self.rows.push(row);
    }

    /// The same of an object that many transactions of a group amend: the last of them writes it.
    pub fn push_amended(&mut self, row: Row) {
        if let Some(earlier) = self.amended.insert(row.key.clone(), self.rows.len()) {
            self.rows[earlier].is_superseded = true;
        }
        self.push(row);
    }

    pub fn weight(&self) -> usize {
        self.weight
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && !self.needs_note()
    }

    /// Whether the records alone would not tell that it was written.
    pub fn needs_note(&self) -> bool {
        !self.leases.is_empty() || !self.edits.is_empty()
    }
}
