//! Gates in front of endpoints: how many calls at once, how many in a time, and a circuit breaker.
//!
//! A driver declares the limits of its endpoints. All controllers share the gates, so that two that talk to one BMC do not
//! exceed together what each keeps by itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::reconciler::{Execution, Outcome};

/// How long a call waits for its place and time, at most: less than an action may take.
pub const WAIT: Duration = Duration::from_secs(5);

/// Limits of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Calls at once.
    pub concurrency: usize,
    /// Shortest time between the beginnings of two calls.
    pub interval: Duration,
    /// Failures in a row after which the endpoint is left alone.
    pub failures: u32,
    /// How long it is left alone. Then one call tries whether it works again.
    pub pause: Duration,
}

impl Default for Limits {
    /// One call at a time, without a pause between calls; after five failures a minute of rest.
    fn default() -> Limits {
        let (interval, pause) = (Duration::ZERO, Duration::from_secs(60));
        Limits { concurrency: 1, interval, failures: 5, pause }
    }
}

/// The gates of all endpoints of a process.
#[derive(Clone, Default)]
pub struct Gates(Arc<Mutex<BTreeMap<String, Arc<Gate>>>>);

impl Gates {
    /// The gate of an endpoint, such as `bmc/10.0.0.1`. The limits are those of whoever asks first.
    pub fn of(&self, endpoint: &str, limits: Limits) -> Arc<Gate> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(endpoint.to_owned()).or_insert_with(|| Arc::new(Gate::new(limits))).clone()
    }

    /// The calls of all endpoints, by what comes before the slash in their names.
    pub fn classes(&self) -> BTreeMap<String, ClassState> {
        let gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut classes: BTreeMap<String, ClassState> = BTreeMap::new();
        for (endpoint, gate) in gates.iter() {
            let class = endpoint.split('/').next().unwrap_or_default();
            let class = classes.entry(class.to_owned()).or_default();
            let state = gate.lock();
            class.succeeded += state.counts.succeeded;
            class.failed += state.counts.failed;
            class.refused += state.counts.refused;
            class.resting += u64::from(state.closed_until.is_some());
        }
        classes
    }

    /// The endpoints that are left alone, and for how much longer.
    pub fn resting(&self) -> Vec<(String, Duration)> {
        let gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let resting = gates.iter().filter_map(|(endpoint, gate)| Some((endpoint.clone(), gate.rests()?)));
        resting.collect()
    }
}

/// Calls to the endpoints of a class since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassState {
    /// Calls that succeeded.
    pub succeeded: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that were not let through.
    pub refused: u64,
    /// Endpoints that are left alone now.
    pub resting: u64,
}

/// The gate of one endpoint.
pub struct Gate {
    limits: Limits,
    places: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the next call may begin.
    next: Option<Instant>,
    /// Failures in a row.
    failures: u32,
    /// Until when the endpoint is left alone.
    closed_until: Option<Instant>,
    /// Whether a call tries whether it works again.
    is_tried: bool,
    counts: ClassState,
}

/// Why a call may not begin: the endpoint has failed too often and is left alone, or too many wait for it. The action is
/// [pending](Resting::pending), so that no worker waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resting {
    /// For how much longer.
    pub pause: Duration,
}

/// A call that may be made. Tell how it ended; one that is dropped without that counts as failed.
#[must_use]
pub struct Pass {
    gate: Arc<Gate>,
    is_told: bool,
    _place: OwnedSemaphorePermit,
}

impl Resting {
    /// The outcome of an action that could not call the endpoint yet.
    pub fn pending(self, execution: &Execution) -> Outcome {
        Outcome::Pending(execution.handle.clone().unwrap_or_default(), self.pause)
    }
}

impl Gate {
    fn new(limits: Limits) -> Gate {
        let places = Arc::new(Semaphore::new(limits.concurrency.max(1)));
        Gate { limits, places, state: Mutex::default() }
    }

    /// Waits for a place and for its time, for [`WAIT`] at most. An endpoint that is left alone refuses at once, so that no
    /// worker waits for it.
    pub async fn enter(self: &Arc<Self>) -> Result<Pass, Resting> {
        let entered = self.wait().await;
        if entered.is_err() {
            self.lock().counts.refused += 1;
        }
        entered
    }

    async fn wait(self: &Arc<Self>) -> Result<Pass, Resting> {
        self.is_open()?;
        let until = Instant::now() + WAIT;
        let busy = Resting { pause: WAIT };
        // The semaphore is never closed.
        let place = tokio::time::timeout_at(until, self.places.clone().acquire_owned()).await;
        let place = place.ok().and_then(Result::ok).ok_or(busy)?;
        let begins = {
            let mut state = self.lock();
            let now = Instant::now();
            let begins = state.next.map_or(now, |next| next.max(now));
            if begins > until {
                return Err(Resting { pause: begins - now });
            }
            state.next = Some(begins + self.limits.interval);
            begins
        };
        tokio::time::sleep_until(begins).await;
        // Only from here on it is a call, which fails if it is given up.
        self.admit(&mut self.lock())?;
        Ok(Pass { gate: self.clone(), is_told: false, _place: place })
    }

    fn is_open(&self) -> Result<(), Resting> {
        let state = self.lock();
        match state.closed_until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(pause) if !pause.is_zero() => Err(Resting { pause }),
            Some(_) if state.is_tried => Err(Resting { pause: self.limits.pause }),
            _ => Ok(()),
        }
    }

    fn admit(&self, state: &mut State) -> Result<(), Resting> {
        let Some(until) = state.closed_until else { return Ok(()) };
        let pause = until.saturating_duration_since(Instant::now());
        if !pause.is_zero() {
            return Err(Resting { pause });
        }
        if std::mem::replace(&mut state.is_tried, true) {
            return Err(Resting { pause: self.limits.pause });
        }
        Ok(())
    }

    fn rests(&self) -> Option<Duration> {
        let until = self.lock().closed_until?;
        Some(until.saturating_duration_since(Instant::now()))
    }

    fn ended(&self, has_failed: bool) {
        let mut state = self.lock();
        let was_tried = std::mem::take(&mut state.is_tried);
        if has_failed {
            state.counts.failed += 1;
        } else {
            state.counts.succeeded += 1;
            (state.failures, state.closed_until) = (0, None);
            return;
        }
        state.failures += 1;
        if was_tried || state.failures >= self.limits.failures {
            state.closed_until = Some(Instant::now() + self.limits.pause);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass {
    /// The endpoint has answered.
    pub fn succeeded(mut self) {
        self.is_told = true;
        self.gate.ended(false);
    }

    /// The endpoint has not answered, or not as it should.
    pub fn failed(mut self) {
        self.is_told = true;
        self.gate.ended(true);
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if !self.is_told {
            self.gate.ended(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const LIMITS: Limits = Limits {
        concurrency: 2,
        interval: Duration::from_secs(1),
        failures: 3,
        pause: Duration::from_secs(60),
    };

    #[tokio::test(start_paused = true)]
    async fn calls_keep_their_number_and_their_distance_whoever_makes_them() {
        let (gates, begun) = (Gates::default(), Instant::now());
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let calls = (0..8).map(|_| {
            let (gate, now, most) = (gates.of("bmc/a", LIMITS), now.clone(), most.clone());
            tokio::spawn(async move {
                // Whoever is told to come later does.
                let pass = loop {
                    match gate.enter().await {
                        Ok(pass) => break pass,
                        Err(later) => tokio::time::sleep(later.pause.min(Duration::from_millis(100))).await,
                    }
                };
                let at = begun.elapsed().as_secs();
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_secs(5)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                pass.succeeded();
                at
            })
        });
        let mut times = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            times.push(call.await.unwrap());
        }
        times.sort_unstable();
        assert_eq!(most.load(Ordering::SeqCst), 2);
        assert_eq!(times, [0, 1, 5, 6, 10, 11, 15, 16], "a second apart, five seconds each, two at once");
    }

    #[tokio::test(start_paused = true)]
    async fn an_endpoint_that_keeps_failing_is_left_alone_and_then_tried_by_one_call() {
        let gate = Gates::default().of("bmc/a", Limits { concurrency: 4, ..LIMITS });
        for _ in 0..3 {
            gate.enter().await.unwrap().failed();
        }
        let refused = gate.enter().await.err().unwrap();
        assert!(refused.pause > Duration::from_secs(50), "{refused:?}");
        tokio::time::sleep(LIMITS.pause).await;
        let first = gate.enter().await.unwrap();
        assert!(gate.enter().await.is_err(), "one call tries, the others wait");
        first.failed();
        assert!(gate.enter().await.is_err(), "it still fails: another rest");
        tokio::time::sleep(LIMITS.pause).await;
        gate.enter().await.unwrap().succeeded();
        gate.enter().await.unwrap().succeeded();
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_long_and_giving_up_the_wait_is_no_failure() {
        let gates = Gates::default();
        let gate = gates.of("bmc/a", Limits { concurrency: 1, interval: Duration::ZERO, ..LIMITS });
        let pass = gate.enter().await.unwrap();
        let begun = Instant::now();
        assert!(gate.enter().await.is_err(), "the only place is taken");
        assert_eq!(begun.elapsed(), WAIT);
        for _ in 0..5 {
            assert!(tokio::time::timeout(Duration::from_secs(1), gate.enter()).await.is_err());
        }
        pass.succeeded();
        gate.enter().await.unwrap().failed();
        let state = gates.classes()["bmc"];
        assert_eq!(state, ClassState { succeeded: 1, failed: 1, refused: 1, resting: 0 });
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_cancelled_counts_as_failed_and_frees_its_place() {
        let gates = Gates::default();
        let gate = gates.of("bmc/a", Limits { concurrency: 1, ..LIMITS });
        for _ in 0..3 {
            drop(gate.enter().await.unwrap());
        }
        assert!(gate.enter().await.is_err());
        assert_eq!(gates.resting().len(), 1);
        assert_eq!(gates.resting()[0].0, "bmc/a");
    }
}
