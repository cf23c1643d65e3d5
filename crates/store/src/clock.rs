//! The time, as the store writes it down and as leases run out by it.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::steady::Steady;

/// Where a store takes the time from. A simulation passes one of its own.
pub trait Clock: Send + Sync + 'static {
    /// The time of day, in microseconds since 1970.
    fn now(&self) -> u64;

    /// The monotonic time. Leases run out by it.
    fn instant(&self) -> Instant;

    /// Whether the time of day has not jumped lately. If it has, nothing is let go of for being old.
    fn is_settled(&self) -> bool {
        true
    }
}

/// The machine's clocks. The time of day follows the machine's, but for jumps, which count after a while.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        now()
    }

    fn instant(&self) -> Instant {
        Instant::now()
    }

    fn is_settled(&self) -> bool {
        STEADY.is_settled(Instant::now())
    }
}

static STEADY: LazyLock<Steady> = LazyLock::new(Steady::default);

/// Microseconds since 1970, by the machine's clock.
pub(crate) fn now() -> u64 {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64);
    STEADY.at(wall, Instant::now())
}

/// The times of commits: they never stand still or go back, whatever the clock does.
#[derive(Debug, Default)]
pub(crate) struct Ticks {
    last: u64,
}

impl Ticks {
    pub fn starting_after(last: u64) -> Ticks {
        Ticks { last }
    }

    /// The time of the next commit, which is made at `now`.
    pub fn next(&mut self, now: u64) -> u64 {
        self.last = now.max(self.last + 1);
        self.last
    }
}
