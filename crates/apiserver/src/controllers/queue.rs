//! A work queue of keys: each key once, never processed concurrently, with exponential backoff on failure.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The pause after the first failure; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Keys to work on.
pub struct Queue<K> {
    state: Mutex<State<K>>,
    changed: Notify,
}

struct State<K> {
    ready: VecDeque<K>,
    /// Waiting in `ready`, or to be put there once the current worker is done.
    wanted: HashSet<K>,
    working: HashSet<K>,
    later: BinaryHeap<Reverse<(Instant, u64)>>,
    /// The keys of `later`, by their number.
    delayed: HashMap<u64, K>,
    /// When each of them comes first.
    soonest: HashMap<K, Instant>,
    next: u64,
    failures: HashMap<K, u32>,
    is_closed: bool,
}

impl<K> Default for State<K> {
    fn default() -> State<K> {
        State {
            ready: VecDeque::new(),
            wanted: HashSet::new(),
            working: HashSet::new(),
            later: BinaryHeap::new(),
            delayed: HashMap::new(),
            soonest: HashMap::new(),
            next: 0,
            failures: HashMap::new(),
            is_closed: false,
        }
    }
}

impl<K> Default for Queue<K> {
    fn default() -> Queue<K> {
        Queue { state: Mutex::default(), changed: Notify::new() }
    }
}

impl<K: Eq + Hash + Clone> Queue<K> {
    /// Wants a key to be worked on. If somebody works on it now, it is worked on again after.
    pub fn add(&self, key: K) {
        let mut state = self.lock();
        if state.is_closed || !state.wanted.insert(key.clone()) {
            return;
        }
        if !state.working.contains(&key) {
            state.ready.push_back(key);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Wants a key to be worked on after a while. If it comes before that anyway, once is enough: whoever works on it
    /// then sees whether it has to come again.
    pub fn add_after(&self, key: K, pause: Duration) {
        let at = Instant::now() + pause;
        let mut state = self.lock();
        if state.soonest.get(&key).is_some_and(|soonest| *soonest <= at) {
            return;
        }
        let number = state.next;
        state.next += 1;
        state.soonest.insert(key.clone(), at);
        state.later.push(Reverse((at, number)));
        state.delayed.insert(number, key);
        drop(state);
        self.changed.notify_one();
    }

    /// The next key; whoever takes it says when it is [done](Queue::done). `None` once the queue is closed.
    pub async fn take(&self) -> Option<K> {
        loop {
            let until = {
                let mut state = self.lock();
                if state.is_closed {
                    return None;
                }
                let until = state.ripen();
                if let Some(key) = state.ready.pop_front() {
                    state.wanted.remove(&key);
                    state.working.insert(key.clone());
                    if !state.ready.is_empty() {
                        self.changed.notify_one();
                    }
                    return Some(key);
                }
                until
            };
            match until {
                Some(until) => {
                    tokio::select! {
                        () = self.changed.notified() => {}
                        () = tokio::time::sleep_until(until) => {}
                    }
                }
                None => self.changed.notified().await,
            }
        }
    }

    /// The work on a key is over: well, or to be tried again after a pause that grows with each failure.
    pub fn done(&self, key: &K, well: bool) {
        let mut state = self.lock();
        state.working.remove(key);
        if state.wanted.contains(key) {
            state.ready.push_back(key.clone());
        }
        if well {
            state.failures.remove(key);
            drop(state);
            self.changed.notify_one();
            return;
        }
        let failures = state.failures.entry(key.clone()).or_default();
        let pause = FIRST_PAUSE.saturating_mul(1 << (*failures).min(20)).min(LONGEST_PAUSE);
        *failures += 1;
        drop(state);
        self.add_after(key.clone(), pause);
    }

    /// How many keys wait to be worked on now.
    pub fn depth(&self) -> usize {
        self.lock().ready.len()
    }

    /// No more keys are handed out.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_waiters();
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Clone> State<K> {
    /// Moves keys whose time has come to those that are ready; when the next one's comes.
    fn ripen(&mut self) -> Option<Instant> {
        let now = Instant::now();
        while let Some(Reverse((at, number))) = self.later.peek().copied() {
            if at > now {
                return Some(at);
            }
            self.later.pop();
            let Some(key) = self.delayed.remove(&number) else { continue };
            if self.soonest.get(&key) == Some(&at) {
                self.soonest.remove(&key);
            }
            if self.wanted.insert(key.clone()) && !self.working.contains(&key) {
                self.ready.push_back(key);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_is_handed_out_once_however_often_it_is_wanted() {
        let queue = Queue::default();
        queue.add("a");
        queue.add("a");
        queue.add("b");
        assert_eq!(queue.take().await, Some("a"));
        assert_eq!(queue.take().await, Some("b"));
        assert_eq!(queue.depth(), 0);
    }

    #[tokio::test]
    async fn a_key_wanted_while_it_is_worked_on_comes_again_after() {
        let queue = Queue::default();
        queue.add("a");
        assert_eq!(queue.take().await, Some("a"));
        queue.add("a");
        assert_eq!(queue.depth(), 0, "two must not work on one key");
        queue.done(&"a", true);
        assert_eq!(queue.take().await, Some("a"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_failing_key_comes_later_and_later_until_it_succeeds() {
        let queue = Queue::default();
        queue.add("a");
        let mut pauses = Vec::new();
        for _ in 0..4 {
            let before = Instant::now();
            let key = queue.take().await.unwrap();
            pauses.push(before.elapsed());
            queue.done(&key, false);
        }
        assert!(pauses.windows(2).all(|pair| pair[0] < pair[1]), "{pauses:?}");
        let key = queue.take().await.unwrap();
        queue.done(&key, true);
        queue.add("a");
        let before = Instant::now();
        queue.take().await.unwrap();
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_comes_soon_does_not_come_again_after() {
        let queue = Queue::default();
        queue.add_after("a", Duration::from_secs(2));
        queue.add_after("a", Duration::from_secs(1));
        queue.add_after("a", Duration::from_secs(3));
        let begun = Instant::now();
        for second in [1, 2] {
            let key = queue.take().await.unwrap();
            assert_eq!(begun.elapsed().as_secs(), second);
            queue.done(&key, true);
        }
        let third = tokio::time::timeout(Duration::from_secs(60), queue.take()).await;
        assert!(third.is_err(), "three wishes, the last of them after the others");
    }

    #[tokio::test]
    async fn a_closed_queue_sends_everybody_home() {
        let queue = std::sync::Arc::new(Queue::<&str>::default());
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.take().await }
        });
        tokio::task::yield_now().await;
        queue.close();
        assert_eq!(waiting.await.unwrap(), None);
    }
}
