//! Threads for decisions that take long, so that those which serve requests and those which commit go on.
//!
//! There are few, and the users whose decisions wait take turns: whoever brings many waits for his own. A decision that nobody
//! waits for any more is not begun.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};

use tokio::sync::oneshot;

static POOL: LazyLock<Decisions> = LazyLock::new(|| Decisions::of(threads()));

/// Half of the processors: the rest stays for those who serve.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |count| (count.get() / 2).max(1))
}

/// Does some work on a thread for decisions, in turn with those of other users. If the threads can't be started, it is done at
/// once.
pub async fn apart<T: Send + 'static>(user: &Arc<str>, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (answer, answered) = oneshot::channel();
    let job: Job = Box::new(move || {
        if !answer.is_closed() {
            // Nobody may be waiting any more.
            let _ = answer.send(catch_unwind(AssertUnwindSafe(work)));
        }
    });
    POOL.put(user, job);
    match answered.await {
        Ok(Ok(done)) => done,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => resume_unwind(Box::new("a decision was not made") as Box<dyn Any + Send>),
    }
}

type Job = Box<dyn FnOnce() + Send>;

struct Decisions {
    shared: Arc<Shared>,
    threads: usize,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    filled: Condvar,
}

/// What waits, by user; users take turns.
#[derive(Default)]
struct Queue {
    turns: VecDeque<Arc<str>>,
    waiting: HashMap<Arc<str>, VecDeque<Job>>,
}

impl Queue {
    fn put(&mut self, user: &Arc<str>, job: Job) {
        let jobs = self.waiting.entry(user.clone()).or_default();
        jobs.push_back(job);
        if jobs.len() == 1 {
            self.turns.push_back(user.clone());
        }
    }

    fn next(&mut self) -> Option<Job> {
        let user = self.turns.pop_front()?;
        let jobs = self.waiting.get_mut(&user)?;
        let job = jobs.pop_front();
        if jobs.is_empty() {
            self.waiting.remove(&user);
        } else {
            self.turns.push_back(user);
        }
        job
    }
}

impl Decisions {
    fn of(threads: usize) -> Decisions {
        let shared: Arc<Shared> = Arc::default();
        let mut started = 0;
        for number in 0..threads {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().name(format!("decide-{number}"));
            match thread.spawn(move || shared.work()) {
                Ok(_) => started += 1,
                Err(error) => tracing::error!(%error, "a thread for decisions can't be started"),
            }
        }
        Decisions { shared, threads: started }
    }

    fn put(&self, user: &Arc<str>, job: Job) {
        if self.threads == 0 {
            return job();
        }
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).put(user, job);
        self.shared.filled.notify_one();
    }
}

impl Shared {
    fn work(&self) -> ! {
        loop {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            let job = loop {
                match queue.next() {
                    Some(job) => break job,
                    None => queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(queue);
            job();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_take_turns_and_whoever_brings_many_waits_for_his_own() {
        let order: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut queue = Queue::default();
        let put = |queue: &mut Queue, user: &str, what: &str| {
            let (order, told) = (order.clone(), what.to_owned());
            queue.put(&user.into(), Box::new(move || order.lock().unwrap().push(told)));
        };
        for number in 0..4 {
            put(&mut queue, "eve", &format!("eve-{number}"));
        }
        put(&mut queue, "ann", "ann-0");
        put(&mut queue, "ben", "ben-0");
        put(&mut queue, "ann", "ann-1");
        while let Some(job) = queue.next() {
            job();
        }
        let order = order.lock().unwrap();
        assert_eq!(*order, ["eve-0", "ann-0", "ben-0", "eve-1", "ann-1", "eve-2", "eve-3"]);
        assert!(queue.waiting.is_empty() && queue.turns.is_empty());
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_not_begun_and_a_panic_is_told_to_its_own() {
        let begun = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let user: Arc<str> = "ann".into();
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        // All threads are busy.
        let (start, started) = std::sync::mpsc::channel::<()>();
        let busy: Vec<_> = (0..threads())
            .map(|_| {
                let (held, user, start) = (held.clone(), user.clone(), start.clone());
                let work = move || {
                    let _ = start.send(());
                    let _ = held.lock().unwrap().recv();
                };
                tokio::spawn(async move { apart(&user, work).await })
            })
            .collect();
        for _ in 0..threads() {
            while started.try_recv().is_err() {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        }
        let counted = begun.clone();
        let given_up = apart(&user, move || counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst));
        assert!(tokio::time::timeout(std::time::Duration::from_millis(20), given_up).await.is_err());
        drop(hold);
        for one in busy {
            one.await.unwrap();
        }
        assert_eq!(apart(&user, || 7).await, 7);
        assert_eq!(begun.load(std::sync::atomic::Ordering::SeqCst), 0);
        let panicked = tokio::spawn(async move { apart(&user, || panic!("on purpose")).await }).await;
        assert!(panicked.unwrap_err().is_panic());
    }
}
