//! What can go wrong, told by what the caller should do next.

use std::sync::Arc;

use crate::key::{BadKey, Key};
use crate::version::{Revision, Version};

/// The result of an operation on the store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the store did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A guard did not hold. Nothing was written; read again, decide again, try again.
    #[error("{0}")]
    Conflict(#[from] Conflict),

    /// Others kept changing what this transaction reads. Nothing was written; try again in a moment.
    #[error(
        "gave up after {tries} tries because others kept changing what it depends on; try again in a moment"
    )]
    Contended {
        /// How often it was tried.
        tries: u32,
    },

    /// That past is no longer kept. Read the present, and go on from there.
    #[error(
        "revision {asked} is no longer kept: the earliest is {earliest}; list again and go on from there"
    )]
    Gone {
        /// What was asked for.
        asked: Revision,
        /// The earliest that can still be had.
        earliest: Revision,
    },

    /// That past is no longer part of the history.
    #[error("history does not reach back that far: it starts {} s after 1970", earliest / 1_000_000)]
    Forgotten {
        /// The earliest time that can still be told, in microseconds since 1970.
        earliest: u64,
    },

    /// That revision has not happened yet.
    #[error("revision {asked} is ahead of this store, which is at {now}")]
    Future {
        /// What was asked for.
        asked: Revision,
        /// The newest revision.
        now: Revision,
    },

    /// The transaction is larger than the engine takes. Nothing was written.
    #[error("the transaction has {found} {what}, and this store takes {limit} at most; {hint}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: usize,
        /// How much is allowed.
        limit: usize,
        /// The setting that raises the limit.
        hint: &'static str,
    },

    /// The disk, or etcd's quota, is full. Nothing was written; writes work again once there is room.
    #[error("no space left: {0}; nothing was written, and writes go on as soon as there is room")]
    Full(String),

    /// The store can't be reached or can't write just now. Nothing was written.
    #[error("the store is not available: {0}")]
    Unavailable(String),

    /// The engine failed before the outcome was known: the write may or may not have landed. It must not be repeated
    /// without a look at what is there.
    #[error("the outcome of this write is not known: {0}")]
    Unknown(String),

    /// The engine takes no more writes until the process is started anew. Nothing was written; reads go on.
    #[error("the store takes no writes: {0}")]
    ReadOnly(String),

    /// The request makes no sense; the same one will fail again.
    #[error("{0}")]
    Invalid(String),

    /// What is stored can't be read.
    #[error("stored data is damaged: {0}")]
    Damaged(String),

    /// A sealed value can't be opened or sealed.
    #[error(transparent)]
    Seal(Arc<crate::seal::SealError>),

    /// The data was written by a newer version of this program.
    #[error(
        "this data was written in format {found}, and this program reads up to {known}; use a newer groundplane"
    )]
    Newer {
        /// The format of the data.
        found: u32,
        /// The newest format this program knows.
        known: u32,
    },

    /// The data was written by an older version of this program, in a way that this one no longer reads.
    #[error(
        "this data was written in format {found}, and this program reads from {known} on; back it up with the \
         groundplane that wrote it, and restore that with this one"
    )]
    Older {
        /// The format of the data.
        found: u32,
        /// The oldest format this program knows.
        known: u32,
    },

    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

/// Which guard did not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The key is at another version, or gone, or there already.
    #[error("{key} is at version {found}, not {expected}", found = Shown(*found), expected = Shown(*expected))]
    Changed {
        /// The key.
        key: Key,
        /// What the guard said.
        expected: Version,
        /// What is there.
        found: Version,
    },
    /// The key does not exist.
    #[error("{0} does not exist")]
    Missing(Key),
    /// The key exists, but it was deleted and created again.
    #[error("{0} was deleted and created again")]
    Reborn(Key),
    /// Something entered, left or changed in the bucket.
    #[error("what depends on {0} has changed")]
    Bucket(String),
    /// The object is such that it can't be changed as an amendment says.
    #[error("{0} can no longer be changed as it was meant to be")]
    Unamendable(Key),
    /// The lease has run out or has another holder.
    #[error("the lease {0} is no longer held: it ran out or was taken over")]
    LeaseLost(Arc<str>),
    /// The key is at another version, which this server has not seen yet.
    #[error("{0} was changed by another server")]
    Overtaken(Key),
}

struct Shown(Version);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == Version::ZERO { f.write_str("none") } else { self.0.fmt(f) }
    }
}

impl Error {
    /// Whether the same request may succeed if it is decided anew on what is there now.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Error::Conflict(_))
    }

    /// The outcome of a write that may still be looked up.
    pub(crate) fn unknown(why: impl std::fmt::Display) -> Error {
        Error::Unknown(format!("{why}; read the object to see whether it was written"))
    }

    pub(crate) fn damaged(what: impl std::fmt::Display) -> Error {
        Error::Damaged(what.to_string())
    }
}

impl From<BadKey> for Error {
    fn from(bad: BadKey) -> Error {
        Error::Invalid(bad.to_string())
    }
}

impl From<crate::seal::SealError> for Error {
    fn from(error: crate::seal::SealError) -> Error {
        Error::Seal(Arc::new(error))
    }
}

impl From<postcard::Error> for Error {
    fn from(error: postcard::Error) -> Error {
        Error::Damaged(format!("a record can't be decoded: {error}"))
    }
}
