//! Time, as it is passed in.

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use tokio::time::Instant;

/// A clock that can be waited on.
pub trait Clock: Send + Sync + 'static {
    /// The time of day.
    fn now(&self) -> SystemTime;

    /// Completes after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The clock of the tokio runtime. Where its time is paused, so is the time of day.
#[derive(Debug, Clone)]
pub struct TokioClock {
    started: Instant,
    started_at: SystemTime,
}

impl TokioClock {
    /// A clock that shows the system's time of day now.
    pub fn new() -> Self {
        Self::starting_at(SystemTime::now())
    }

    /// A clock that shows `started_at` now. Tests with paused time get the same times of day in every run.
    pub fn starting_at(started_at: SystemTime) -> Self {
        Self { started: Instant::now(), started_at }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now(&self) -> SystemTime {
        self.started_at + self.started.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}
