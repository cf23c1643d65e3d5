//! How large a transaction an engine takes.

use crate::error::{Error, Result};
use crate::size::Size;
use crate::transaction::{Transaction, Write};
use crate::version::MAX_WRITES;
use crate::view::View;

/// The size of the largest transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Writes of a transaction.
    pub writes: usize,
    /// Bytes of all its writes.
    pub bytes: usize,
    /// Operations of a transaction as the engine counts them (guards or writes with their records and
    /// buckets, whichever are more); `None` where only `writes` counts.
    pub operations: Option<usize>,
}

impl Limits {
    /// Whether a transaction of this size is taken.
    pub fn fits(&self, size: &Size) -> bool {
        size.writes <= self.writes
            && size.bytes <= self.bytes
            && self.operations.is_none_or(|most| size.operations <= most)
    }

    /// Whether the transaction that a view makes is taken as it is so far. What its writes touch is looked through only where
    /// that could make a difference.
    pub fn take(&self, view: &mut View) -> bool {
        let (writes, bytes) = view.rough_size();
        let is_small = self.operations.is_none() && writes <= self.writes && bytes <= self.bytes / 4;
        is_small || self.fits(&view.size())
    }

    /// What the embedded engine takes.
    pub(crate) const EMBEDDED: Limits = Limits { writes: MAX_WRITES, bytes: 256 << 20, operations: None };

    /// Refuses a transaction that is too large, naming the limit and what raises it.
    pub(crate) fn check(&self, transaction: &Transaction, hints: &Hints) -> Result<()> {
        let found = transaction.writes.len() + transaction.amendments.len();
        if found > self.writes {
            return Err(Error::TooLarge { what: "writes", found, limit: self.writes, hint: hints.writes });
        }
        let found = transaction.writes.iter().map(weight).sum();
        if found > self.bytes {
            return Err(Error::TooLarge { what: "bytes", found, limit: self.bytes, hint: hints.bytes });
        }
        Ok(())
    }
}

/// What to do about a limit.
pub(crate) struct Hints {
    pub writes: &'static str,
    pub bytes: &'static str,
}

impl Hints {
    pub const EMBEDDED: Hints =
        Hints { writes: "make several transactions of it", bytes: "make several transactions of it" };
    pub const ETCD: Hints = Hints {
        writes: "make several transactions of it, or raise --max-txn-ops of etcd and of this server",
        bytes: "make several transactions of it, or raise --max-request-bytes of etcd and of this server",
    };
}

fn weight(write: &Write) -> usize {
    match write {
        Write::Put(put) => put.key.as_bytes().len() + put.body.bytes.len(),
        Write::Delete { key, .. } => key.as_bytes().len(),
    }
}
