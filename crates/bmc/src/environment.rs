//! What comes from outside: time, randomness and the shared count of logins.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::rand::SecureRandom;

use crate::ledger::{LoginLedger, MemoryLedger};

/// The time that failed logins are recorded with, which processes share.
pub trait Clock: Send + Sync {
    /// Time since the Unix epoch.
    fn now(&self) -> Duration;
}

/// A source of random bytes.
pub trait Random: Send + Sync {
    /// Fills a buffer.
    fn fill(&self, bytes: &mut [u8]);
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// The random bytes of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let filled = ring::rand::SystemRandom::new().fill(bytes);
        // Without randomness a session could be predicted; Linux has it from early boot on.
        filled.expect("the kernel gives random bytes");
    }
}

/// What every driver needs of its surroundings.
#[derive(Clone)]
pub struct Environment {
    /// Wall-clock time.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub random: Arc<dyn Random>,
    /// Failed logins per BMC, shared by all processes that log in to it.
    pub ledger: Arc<dyn LoginLedger>,
}

impl Environment {
    /// The machine's clock and randomness, with a ledger.
    pub fn new(ledger: Arc<dyn LoginLedger>) -> Environment {
        Environment { clock: Arc::new(SystemClock), random: Arc::new(SystemRandom), ledger }
    }

    /// With a ledger of this process alone: for tests and single-process programs.
    pub fn local() -> Environment {
        Environment::new(Arc::new(MemoryLedger::default()))
    }
}
