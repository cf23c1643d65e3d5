//! Workers: they take keys from a queue and attempt each, with a deadline. A panic costs one attempt, a hang one task.

use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::queue::Queue;
use crate::stats::{Outcome, Stats};

/// Failures are logged at `info` from this attempt on; before that they are usually a conflict that passes.
const ATTEMPTS_BEFORE_INFO: u32 = 3;

/// How long an attempt that was cancelled at its deadline may take to end before its worker goes on without it.
const PATIENCE: Duration = Duration::from_secs(1);

/// What an attempt comes to when it succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The object is in its desired state, until something that it depends on changes.
    Done,
    /// The object is to be looked at again after a pause.
    After(Duration),
}

impl Next {
    fn pause(self) -> Option<Duration> {
        match self {
            Next::Done => None,
            Next::After(pause) => Some(pause),
        }
    }
}

/// Why an attempt failed, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A boxed future of an attempt.
pub type Attempting = Pin<Box<dyn Future<Output = Result<Next, Failure>> + Send>>;

/// One attempt at a key.
pub type Attempt<K> = Arc<dyn Fn(K) -> Attempting + Send + Sync>;

/// How a controller's keys are worked on.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name in leases, logs and metrics.
    pub name: &'static str,
    /// How many keys are attempted at once.
    pub workers: usize,
    /// How long one attempt may take.
    pub deadline: Duration,
    /// How long an object waits for further changes of what its last plan has read.
    pub settling: Duration,
    /// Whether planning takes long enough to need a thread of its own.
    pub is_heavy: bool,
}

impl Settings {
    /// Four workers, 30 seconds an attempt.
    pub fn new(name: &'static str) -> Settings {
        Settings {
            name,
            workers: 4,
            deadline: Duration::from_secs(30),
            settling: Duration::ZERO,
            is_heavy: false,
        }
    }
}

/// Attempts the keys of a queue until it is closed or `stop` is cancelled, then cancels what runs and waits for it.
pub async fn run<K>(
    queue: Arc<Queue<K>>,
    settings: Settings,
    attempt: Attempt<K>,
    stats: Arc<Stats>,
    stop: CancellationToken,
) where
    K: Eq + Hash + Clone + fmt::Display + Send + Sync + 'static,
{
    let (mut workers, left) = (JoinSet::new(), TaskTracker::new());
    for _ in 0..settings.workers {
        let worker = Worker {
            queue: queue.clone(),
            settings: settings.clone(),
            attempt: attempt.clone(),
            stats: stats.clone(),
            stop: stop.clone(),
            left: left.clone(),
        };
        workers.spawn(worker.run());
    }
    while workers.join_next().await.is_some() {}
    left.close();
    left.wait().await;
}

struct Worker<K> {
    queue: Arc<Queue<K>>,
    settings: Settings,
    attempt: Attempt<K>,
    stats: Arc<Stats>,
    stop: CancellationToken,
    /// Attempts that could not be cancelled at their deadline and still run.
    left: TaskTracker,
}

impl<K: Eq + Hash + Clone + fmt::Display + Send + Sync + 'static> Worker<K> {
    async fn run(self) {
        loop {
            let taken = tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                taken = self.queue.take() => taken,
            };
            let Some((key, waited)) = taken else { return };
            self.stats.waited(waited);
            if !self.attempt(key).await {
                return;
            }
        }
    }

    /// Attempts one key in a task of its own; `false` once the workers are to stop.
    async fn attempt(&self, key: K) -> bool {
        let begun = Instant::now();
        let mut task = tokio::spawn((self.attempt)(key.clone()));
        let ended = tokio::select! {
            biased;
            () = self.stop.cancelled() => Ended::Stopped,
            ended = &mut task => Ended::from_task(ended),
            () = tokio::time::sleep(self.settings.deadline) => Ended::TimedOut,
        };
        match ended {
            Ended::Stopped => {
                task.abort();
                // Another server may take over after this: nothing may run here then, not even what can't be cancelled.
                let _ = task.await;
                return false;
            }
            Ended::TimedOut => {
                task.abort();
                if tokio::time::timeout(PATIENCE, &mut task).await.is_err() {
                    self.leave(key, task, begun);
                    return true;
                }
            }
            _ => {}
        }
        self.finish(&key, ended, begun);
        true
    }

    fn finish(&self, key: &K, ended: Ended, begun: Instant) {
        let took = begun.elapsed();
        let (outcome, why) = match ended {
            Ended::Succeeded(next) => {
                self.stats.attempted(Outcome::Succeeded, took);
                return self.queue.succeeded(key, next.pause());
            }
            Ended::Failed(failure) => (Outcome::Failed, failure.to_string()),
            Ended::Panicked(message) => (Outcome::Panicked, format!("panicked: {message}")),
            Ended::TimedOut | Ended::Stopped => {
                (Outcome::TimedOut, format!("took longer than {:?}", self.settings.deadline))
            }
        };
        self.stats.attempted(outcome, took);
        let attempts = self.queue.failed(key, &why);
        let controller = self.settings.name;
        if attempts >= ATTEMPTS_BEFORE_INFO || outcome != Outcome::Failed {
            tracing::info!(controller, object = %key, attempts, error = why, "reconciling failed; it will be tried again");
        } else {
            tracing::debug!(controller, object = %key, attempts, error = why, "reconciling failed; it will be tried again");
        }
    }

    /// An attempt does not end when it is cancelled: it blocks a thread. The worker goes on; the key stays taken until
    /// the attempt ends, so that no two work on it.
    fn leave(&self, key: K, task: tokio::task::JoinHandle<Result<Next, Failure>>, begun: Instant) {
        let controller = self.settings.name;
        tracing::error!(controller, object = %key, "an attempt blocks its thread and can't be cancelled");
        self.stats.attempted(Outcome::TimedOut, begun.elapsed());
        let (queue, deadline) = (self.queue.clone(), self.settings.deadline);
        self.left.spawn(async move {
            let _ = task.await;
            queue.failed(&key, &format!("took longer than {deadline:?} and could not be cancelled"));
        });
    }
}

enum Ended {
    Succeeded(Next),
    Failed(Failure),
    Panicked(String),
    TimedOut,
    Stopped,
}

impl Ended {
    fn from_task(ended: Result<Result<Next, Failure>, tokio::task::JoinError>) -> Ended {
        match ended {
            Ok(Ok(next)) => Ended::Succeeded(next),
            Ok(Err(failure)) => Ended::Failed(failure),
            Err(error) if error.is_panic() => Ended::Panicked(message(&*error.into_panic())),
            Err(error) => Ended::Failed(Failure(error.to_string())),
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::backoff::Backoff;

    type Work = fn(&str, u32) -> Result<Next, Failure>;

    struct Running {
        queue: Arc<Queue<&'static str>>,
        stats: Arc<Stats>,
        stop: CancellationToken,
        attempts: Arc<AtomicU32>,
        workers: tokio::task::JoinHandle<()>,
    }

    fn start(work: Work) -> Running {
        let queue = Arc::new(Queue::new(|_| "", Backoff::without_jitter()));
        let (stats, stop) = (Arc::new(Stats::default()), CancellationToken::new());
        let attempts = Arc::new(AtomicU32::new(0));
        let counted = attempts.clone();
        let attempt: Attempt<&'static str> = Arc::new(move |key| {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            Box::pin(async move {
                if key == "hangs" {
                    std::future::pending::<()>().await;
                }
                work(key, number)
            })
        });
        let settings = Settings { deadline: Duration::from_secs(5), ..Settings::new("test") };
        let workers = tokio::spawn(run(queue.clone(), settings, attempt, stats.clone(), stop.clone()));
        Running { queue, stats, stop, attempts, workers }
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_costs_one_attempt() {
        let running = start(|_, number| if number == 0 { panic!("boom") } else { Ok(Next::Done) });
        running.queue.add("a");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(running.attempts.load(Ordering::SeqCst), 2);
        let counts = running.stats.read();
        assert_eq!((counts.panicked, counts.succeeded), (1, 1));
        assert!(running.queue.failing(1).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_hang_ends_at_its_deadline_and_holds_up_nothing_else() {
        let running = start(|_, _| Ok(Next::Done));
        for key in ["hangs", "a", "b", "c"] {
            running.queue.add(key);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(running.stats.read().succeeded, 3);
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(running.stats.read().timed_out, 1);
        assert_eq!(running.queue.failing(1)[0].0, "hangs");
    }

    #[tokio::test(start_paused = true)]
    async fn stopping_cancels_what_runs_and_waits_for_it() {
        let running = start(|_, _| Ok(Next::Done));
        running.queue.add("hangs");
        tokio::time::sleep(Duration::from_millis(10)).await;
        running.stop.cancel();
        tokio::time::timeout(Duration::from_millis(100), running.workers).await.unwrap().unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn stopping_waits_even_for_an_attempt_that_blocks_its_thread() {
        let running = start(|_, _| {
            std::thread::sleep(Duration::from_millis(300));
            ENDED.fetch_add(1, Ordering::SeqCst);
            Ok(Next::Done)
        });
        running.queue.add("blocks");
        while running.attempts.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        running.stop.cancel();
        running.workers.await.unwrap();
        assert_eq!(ENDED.load(Ordering::SeqCst), 1, "nothing may run once the workers have ended");
    }

    static ENDED: AtomicU32 = AtomicU32::new(0);

    #[tokio::test(start_paused = true)]
    async fn a_requested_look_comes_at_its_time() {
        let running = start(|_, _| Ok(Next::After(Duration::from_secs(10))));
        running.queue.add("a");
        tokio::time::sleep(Duration::from_secs(25)).await;
        assert_eq!(running.attempts.load(Ordering::SeqCst), 3);
        assert_eq!(running.stats.read().failed, 0);
    }
}
