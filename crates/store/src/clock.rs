//! The time, as the store writes it down.

use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

/// A clock that never stands still or goes back, whatever the machine's does.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    last: u64,
}

impl Clock {
    pub fn starting_after(last: u64) -> Clock {
        Clock { last }
    }

    pub fn tick(&mut self) -> u64 {
        self.last = now().max(self.last + 1);
        self.last
    }
}
