//! What one group of jobs writes to the file.

use std::sync::Arc;

use super::leases::KeptLease;
use crate::history::archive::{Edit, LogEntry};
use crate::history::record::Place;
use crate::key::Key;
use crate::version::Version;

#[derive(Default)]
pub(crate) struct Batch {
    pub rows: Vec<Row>,
    pub log: Vec<LogEntry>,
    pub leases: Vec<(Arc<str>, Option<KeptLease>)>,
    pub edits: Vec<Edit>,
    weight: usize,
}

/// One write: the object as stored, `None` when it is deleted, and its record.
pub(crate) struct Row {
    pub key: Key,
    pub object: Option<Vec<u8>>,
    pub place: Place,
    pub version: Version,
    pub record: Vec<u8>,
    /// It is the end of a life that has a history.
    pub ends: bool,
}

impl Batch {
    pub fn push(&mut self, row: Row) {
        self.weight += row.object.as_ref().map_or(0, Vec::len) + row.record.len();
        self.rows.push(row);
    }

    pub fn weight(&self) -> usize {
        self.weight
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.leases.is_empty() && self.edits.is_empty()
    }
}
