//! The keyed work queue: each key once, never two workers on one key, planes take turns, failures back off.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::backoff::Backoff;

/// Keys to work on.
///
/// Keys belong to lanes, which take turns: 100,000 keys of one lane delay a key of another by one turn.
pub struct Queue<K> {
    state: Mutex<State<K>>,
    changed: Notify,
    lane_of: fn(&K) -> &str,
    backoff: Backoff,
}

struct State<K> {
    lanes: HashMap<String, VecDeque<K>>,
    /// The lanes that have keys, in the order of their turns.
    turns: VecDeque<String>,
    ready: usize,
    /// When each key was asked for that waits to be worked on, now or once whoever works on it is done.
    wanted: HashMap<K, Instant>,
    working: HashMap<K, Instant>,
    later: BinaryHeap<Reverse<(Instant, u64)>>,
    /// The keys of `later`, by their number.
    delayed: HashMap<u64, K>,
    /// The earliest time at which each of them comes.
    soonest: HashMap<K, Instant>,
    next: u64,
    failures: HashMap<K, Failing>,
    adds: u64,
    retries: u64,
    is_closed: bool,
}

/// A key whose last attempts failed.
#[derive(Debug, Clone)]
pub struct Failing {
    /// Failed attempts since the last success.
    pub attempts: u32,
    /// When the first of them failed.
    pub since: Instant,
    /// Error of the last one.
    pub error: Arc<str>,
}

/// Size and age of a queue at one moment.
#[derive(Debug, Clone, Default)]
pub struct Depth {
    /// Keys that wait for a worker.
    pub ready: usize,
    /// Keys that wait for their time: a requested next look, or the back-off after a failure.
    pub delayed: usize,
    /// How long the first of them still waits.
    pub next: Option<Duration>,
    /// Keys that a worker has.
    pub working: usize,
    /// How long the key that waits longest for a worker has waited.
    pub oldest: Duration,
    /// How long the attempt that runs longest has run.
    pub longest_running: Duration,
    /// How often a key was added, in all.
    pub adds: u64,
    /// How often a key was added again after a failure, in all.
    pub retries: u64,
}

impl<K: Eq + Hash + Clone> Queue<K> {
    /// An empty queue; `lane_of` gives the lane of a key.
    pub fn new(lane_of: fn(&K) -> &str, backoff: Backoff) -> Queue<K> {
        let state = State {
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            ready: 0,
            wanted: HashMap::new(),
            working: HashMap::new(),
            later: BinaryHeap::new(),
            delayed: HashMap::new(),
            soonest: HashMap::new(),
            next: 0,
            failures: HashMap::new(),
            adds: 0,
            retries: 0,
            is_closed: false,
        };
        Queue { state: Mutex::new(state), changed: Notify::new(), lane_of, backoff }
    }

    /// Adds a key. If a worker has it now, it is worked on again afterwards.
    pub fn add(&self, key: K) {
        let mut state = self.lock();
        if state.is_closed || state.wanted.contains_key(&key) {
            return;
        }
        state.adds += 1;
        state.wanted.insert(key.clone(), Instant::now());
        if !state.working.contains_key(&key) {
            state.push(self.lane_of, key);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Adds a key after a pause. If it is worked on before that anyway, once is enough: that attempt decides whether
    /// it has to come again.
    pub fn add_after(&self, key: K, pause: Duration) {
        let at = Instant::now() + pause;
        let mut state = self.lock();
        if state.is_closed || state.soonest.get(&key).is_some_and(|soonest| *soonest <= at) {
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

    /// The next key, with the time it has waited. Whoever takes it calls [`Queue::succeeded`] or [`Queue::failed`].
    /// `None` once the queue is closed.
    pub async fn take(&self) -> Option<(K, Duration)> {
        loop {
            let until = {
                let mut state = self.lock();
                if state.is_closed {
                    return None;
                }
                let until = state.ripen(self.lane_of);
                if let Some(key) = state.pop() {
                    let now = Instant::now();
                    let since = state.wanted.remove(&key).unwrap_or(now);
                    state.working.insert(key.clone(), now);
                    if state.ready > 0 {
                        self.changed.notify_one();
                    }
                    return Some((key, now - since));
                }
                until
            };
            match until {
                Some(until) => tokio::select! {
                    biased;
                    () = self.changed.notified() => {}
                    () = tokio::time::sleep_until(until) => {}
                },
                None => self.changed.notified().await,
            }
        }
    }

    /// The attempt at a key succeeded; it comes again after `again`, if that is set.
    pub fn succeeded(&self, key: &K, again: Option<Duration>) {
        let mut state = self.lock();
        state.failures.remove(key);
        state.finish(self.lane_of, key);
        drop(state);
        if let Some(pause) = again {
            self.add_after(key.clone(), pause);
        }
        self.changed.notify_one();
    }

    /// The attempt at a key failed; it comes again after a pause that grows with each failure. Returns the number of
    /// attempts that failed in a row.
    pub fn failed(&self, key: &K, error: &str) -> u32 {
        let mut state = self.lock();
        let failing = state.failures.entry(key.clone()).or_insert_with(|| Failing {
            attempts: 0,
            since: Instant::now(),
            error: "".into(),
        });
        failing.attempts += 1;
        failing.error = error.into();
        let attempts = failing.attempts;
        state.retries += 1;
        state.finish(self.lane_of, key);
        drop(state);
        self.add_after(key.clone(), self.backoff.pause(attempts));
        self.changed.notify_one();
        attempts
    }

    /// Size and age.
    pub fn depth(&self) -> Depth {
        let state = self.lock();
        let now = Instant::now();
        let age =
            |times: &mut dyn Iterator<Item = &Instant>| times.min().map_or(Duration::ZERO, |at| now - *at);
        // The first key of a lane is its oldest.
        let mut first = state.lanes.values().filter_map(|keys| state.wanted.get(keys.front()?));
        Depth {
            ready: state.ready,
            delayed: state.delayed.len(),
            next: state.later.peek().map(|Reverse((at, _))| at.saturating_duration_since(now)),
            working: state.working.len(),
            oldest: age(&mut first),
            longest_running: age(&mut state.working.values()),
            adds: state.adds,
            retries: state.retries,
        }
    }

    /// The keys that fail, those with the most attempts first, `most` of them.
    pub fn failing(&self, most: usize) -> Vec<(K, Failing)> {
        let state = self.lock();
        let mut failing: Vec<_> = state.failures.iter().map(|(key, it)| (key.clone(), it.clone())).collect();
        failing.sort_by_key(|(_, failing)| (Reverse(failing.attempts), failing.since));
        failing.truncate(most);
        failing
    }

    /// Ends all waiting: nobody gets a key any more.
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
    fn push(&mut self, lane_of: fn(&K) -> &str, key: K) {
        self.ready += 1;
        let lane = lane_of(&key);
        if let Some(keys) = self.lanes.get_mut(lane) {
            return keys.push_back(key);
        }
        let lane = lane.to_owned();
        self.turns.push_back(lane.clone());
        self.lanes.insert(lane, VecDeque::from([key]));
    }

    fn pop(&mut self) -> Option<K> {
        let lane = self.turns.pop_front()?;
        let keys = self.lanes.get_mut(&lane)?;
        let key = keys.pop_front();
        self.ready -= usize::from(key.is_some());
        if keys.is_empty() {
            // An idle lane costs nothing.
            self.lanes.remove(&lane);
        } else {
            self.turns.push_back(lane);
        }
        key
    }

    fn finish(&mut self, lane_of: fn(&K) -> &str, key: &K) {
        self.working.remove(key);
        if self.wanted.contains_key(key) {
            self.push(lane_of, key.clone());
        }
    }

    /// Moves keys whose time has come to those that are ready; returns when the next one's comes.
    fn ripen(&mut self, lane_of: fn(&K) -> &str) -> Option<Instant> {
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
            if self.wanted.contains_key(&key) {
                continue;
            }
            self.wanted.insert(key.clone(), now);
            if !self.working.contains_key(&key) {
                self.push(lane_of, key);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Queue<&'static str> {
        Queue::new(|key| key.split_once('/').map_or("", |(lane, _)| lane), Backoff::without_jitter())
    }

    async fn take(queue: &Queue<&'static str>) -> &'static str {
        queue.take().await.unwrap().0
    }

    #[tokio::test]
    async fn a_key_is_handed_out_once_however_often_it_is_added() {
        let queue = queue();
        queue.add("a");
        queue.add("a");
        queue.add("b");
        assert_eq!(take(&queue).await, "a");
        assert_eq!(take(&queue).await, "b");
        assert_eq!((queue.depth().ready, queue.depth().working), (0, 2));
    }

    #[tokio::test]
    async fn a_key_added_while_it_is_worked_on_comes_again_afterwards() {
        let queue = queue();
        queue.add("a");
        assert_eq!(take(&queue).await, "a");
        queue.add("a");
        assert_eq!(queue.depth().ready, 0, "two must not work on one key");
        queue.succeeded(&"a", None);
        assert_eq!(take(&queue).await, "a");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failing_key_comes_later_and_later_until_it_succeeds() {
        let queue = queue();
        queue.add("a");
        let mut pauses = Vec::new();
        for attempt in 1..5 {
            let before = Instant::now();
            let key = take(&queue).await;
            pauses.push(before.elapsed());
            assert_eq!(queue.failed(&key, "no"), attempt);
        }
        assert!(pauses.windows(2).all(|pair| pair[0] < pair[1]), "{pauses:?}");
        let failing = queue.failing(10);
        assert_eq!((failing[0].0, failing[0].1.attempts, &*failing[0].1.error), ("a", 4, "no"));
        let key = take(&queue).await;
        queue.succeeded(&key, None);
        assert!(queue.failing(10).is_empty());
        queue.add("a");
        let before = Instant::now();
        take(&queue).await;
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_comes_soon_does_not_come_again_later() {
        let queue = queue();
        queue.add_after("a", Duration::from_secs(2));
        queue.add_after("a", Duration::from_secs(1));
        queue.add_after("a", Duration::from_secs(3));
        let begun = Instant::now();
        for second in [1, 2] {
            let key = take(&queue).await;
            assert_eq!(begun.elapsed().as_secs(), second);
            queue.succeeded(&key, None);
        }
        let third = tokio::time::timeout(Duration::from_secs(60), queue.take()).await;
        assert!(third.is_err(), "the third pause ended after the others");
    }

    #[tokio::test]
    async fn a_crowded_lane_delays_another_by_one_turn() {
        let queue: Queue<(u32, u32)> =
            Queue::new(|(lane, _)| if *lane == 0 { "crowded" } else { "quiet" }, Backoff::without_jitter());
        for number in 0..100_000 {
            queue.add((0, number));
        }
        queue.add((1, 0));
        let first: Vec<_> =
            [queue.take().await, queue.take().await].into_iter().map(|it| it.unwrap().0).collect();
        assert!(first.contains(&(1, 0)), "{first:?}");
        assert_eq!(queue.depth().ready, 99_999);
    }

    #[tokio::test]
    async fn a_closed_queue_ends_all_waiting() {
        let queue = Arc::new(queue());
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.take().await }
        });
        tokio::task::yield_now().await;
        queue.close();
        assert_eq!(waiting.await.unwrap(), None);
        queue.add("late");
        assert_eq!(queue.take().await, None);
    }
}
