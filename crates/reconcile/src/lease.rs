//! Leases that mean it: whoever could not renew for two thirds of the term stops, cancels what runs and waits for it.
//!
//! A guard on every commit keeps a former holder from writing. It can't take back a call to a BMC, so a holder must
//! stop by itself before anybody else can be the holder.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a lease lasts, and how often it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// How long it lasts without renewal.
    pub lasts: Duration,
    /// How often the holder renews it.
    pub renew_every: Duration,
    /// How often others ask for it.
    pub ask_every: Duration,
}

impl Default for Terms {
    /// A successor works within 10 seconds of a kill and within one of a release.
    fn default() -> Terms {
        let second = Duration::from_secs(1);
        Terms { lasts: 6 * second, renew_every: second, ask_every: Duration::from_millis(700) }
    }
}

impl Terms {
    /// How long after its last renewal a holder may still start something.
    fn trusted(self) -> Duration {
        self.lasts * 2 / 3
    }
}

/// A future of a lease's keeper.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What came of asking for a lease.
#[derive(Debug, Clone)]
pub enum Acquired<F> {
    /// It is held now.
    Taken(F),
    /// Somebody else holds it, for this long at most unless it is renewed.
    HeldElsewhere(Duration),
}

/// What keeps the lease: a store, or an API server.
pub trait Keeper: Send + Sync {
    /// Proof that the lease is held, for guards.
    type Fence: Clone + Send + Sync;
    /// Why the lease could not be asked for.
    type Error: fmt::Display + Send;

    /// Takes the lease, if nobody else holds it.
    fn acquire(&self, lasts: Duration) -> Later<'_, Result<Acquired<Self::Fence>, Self::Error>>;
    /// Makes the lease last for its whole term again; `false` when it is lost.
    fn renew<'a>(&'a self, fence: &'a Self::Fence) -> Later<'a, Result<bool, Self::Error>>;
    /// Gives the lease back, so that another holder need not wait for its end.
    fn release<'a>(&'a self, fence: &'a Self::Fence) -> Later<'a, ()>;
    /// Whether an error is final: the keeper is closed.
    fn is_closed(&self, error: &Self::Error) -> bool;
}

/// Runs `work` whenever the lease is held, until `stop` is cancelled or the keeper is closed.
///
/// `work` gets the fence and a token. It must end soon after the token is cancelled; only then is the lease released
/// or asked for again.
pub async fn hold<K, W>(
    name: &str,
    keeper: &K,
    terms: Terms,
    stop: &CancellationToken,
    work: impl Fn(K::Fence, CancellationToken) -> W,
) where
    K: Keeper,
    W: Future<Output = ()>,
{
    while !stop.is_cancelled() {
        // The term is counted from before the request: the keeper counts from later, so it lasts longer there.
        let asked = Instant::now();
        let pause = match keeper.acquire(terms.lasts).await {
            Ok(Acquired::Taken(fence)) => {
                tracing::debug!(lease = name, "held here now");
                match while_held(name, keeper, &fence, terms, asked, stop, &work).await {
                    Held::Closed => return,
                    Held::Lost => tracing::warn!(lease = name, "lost; another server takes over"),
                    Held::Finished => return keeper.release(&fence).await,
                }
                Duration::ZERO
            }
            Ok(Acquired::HeldElsewhere(for_at_most)) => for_at_most.min(terms.ask_every),
            Err(error) if keeper.is_closed(&error) => return,
            Err(error) => {
                tracing::warn!(lease = name, %error, "can't be asked for; trying again");
                terms.ask_every
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

enum Held {
    /// Somebody else may hold it, or nobody knows.
    Lost,
    /// It is no longer wanted here.
    Finished,
    /// The keeper is closed.
    Closed,
}

async fn while_held<K, W>(
    name: &str,
    keeper: &K,
    fence: &K::Fence,
    terms: Terms,
    asked: Instant,
    stop: &CancellationToken,
    work: &impl Fn(K::Fence, CancellationToken) -> W,
) -> Held
where
    K: Keeper,
    W: Future<Output = ()>,
{
    let token = stop.child_token();
    let working = work(fence.clone(), token.clone());
    tokio::pin!(working);
    let mut end = Held::Finished;
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        lost = renewing(name, keeper, fence, terms, asked) => end = lost,
        () = &mut working => return Held::Finished,
    }
    token.cancel();
    // What runs must have ended before anybody else may begin, or before this server begins again.
    working.await;
    end
}

/// Renews the lease; returns when it is lost, or could not be renewed for two thirds of its term.
async fn renewing<K: Keeper>(name: &str, keeper: &K, fence: &K::Fence, terms: Terms, asked: Instant) -> Held {
    let mut trusted_until = asked + terms.trusted();
    loop {
        let next = tokio::time::sleep(terms.renew_every);
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(trusted_until) => return Held::Lost,
            () = next => {}
        }
        let asked = Instant::now();
        // A request that hangs must not keep the holder from stopping in time.
        let renewed = tokio::time::timeout_at(trusted_until, keeper.renew(fence)).await;
        match renewed {
            Ok(Ok(true)) => trusted_until = asked + terms.trusted(),
            Ok(Ok(false)) | Err(_) => return Held::Lost,
            Ok(Err(error)) if keeper.is_closed(&error) => return Held::Closed,
            Ok(Err(error)) => tracing::warn!(lease = name, %error, "could not be renewed; trying again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A keeper whose answers a test decides.
    #[derive(Default)]
    struct Shelf {
        held: Mutex<Option<(u32, Instant)>>,
        next: AtomicU32,
        is_cut: AtomicBool,
        hangs: AtomicBool,
    }

    impl Keeper for Arc<Shelf> {
        type Fence = u32;
        type Error = &'static str;

        fn acquire(&self, lasts: Duration) -> Later<'_, Result<Acquired<u32>, &'static str>> {
            Box::pin(async move {
                if self.is_cut.load(Ordering::SeqCst) {
                    return Err("cut off");
                }
                let mut held = self.held.lock().unwrap();
                let now = Instant::now();
                if let Some((_, until)) = *held
                    && until > now
                {
                    return Ok(Acquired::HeldElsewhere(until - now));
                }
                let fence = self.next.fetch_add(1, Ordering::SeqCst);
                *held = Some((fence, now + lasts));
                Ok(Acquired::Taken(fence))
            })
        }

        fn renew<'a>(&'a self, fence: &'a u32) -> Later<'a, Result<bool, &'static str>> {
            Box::pin(async move {
                if self.hangs.load(Ordering::SeqCst) {
                    std::future::pending::<()>().await;
                }
                if self.is_cut.load(Ordering::SeqCst) {
                    return Err("cut off");
                }
                let mut held = self.held.lock().unwrap();
                let is_ours = held.is_some_and(|(holder, until)| holder == *fence && until > Instant::now());
                if is_ours {
                    *held = Some((*fence, Instant::now() + Terms::default().lasts));
                }
                Ok(is_ours)
            })
        }

        fn release<'a>(&'a self, fence: &'a u32) -> Later<'a, ()> {
            Box::pin(async move {
                let mut held = self.held.lock().unwrap();
                if held.is_some_and(|(holder, _)| holder == *fence) {
                    *held = None;
                }
            })
        }

        fn is_closed(&self, _: &&'static str) -> bool {
            false
        }
    }

    /// Who works now: at most one may.
    #[derive(Default)]
    struct Working {
        now: AtomicU32,
        most: AtomicU32,
        begun: AtomicU32,
    }

    fn start(shelf: &Arc<Shelf>, working: &Arc<Working>) -> (CancellationToken, tokio::task::JoinHandle<()>) {
        let (shelf, working, stop) = (shelf.clone(), working.clone(), CancellationToken::new());
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let work = |_: u32, token: CancellationToken| {
                let working = working.clone();
                async move {
                    working.begun.fetch_add(1, Ordering::SeqCst);
                    let now = working.now.fetch_add(1, Ordering::SeqCst) + 1;
                    working.most.fetch_max(now, Ordering::SeqCst);
                    token.cancelled().await;
                    // What was begun takes a while to end.
                    tokio::time::sleep(Duration::from_millis(500)).await;
                    working.now.fetch_sub(1, Ordering::SeqCst);
                }
            };
            hold("test", &shelf, Terms::default(), &stopped, work).await;
        });
        (stop, task)
    }

    #[tokio::test(start_paused = true)]
    async fn a_holder_that_cannot_renew_stops_before_another_can_begin() {
        for hangs in [false, true] {
            let (shelf, working) = (Arc::new(Shelf::default()), Arc::new(Working::default()));
            let (_stop, _task) = start(&shelf, &working);
            tokio::time::sleep(Duration::from_secs(3)).await;
            assert_eq!(working.now.load(Ordering::SeqCst), 1);
            shelf.hangs.store(hangs, Ordering::SeqCst);
            shelf.is_cut.store(true, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(4_800)).await;
            assert_eq!(working.now.load(Ordering::SeqCst), 0, "stopped within the term");
            let until = shelf.held.lock().unwrap().unwrap().1;
            assert!(until > Instant::now(), "nobody else could have begun yet");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_released_lease_is_taken_within_a_second_and_a_dead_one_within_ten() {
        let (shelf, working) = (Arc::new(Shelf::default()), Arc::new(Working::default()));
        let (stop, first) = start(&shelf, &working);
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (_keep, _second) = start(&shelf, &working);
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(working.begun.load(Ordering::SeqCst), 1);
        stop.cancel();
        first.await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(working.begun.load(Ordering::SeqCst), 2);
        assert_eq!(working.most.load(Ordering::SeqCst), 1, "never two at once");

        let (shelf, working) = (Arc::new(Shelf::default()), Arc::new(Working::default()));
        let (_stop, first) = start(&shelf, &working);
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (_keep, _second) = start(&shelf, &working);
        tokio::time::sleep(Duration::from_secs(5)).await;
        first.abort();
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(working.begun.load(Ordering::SeqCst), 2);
    }
}
