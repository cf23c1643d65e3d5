//! What can go wrong in a simulation, and who decides when it does.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::error::Result;
use crate::key::Key;
use crate::transaction::{Author, Guard, Transaction, Write};

/// Decides what goes wrong, and learns what came of each step. A schedule with a seed gives the same answers whenever
/// it is asked the same.
pub trait Faults: Send + Sync + 'static {
    /// What goes wrong at this point: asked once for each, just before the operation is carried out.
    fn at(&self, point: &Point) -> Vec<Fault>;

    /// What the committer made of an operation: once for each time that it was delivered.
    fn carried_out(&self, point: &Point, outcome: &Result<String>) {
        let _ = (point, outcome);
    }

    /// The process stops at this point. Nothing is written from now on, and nobody gets an answer; whoever runs the
    /// simulation drops all that belongs to the process.
    fn stopped(&self, point: &Point) {
        let _ = point;
    }
}

/// Nothing ever goes wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn at(&self, _point: &Point) -> Vec<Fault> {
        Vec::new()
    }
}

/// Something that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The operation fails, and nothing is written.
    Before,
    /// The operation is carried out, and its caller is told that the outcome is not known.
    After,
    /// The operation is carried out after this time, whether its caller still waits or not.
    Delayed(Duration),
    /// The operation is delivered twice, as by a client that repeats a request whose answer it did not get; its caller
    /// gets the second answer. What can't be delivered twice is delivered once.
    Repeated,
    /// Watches and [`crate::Store::latest`] of this server show nothing new of the keys under `prefix` for a time. What
    /// this server has acknowledged itself `latest` shows all the same. Guards are checked on what is there.
    Stale {
        /// What the keys begin with.
        prefix: Bytes,
        /// For how long.
        time: Duration,
    },
    /// The watches of this server that may see keys under `prefix` end with [`crate::Error::Gone`].
    CutWatches {
        /// What the keys begin with.
        prefix: Bytes,
    },
    /// A lease runs out before its time.
    LoseLease(Arc<str>),
    /// The process stops before the operation is carried out.
    StopBefore,
    /// The process stops when the operation is carried out, before its caller gets the answer.
    StopAfter,
}

/// A place where something can go wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Counts all points since the store was opened, from 1 on.
    pub number: u64,
    /// Of operations that write to the disk: counts those alone.
    pub step: Option<u64>,
    /// The server that is asked.
    pub server: Arc<str>,
    /// What is to be done.
    pub operation: Operation,
}

/// What a server is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A read of what is current.
    Read,
    /// A commit.
    Commit {
        /// Who makes the change.
        author: Author,
        /// The verbs and keys of its writes, in order.
        writes: Vec<(String, Key)>,
        /// The leases that guard it.
        leases: Vec<Arc<str>>,
    },
    /// A commit that is decided where nothing else can happen.
    CommitAlone,
    /// Taking a lease.
    Acquire {
        /// The lease.
        name: Arc<str>,
        /// Who takes it.
        holder: Arc<str>,
    },
    /// Renewing a lease.
    Renew(Arc<str>),
    /// Giving a lease back.
    Release(Arc<str>),
    /// Retention, a checkpoint, or a data key.
    Edit,
    /// Letting go of recent commits.
    Compact,
    /// Indexing everything anew.
    Reindex,
}

impl Operation {
    pub(super) fn commit(transaction: &Transaction) -> Operation {
        let write = |write: &Write| match write {
            Write::Put(put) => (put.verb.to_string(), put.key.clone()),
            Write::Delete { key, verb } => (verb.to_string(), key.clone()),
        };
        let lease = |guard: &Guard| match guard {
            Guard::Lease(fence) => Some(fence.name.clone()),
            _ => None,
        };
        Operation::Commit {
            author: transaction.author.clone(),
            writes: transaction.writes.iter().map(write).collect(),
            leases: transaction.guards.iter().filter_map(lease).collect(),
        }
    }

    /// Whether it writes to the disk.
    pub fn is_durable(&self) -> bool {
        !matches!(self, Operation::Read | Operation::Renew(_) | Operation::Compact | Operation::Reindex)
    }

    /// The lease that it is about, or that guards it.
    pub fn lease(&self) -> Option<&Arc<str>> {
        match self {
            Operation::Renew(name) | Operation::Release(name) => Some(name),
            Operation::Commit { leases, .. } => leases.first(),
            _ => None,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Read => f.write_str("read"),
            Operation::Commit { author, writes, .. } => {
                write!(f, "commit by {} with {}", author.user, author.manager)?;
                writes.iter().try_for_each(|(verb, key)| write!(f, ", {verb} {key}"))
            }
            Operation::CommitAlone => f.write_str("commit alone"),
            Operation::Acquire { name, holder } => write!(f, "acquire {name} for {holder}"),
            Operation::Renew(name) => write!(f, "renew {name}"),
            Operation::Release(name) => write!(f, "release {name}"),
            Operation::Edit => f.write_str("edit"),
            Operation::Compact => f.write_str("compact"),
            Operation::Reindex => f.write_str("reindex"),
        }
    }
}
