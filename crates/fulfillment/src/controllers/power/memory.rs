//! What the power controller knows of BMCs: what was read last, and what failed. It goes with the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bmc::power::PowerState;
use krm::condition::Finding;
use reconcile::reconciler::Bell;
use reconcile::target::Target;
use serde_json::Value;
use tokio::time::Instant;

use super::BMC_REACHABLE;
use crate::bmcs::Failure;

/// Pause after the first failure, which doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(15);
/// Longest pause after failures.
const LONGEST_PAUSE: Duration = Duration::from_secs(900);

/// What is known of the BMCs of hosts.
#[derive(Default)]
pub struct Memory {
    hosts: Mutex<HashMap<String, Known>>,
    bell: Mutex<Option<Bell>>,
}

#[derive(Default)]
struct Known {
    /// Whether it is being read.
    is_reading: bool,
    reading: Option<Arc<Reading>>,
    /// Changes that failed in a row, the last one's reason, and until when none is tried.
    failures: u32,
    failure: Option<String>,
    rest: Option<Instant>,
}

/// What was read last.
pub struct Reading {
    /// Of the address and the credentials that it was read with.
    fingerprint: Value,
    /// Generation of the host and epoch of its claim at that time.
    occasion: Value,
    at: Instant,
    /// Failures in a row, this one included.
    failures: u32,
    found: Result<(PowerState, Option<(String, String)>), Told>,
}

struct Told {
    reason: &'static str,
    message: String,
    retry: Option<Duration>,
}

impl Reading {
    /// The power state.
    pub fn power(&self) -> Option<PowerState> {
        self.found.as_ref().ok().map(|(state, _)| *state)
    }

    /// The certificate to pin, with the address that presented it.
    pub fn pin(&self) -> Option<&(String, String)> {
        self.found.as_ref().ok()?.1.as_ref()
    }

    /// When it is to be read again.
    pub fn due_in(&self, every: Duration) -> Duration {
        let pause = match &self.found {
            Ok((state, _)) if !state.is_settled() => super::CHANGING,
            Ok(_) => every,
            Err(told) => told.retry.unwrap_or_else(|| pause(self.failures)),
        };
        pause.saturating_sub(self.at.elapsed())
    }

    /// What the condition of the host says.
    pub fn finding(&self) -> Finding {
        match &self.found {
            Ok(_) => Finding::holds(BMC_REACHABLE, "Read", "the power state was read"),
            Err(told) => Finding::fails(BMC_REACHABLE, told.reason, told.message.clone()),
        }
    }
}

fn pause(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(LONGEST_PAUSE)
}

impl Memory {
    /// Takes the bell that has an object planned again.
    pub fn attach(&self, bell: Bell) {
        *self.bell.lock().unwrap_or_else(PoisonError::into_inner) = Some(bell);
    }

    /// Has an object planned again.
    pub fn ring(&self, target: &Target) {
        let bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner).clone();
        bell.iter().for_each(|bell| bell(target));
    }

    /// What was read last with this address and these credentials, on this occasion.
    pub fn reading(&self, host: &str, fingerprint: &Value, occasion: &Value) -> Option<Arc<Reading>> {
        let mut hosts = self.hosts();
        let known = hosts.get_mut(host)?;
        if known.reading.as_ref().is_some_and(|reading| reading.fingerprint != *fingerprint) {
            // Other credentials may work where the last ones did not.
            *known = Known { is_reading: known.is_reading, ..Known::default() };
        }
        // It is read again; what failed stays known.
        known.reading.clone().filter(|reading| reading.occasion == *occasion)
    }

    /// Begins to read; `false` if that goes on already.
    pub fn begin(&self, host: &str) -> bool {
        !std::mem::replace(&mut self.hosts().entry(host.to_owned()).or_default().is_reading, true)
    }

    /// Ends reading without a result.
    pub fn end(&self, host: &str) {
        if let Some(known) = self.hosts().get_mut(host) {
            known.is_reading = false;
        }
    }

    /// Whether a host is being read.
    pub fn is_reading(&self, host: &str) -> bool {
        self.hosts().get(host).is_some_and(|known| known.is_reading)
    }

    /// Keeps what was read.
    pub fn read(
        &self,
        host: &str,
        (fingerprint, occasion): (&Value, &Value),
        read: Result<(PowerState, Option<(String, String)>), Failure>,
    ) {
        let mut hosts = self.hosts();
        let known = hosts.entry(host.to_owned()).or_default();
        known.is_reading = false;
        let before = known.reading.as_ref().map_or(0, |reading| reading.failures);
        let failures = if read.is_err() { before + 1 } else { 0 };
        let found = read.map_err(|failure| Told {
            reason: failure.reason(),
            message: failure.to_string(),
            retry: failure.retry_after(),
        });
        let (fingerprint, occasion, at) = (fingerprint.clone(), occasion.clone(), Instant::now());
        known.reading = Some(Arc::new(Reading { fingerprint, occasion, at, failures, found }));
    }

    /// Keeps how a change ended.
    pub fn changed(&self, host: &str, failure: Option<&str>, state: PowerState) {
        let mut hosts = self.hosts();
        let known = hosts.entry(host.to_owned()).or_default();
        match failure {
            Some(why) => {
                known.failures += 1;
                known.failure = Some(why.to_owned());
                known.rest = Some(Instant::now() + pause(known.failures));
            }
            None => {
                (known.failures, known.failure, known.rest) = (0, None, None);
                let Some(reading) = &known.reading else { return };
                let pin = reading.pin().cloned();
                let (fingerprint, occasion) = (reading.fingerprint.clone(), reading.occasion.clone());
                let (at, found) = (Instant::now(), Ok((state, pin)));
                known.reading = Some(Arc::new(Reading { fingerprint, occasion, at, failures: 0, found }));
            }
        }
    }

    /// For how much longer no change is tried, after failures.
    pub fn resting(&self, host: &str) -> Option<Duration> {
        let rest = self.hosts().get(host)?.rest?;
        let left = rest.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// The same, or a moment.
    pub fn rest(&self, host: &str) -> Duration {
        self.resting(host).unwrap_or(FIRST_PAUSE)
    }

    /// Why the last change failed.
    pub fn failure(&self, host: &str) -> Option<String> {
        self.hosts().get(host)?.failure.clone()
    }

    /// Forgets a host.
    pub fn forget(&self, host: &str) {
        self.hosts().remove(host);
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
