//! What the parts of the etcd engine share: the client, the keys, the offset, and how far memory has come.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::client::{self, Client};
use super::layout::Layout;
use crate::clock;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::version::Revision;

pub(crate) struct Shared {
    pub client: Client,
    pub layout: Layout,
    pub memory: Memory,
    /// Added to etcd's revisions; raised by a restore.
    pub offset: u64,
    /// Names this server among those that share the store.
    pub server: [u8; 16],
    /// The revision, as etcd counts, that memory has reached.
    pub applied: watch::Sender<i64>,
    pub marks: Marks,
    /// The newest time that any commit was seen to carry.
    pub newest_time: AtomicU64,
    /// What is stored and can't be read, while memory can't be brought up to date because of it.
    pub unreadable: Mutex<Option<String>>,
}

impl Shared {
    /// Why memory is not up to date, if that is because of what is stored.
    pub fn unreadable(&self) -> Option<String> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes why memory is not up to date, or that it is again.
    pub fn note_unreadable(&self, why: Option<String>) {
        *self.unreadable.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

/// A commit by which its sender knows it again.
pub(crate) type CommitId = [u8; 16];

/// Commits of this server that were sent, and where they landed.
#[derive(Default)]
pub(crate) struct Marks {
    sent: Mutex<HashMap<CommitId, Option<i64>>>,
}

impl Marks {
    /// Looks out for this commit for as long as the answer is kept, also if who sent it does not wait for it.
    pub fn look_out(&self, id: CommitId) -> LookOut<'_> {
        self.locked().insert(id, None);
        LookOut { marks: self, id }
    }

    pub fn seen(&self, id: &CommitId, revision: i64) {
        if let Some(landed) = self.locked().get_mut(id) {
            *landed = Some(revision);
        }
    }

    #[cfg(test)]
    pub fn looked_out_for(&self) -> usize {
        self.locked().len()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<CommitId, Option<i64>>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks out for one commit.
pub(crate) struct LookOut<'a> {
    marks: &'a Marks,
    id: CommitId,
}

impl LookOut<'_> {
    /// Where the commit landed, as far as memory has seen.
    pub fn landed(&self) -> Option<i64> {
        self.marks.locked().get(&self.id).copied().flatten()
    }
}

impl Drop for LookOut<'_> {
    fn drop(&mut self) {
        self.marks.locked().remove(&self.id);
    }
}

/// How long to wait for memory to follow before saying that the cluster is not there.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

impl Shared {
    pub fn revision(&self, etcd: i64) -> Revision {
        Revision::new(etcd as u64 + self.offset)
    }

    /// A revision as etcd counts. One from before a restore is not etcd's at all: it is before everything.
    pub fn etcd_revision(&self, revision: Revision) -> i64 {
        revision.get().saturating_sub(self.offset) as i64
    }

    /// Waits until memory has reached this revision of etcd.
    pub async fn reached(&self, revision: i64) -> Result<()> {
        let mut applied = self.applied.subscribe();
        let wait = applied.wait_for(|applied| *applied >= revision);
        match tokio::time::timeout(PATIENCE, wait).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(Error::Closed),
            Err(_) => Err(Error::Unavailable("this server does not hear from etcd".into())),
        }
    }

    /// A time for a commit: never before one that was seen, whichever server's clock is behind.
    pub fn tick(&self) -> u64 {
        let now = clock::now();
        let before = self.newest_time.fetch_max(now, Ordering::Relaxed);
        if before < now { now } else { self.newest_time.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    pub fn saw_time(&self, time: u64) {
        self.newest_time.fetch_max(time, Ordering::Relaxed);
    }
}

/// The value of a server's mark: which commit, and when.
pub(crate) fn mark_value(id: &CommitId, time: u64) -> Vec<u8> {
    let mut value = id.to_vec();
    value.extend_from_slice(&time.to_be_bytes());
    value
}

pub(crate) fn read_mark(value: &[u8]) -> Option<(CommitId, u64)> {
    let (id, time) = value.split_first_chunk::<16>()?;
    Some((*id, u64::from_be_bytes(time.try_into().ok()?)))
}

pub(crate) fn random_id() -> Result<CommitId> {
    let mut id = [0; 16];
    let filled = ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut id);
    filled.map_err(|_| Error::Unavailable("the system gives no random numbers".into()))?;
    Ok(id)
}

/// What an error of the client means for something that changed nothing.
pub(crate) fn failed(error: client::Error) -> Error {
    match error {
        client::Error::NoSpace { .. } => Error::Full(error.to_string()),
        client::Error::Refused { .. } | client::Error::Misconfigured { .. } => {
            Error::Invalid(error.to_string())
        }
        other => Error::Unavailable(other.to_string()),
    }
}
