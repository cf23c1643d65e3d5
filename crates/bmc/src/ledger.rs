//! The shared record of logins that failed, or may have: what keeps a BMC from locking its accounts.
//!
//! An attempt is reserved before it is made and counts as failed until it is known to have succeeded. So the limit holds
//! for any number of processes, and when one of them dies in the middle. Their clocks must agree: a difference of
//! seconds shortens the window by as much.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The most failed logins per BMC within [`WINDOW`].
pub const LIMIT: usize = 2;
/// How long a failed login counts.
pub const WINDOW: Duration = Duration::from_secs(600);
/// The longest that an attempt may take. One that was never settled is taken to have failed this late.
pub const ATTEMPT_LIMIT: Duration = Duration::from_secs(60);

/// The future of a call of a ledger; `Err` is a message of its store.
pub type Recorded<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Where attempts are recorded. All processes that log in to a BMC must share one.
///
/// Each call changes the [`Attempts`] of one BMC atomically, as a compare-and-swap of a small record.
pub trait LoginLedger: Send + Sync {
    /// Reserves an attempt: [`Attempts::reserve`].
    fn reserve<'a>(&'a self, bmc: &'a str, attempt: u64, now: Duration) -> Recorded<'a, Result<(), Denied>>;

    /// Says how an attempt ended: [`Attempts::settle`].
    fn settle<'a>(&'a self, bmc: &'a str, attempt: u64, ending: Ending, now: Duration) -> Recorded<'a, ()>;
}

/// Why an attempt is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denied {
    /// When the next one is allowed, at the latest; time since the Unix epoch.
    pub retry_at: Duration,
    /// Whether an attempt is under way, which may succeed and allow another one sooner.
    pub is_pending: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The BMC accepted the credentials, or never saw them.
    Harmless,
    /// The BMC refused the credentials, or nobody knows.
    Failed,
}

/// The attempts at one BMC: the value that a ledger stores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts(Vec<Attempt>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Attempt {
    id: u64,
    /// Milliseconds since the Unix epoch.
    begun: u64,
    ended: Option<u64>,
}

impl Attempts {
    /// Takes one of the [`LIMIT`] attempts of a [`WINDOW`], if one is left.
    pub fn reserve(&mut self, id: u64, now: Duration) -> Result<(), Denied> {
        self.0.retain(|attempt| attempt.counts_until() > now);
        if self.0.len() < LIMIT {
            self.0.push(Attempt { id, begun: millis(now), ended: None });
            return Ok(());
        }
        let mut ends: Vec<Duration> = self.0.iter().map(Attempt::counts_until).collect();
        ends.sort_unstable();
        let retry_at = ends.get(self.0.len() - LIMIT).copied().unwrap_or(now);
        Err(Denied { retry_at, is_pending: self.0.iter().any(|attempt| attempt.ended.is_none()) })
    }

    /// Records how an attempt ended. An unknown one was forgotten because it took too long, and is recorded if it
    /// failed.
    pub fn settle(&mut self, id: u64, ending: Ending, now: Duration) {
        match ending {
            Ending::Harmless => self.0.retain(|attempt| attempt.id != id),
            Ending::Failed => match self.0.iter_mut().find(|attempt| attempt.id == id) {
                Some(attempt) => attempt.ended = Some(millis(now)),
                None => self.0.push(Attempt { id, begun: millis(now), ended: Some(millis(now)) }),
            },
        }
    }

    /// Whether nothing is recorded, so that the record may be deleted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Attempt {
    /// The BMC saw the attempt at some time before its end.
    fn counts_until(&self) -> Duration {
        let seen = match self.ended {
            Some(ended) => Duration::from_millis(ended),
            None => Duration::from_millis(self.begun) + ATTEMPT_LIMIT,
        };
        seen + WINDOW
    }
}

/// Rounded up, so that nothing expires early.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// A ledger in the memory of one process.
#[derive(Debug, Default)]
pub struct MemoryLedger(Mutex<HashMap<String, Attempts>>);

impl MemoryLedger {
    fn change<T>(&self, bmc: &str, change: impl FnOnce(&mut Attempts) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let attempts = all.entry(bmc.to_owned()).or_default();
        let answer = change(attempts);
        if attempts.is_empty() {
            all.remove(bmc);
        }
        answer
    }
}

impl LoginLedger for MemoryLedger {
    fn reserve<'a>(&'a self, bmc: &'a str, attempt: u64, now: Duration) -> Recorded<'a, Result<(), Denied>> {
        Box::pin(async move { Ok(self.change(bmc, |attempts| attempts.reserve(attempt, now))) })
    }

    fn settle<'a>(&'a self, bmc: &'a str, attempt: u64, ending: Ending, now: Duration) -> Recorded<'a, ()> {
        Box::pin(async move {
            self.change(bmc, |attempts| attempts.settle(attempt, ending, now));
            Ok(())
        })
    }
}
