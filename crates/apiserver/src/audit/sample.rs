//! Which of many like events are written: all of what is done, and some of what is refused again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::{Event, Stage};
use crate::identity::UNAUTHENTICATED;

/// Refused requests of one user that are written each second, and how many at once.
const REFUSED: Rate = Rate { per_second: 20.0, at_once: 1_000.0 };
/// Requests without credentials that are written each second, and how many at once.
const ANONYMOUS: Rate = Rate { per_second: 50.0, at_once: 1_000.0 };
/// Users of which is remembered how much they were refused.
const MOST_USERS: usize = 10_000;

#[derive(Clone, Copy)]
struct Rate {
    per_second: f64,
    at_once: f64,
}

/// Whether an event is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admitted {
    /// It is, after so many of its kind that were not.
    After(u64),
    /// It is not.
    No,
}

/// Counts events that are like others.
#[derive(Default)]
pub(super) struct Sampler {
    buckets: Mutex<HashMap<Arc<str>, Bucket>>,
}

struct Bucket {
    room: f64,
    at: Instant,
    left_out: u64,
}

impl Sampler {
    /// Whether an event is written. What was done always is.
    pub(super) fn admit(&self, event: &Event, now: Instant) -> Admitted {
        let is_refused = event.outcome.as_ref().is_some_and(|(code, _)| matches!(code, 401 | 403 | 429));
        let rate = match is_unauthenticated(event) {
            true => ANONYMOUS,
            false if is_refused && event.stage != Stage::Panic => REFUSED,
            false => return Admitted::After(0),
        };
        // Whoever failed to prove a name has none.
        let user = if is_unauthenticated(event) { Arc::default() } else { event.user.user.clone() };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST_USERS && !buckets.contains_key(&user) {
            buckets
                .retain(|_, bucket| bucket.left_out > 0 || bucket.refilled(REFUSED, now) < REFUSED.at_once);
            if buckets.len() >= MOST_USERS {
                return Admitted::No;
            }
        }
        let bucket = buckets.entry(user).or_insert(Bucket { room: rate.at_once, at: now, left_out: 0 });
        (bucket.room, bucket.at) = (bucket.refilled(rate, now), now);
        if bucket.room < 1.0 {
            bucket.left_out += 1;
            return Admitted::No;
        }
        bucket.room -= 1.0;
        Admitted::After(std::mem::take(&mut bucket.left_out))
    }
}

impl Bucket {
    fn refilled(&self, rate: Rate, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        (self.room + passed * rate.per_second).min(rate.at_once)
    }
}

/// Whether a request was made without credentials, or with some that prove nothing.
pub(super) fn is_unauthenticated(event: &Event) -> bool {
    event.user.user.is_empty() || event.user.is_in(UNAUTHENTICATED)
}
