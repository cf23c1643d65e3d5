//! Pauses between failed attempts: they double, up to a limit, with jitter from outside.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// Pause after the first failure.
const FIRST: Duration = Duration::from_millis(5);
/// Longest pause.
const LONGEST: Duration = Duration::from_secs(300);

/// A source of random numbers. A simulation passes one with a seed.
pub type Randomness = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Randomness of the operating system, as the standard library seeds its hash maps with it.
pub fn system_randomness() -> Randomness {
    let state = RandomState::new();
    let calls = std::sync::atomic::AtomicU64::new(0);
    Arc::new(move || state.hash_one(calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed)))
}

/// How long to wait before the next attempt.
#[derive(Clone)]
pub struct Backoff {
    jitter: Option<Randomness>,
}

impl Backoff {
    /// Pauses between half and all of their length, so that keys that failed together do not come back together.
    pub fn with_jitter(randomness: Randomness) -> Backoff {
        Backoff { jitter: Some(randomness) }
    }

    /// Exact pauses.
    pub fn without_jitter() -> Backoff {
        Backoff { jitter: None }
    }

    /// The pause after this many failed attempts in a row, the first being 1.
    pub fn pause(&self, attempts: u32) -> Duration {
        let whole = FIRST.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(LONGEST);
        match &self.jitter {
            None => whole,
            Some(random) => {
                let part = f64::from(u32::try_from(random() >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX);
                whole.mul_f64(0.5 + part / 2.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_five_minutes() {
        let backoff = Backoff::without_jitter();
        assert_eq!(backoff.pause(1), Duration::from_millis(5));
        assert_eq!(backoff.pause(2), Duration::from_millis(10));
        assert_eq!(backoff.pause(40), Duration::from_secs(300));
    }

    #[test]
    fn jitter_takes_away_up_to_half_and_differs() {
        let backoff = Backoff::with_jitter(system_randomness());
        let pauses: Vec<_> = (0..100).map(|_| backoff.pause(40)).collect();
        assert!(pauses.iter().all(|it| (150.0..=300.0).contains(&it.as_secs_f64())), "{pauses:?}");
        assert!(pauses.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
