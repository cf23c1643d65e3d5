//! What many clients did, counted together, so that they go on until enough of everything has happened.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long clients try before nobody waits for what hardly ever happens: a slow machine needs longer for as much.
const MOST: Duration = Duration::from_secs(90);

/// The answers of all clients by what they tried.
#[derive(Clone)]
pub struct Tally {
    counts: Arc<Mutex<BTreeMap<(&'static str, u16), usize>>>,
    wanted: &'static [&'static str],
    more_than: usize,
    begun: Instant,
    least: Duration,
}

impl Tally {
    /// Goes on for `least`, and until each of `wanted` went well more than `more_than` times.
    pub fn new(least: Duration, wanted: &'static [&'static str], more_than: usize) -> Tally {
        Tally { counts: Arc::default(), wanted, more_than, begun: Instant::now(), least }
    }

    /// Whether there is more to try.
    pub fn goes_on(&self) -> bool {
        let spent = self.begun.elapsed();
        spent < self.least || spent < MOST && self.rare().is_some()
    }

    /// Counts an answer.
    pub fn add(&self, what: &'static str, code: u16) {
        *self.counts().entry((what, code)).or_default() += 1;
    }

    /// Whether something was answered so.
    pub fn has(&self, what: &'static str, code: u16) -> bool {
        self.counts().contains_key(&(what, code))
    }

    /// Fails if something that is wanted hardly ever happened.
    pub fn assert_enough(&self) {
        assert_eq!(self.rare(), None, "hardly ever happened: {self}");
    }

    fn rare(&self) -> Option<&'static str> {
        let counts = self.counts();
        let well = |what| [200, 201].into_iter().filter_map(|code| counts.get(&(what, code))).sum::<usize>();
        self.wanted.iter().copied().find(|what| well(*what) <= self.more_than)
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, BTreeMap<(&'static str, u16), usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{:?}", self.counts())
    }
}
