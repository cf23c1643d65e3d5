//! Counters of one controller, which hosts show as metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The object is in its desired state.
    Succeeded,
    /// An error, such as a conflict or an unreachable endpoint.
    Failed,
    /// A bug.
    Panicked,
    /// The deadline passed.
    TimedOut,
}

/// Upper bounds of the histograms' buckets in seconds, as Kubernetes' work queues have them; the last is infinite.
pub const BOUNDS: [f64; 10] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 60.0, 300.0, 1000.0];

/// Counters of one controller since the start of the process.
#[derive(Debug, Default)]
pub struct Stats {
    succeeded: AtomicU64,
    failed: AtomicU64,
    panicked: AtomicU64,
    timed_out: AtomicU64,
    waiting: Times,
    working: Times,
}

/// The counters at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts that failed with an error.
    pub failed: u64,
    /// Attempts that panicked.
    pub panicked: u64,
    /// Attempts that took longer than their deadline.
    pub timed_out: u64,
    /// Time between the addition of a key and the attempt at it.
    pub waiting: Histogram,
    /// Time that attempts took.
    pub working: Histogram,
}

impl Counts {
    /// All attempts.
    pub fn attempts(&self) -> u64 {
        self.succeeded + self.failures()
    }

    /// Attempts that did not succeed.
    pub fn failures(&self) -> u64 {
        self.failed + self.panicked + self.timed_out
    }
}

/// A histogram of durations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Durations up to each of [`BOUNDS`] and above the one before, and last those above all of them.
    pub counts: [u64; BOUNDS.len() + 1],
    /// Sum of all durations.
    pub sum: Duration,
}

impl Stats {
    /// A key waited this long for a worker.
    pub fn waited(&self, time: Duration) {
        self.waiting.add(time);
    }

    /// An attempt ended.
    pub fn attempted(&self, outcome: Outcome, took: Duration) {
        let count = match outcome {
            Outcome::Succeeded => &self.succeeded,
            Outcome::Failed => &self.failed,
            Outcome::Panicked => &self.panicked,
            Outcome::TimedOut => &self.timed_out,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.working.add(took);
    }

    /// The counters now.
    pub fn read(&self) -> Counts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            succeeded: of(&self.succeeded),
            failed: of(&self.failed),
            panicked: of(&self.panicked),
            timed_out: of(&self.timed_out),
            waiting: self.waiting.read(),
            working: self.working.read(),
        }
    }
}

#[derive(Debug, Default)]
struct Times {
    counts: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Times {
    fn add(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    fn read(&self) -> Histogram {
        Histogram {
            counts: std::array::from_fn(|bucket| self.counts[bucket].load(Ordering::Relaxed)),
            sum: Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)),
        }
    }
}
