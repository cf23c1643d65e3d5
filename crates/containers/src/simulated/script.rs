//! What a simulated container does.

use std::time::Duration;

use crate::error::Error;
use crate::state::ExitCause;

/// What containers of an image do, and when.
#[derive(Debug, Clone)]
pub struct Script {
    /// How long the pull takes.
    pub pull_takes: Duration,
    /// Size of the image, in bytes, as the progress of the pull shows it.
    pub image_bytes: u64,
    /// Why the pull fails, at its end. None succeeds.
    pub pull_fails: Option<Error>,
    /// How many pulls fail before one succeeds. None: all of them, where `pull_fails` is set.
    pub pull_fails_times: Option<u32>,
    /// How long it takes from the pull to running.
    pub start_takes: Duration,
    /// Why the start fails, instead of running. None succeeds.
    pub start_fails: Option<Error>,
    /// How long it takes from running to ready. None: never.
    pub ready_after: Option<Duration>,
    /// How a run ends by itself. None runs until it is stopped.
    pub ends: Option<Ending>,
    /// How many runs end by themselves before one lasts. None: all of them, where `ends` is set.
    pub ends_times: Option<u32>,
    /// How long it takes to end after SIGTERM. Longer than the grace period: it is killed then.
    pub stop_takes: Duration,
    /// The lines that a run writes when it starts.
    pub writes: Vec<String>,
}

impl Default for Script {
    /// Pulled, started and ready at once, running until stopped, and stopped at once.
    fn default() -> Self {
        Self {
            pull_takes: Duration::ZERO,
            image_bytes: 1 << 20,
            pull_fails: None,
            pull_fails_times: None,
            start_takes: Duration::ZERO,
            start_fails: None,
            ready_after: Some(Duration::ZERO),
            ends: None,
            ends_times: None,
            stop_takes: Duration::ZERO,
            writes: Vec::new(),
        }
    }
}

/// How a run ends by itself.
#[derive(Debug, Clone)]
pub struct Ending {
    /// How long it runs.
    pub after: Duration,
    /// How it ends.
    pub cause: ExitCause,
    /// The last lines that it writes.
    pub last_lines: Vec<String>,
}
