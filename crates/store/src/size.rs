//! How large a transaction is while it is decided, as the limits of the engines count it.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::entry::Entry;
use crate::history::Level;
use crate::history::record::NO_HASH;
use crate::key::Key;
use crate::memory::indexer::Indexer;
use crate::transaction::{Guard, Write};

/// The log and the mark of a commit, which every one has.
const PER_COMMIT: usize = 2;
/// Bytes of a write beyond its key and its object: the heads of object, record and log line, and the author.
pub(crate) const PER_WRITE: usize = 2048;
/// Bytes of a guard or a bucket beyond what it names.
const PER_NAME: usize = 128;

/// The size of a transaction: at least what the engine will count. [`crate::Limits::fits`] compares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Its writes.
    pub writes: usize,
    /// Its operations: guards, or writes with their records and buckets, whichever are more.
    pub operations: usize,
    /// Its bytes, with those of the records.
    pub bytes: usize,
}

/// What the writes of a view cost so far.
#[derive(Default)]
pub(crate) struct Sizing {
    /// Per key: the operations and the bytes of its write and record.
    writes: BTreeMap<Key, (usize, usize)>,
    /// Every bucket that some write touches.
    buckets: BTreeSet<Bytes>,
}

impl Sizing {
    /// Counts a write in the place of an earlier one of the same key. Buckets that only that one touched stay counted.
    pub fn count(&mut self, indexer: &Indexer, write: &Write, before: Option<&Entry>, after: Option<&Entry>) {
        let key = write.key();
        for entry in [before, after].into_iter().flatten() {
            let terms = indexer.terms(key, entry).into_iter().filter(|term| term.bucket);
            self.buckets.extend(terms.map(|term| term.bytes));
        }
        let is_chained = before.is_some_and(|before| before.chain.hash != NO_HASH);
        let is_recorded = match write {
            Write::Put(put) => put.level != Level::None || is_chained,
            Write::Delete { .. } => is_chained,
        };
        let bytes = |entry: Option<&Entry>| entry.map_or(0, |entry| entry.bytes.len());
        let size = bytes(before) + bytes(after) + 3 * key.as_bytes().len() + PER_WRITE;
        self.writes.insert(key.clone(), (1 + usize::from(is_recorded), size));
    }

    /// All of it with the guards, of which `guarded` are those on the version of a key.
    pub fn total(&self, guards: &[Guard], guarded: &BTreeSet<Key>) -> Size {
        let has_buckets = guards.iter().any(|guard| matches!(guard, Guard::Bucket { .. }));
        let unguarded = self.writes.keys().filter(|key| !guarded.contains(*key)).count();
        let compares = guards.iter().map(compares).sum::<usize>() + unguarded + usize::from(has_buckets);
        let written: usize = self.writes.values().map(|(operations, _)| operations).sum();
        let operations = written + self.buckets.len() + PER_COMMIT;
        let bytes: usize = self.writes.values().map(|(_, bytes)| bytes).sum();
        let of_buckets: usize = self.buckets.iter().map(|term| term.len() + PER_NAME).sum();
        let of_guards: usize = guards.iter().map(compares_bytes).sum();
        Size {
            writes: self.writes.len(),
            operations: operations.max(compares),
            bytes: bytes + of_buckets + of_guards,
        }
    }
}

/// The conditions that a guard is made of.
fn compares(guard: &Guard) -> usize {
    match guard {
        Guard::Life { .. } => 2,
        Guard::At { .. } | Guard::Exists(_) | Guard::Bucket { .. } | Guard::Lease(_) => 1,
    }
}

fn compares_bytes(guard: &Guard) -> usize {
    let named = match guard {
        Guard::At { key, .. } | Guard::Exists(key) | Guard::Life { key, .. } => key.as_bytes().len(),
        Guard::Bucket { term, .. } => term.len(),
        Guard::Lease(fence) => fence.name.len(),
    };
    // Each is compared, and looked at again when it does not hold.
    compares(guard) * 2 * (named + PER_NAME)
}
