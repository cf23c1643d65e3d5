//! The time of a simulation: that of the runtime, which may be paused.

use std::time::Instant;

use crate::clock::Clock;

/// Starts at a given time of day and goes on with the clock of the tokio runtime that it is made in: with
/// `tokio::time::pause` it stands still until everybody sleeps.
#[derive(Debug)]
pub struct SimulatedClock {
    start: u64,
    began: tokio::time::Instant,
}

impl SimulatedClock {
    /// It is `start` now, in microseconds since 1970.
    pub fn starting_at(start: u64) -> SimulatedClock {
        SimulatedClock { start, began: tokio::time::Instant::now() }
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> u64 {
        self.start + self.began.elapsed().as_micros() as u64
    }

    fn instant(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}
