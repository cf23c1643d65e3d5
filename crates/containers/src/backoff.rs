//! How long to wait before something is tried again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A wait that doubles with every failure in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// A run that lasted that long counts as a success: the next failure is the first again.
    pub forgiven_after: Duration,
}

impl Default for Backoff {
    /// One second, doubled up to five minutes, forgiven after ten.
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(300),
            forgiven_after: Duration::from_secs(600),
        }
    }
}

impl Backoff {
    /// The wait after this many failures in a row.
    pub fn wait(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        self.first.saturating_mul(1 << doublings).min(self.longest)
    }
}
