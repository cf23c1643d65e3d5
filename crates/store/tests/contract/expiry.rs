//! Objects that go by themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::{
    Acquired, Committed, Decide, Fence, Later, Limits, Parts, Revision, Snapshot, Store, Transaction,
};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    an_object_goes_when_its_time_has_run_out_and_the_watch_tells,
    a_rewrite_prolongs,
    a_rewrite_without_an_end_stays,
    many_go_and_the_others_stay,
    time_goes_on_while_the_store_is_closed,
    what_is_written_again_while_it_expires_stays_and_the_rest_is_done,
);

/// CreateWithTTL. Nobody asks for it: the store does it by itself.
async fn an_object_goes_when_its_time_has_run_out_and_the_watch_tells<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let end = now() + 300;
    let made = store.commit(just(put("a", "1").expires_at(end))).await.unwrap();
    let entry = store.current().await.unwrap().get(&key("a")).unwrap().clone();
    assert_eq!(entry.expires(), Some(end));
    let mut watch = store.watch(b"a", version_of(&made)).unwrap();
    assert_eq!(told(&take(&mut watch, 1).await), ["-a=1"]);
    assert!(now() >= end);
    assert!(store.current().await.unwrap().is_empty());
    let last = &changes(&store, "a").await[0];
    assert_eq!((&*last.user, &*last.verb), ("system:expiry", "delete"));
}

/// GuaranteedUpdateWithTTL.
async fn a_rewrite_prolongs<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let first = store.commit(just(put("a", "1").expires_at(1))).await.unwrap();
    // Only the time differs, and that is a change too.
    let later = now() + 3_600_000;
    let second = store.commit(just(put("a", "1").expires_at(later))).await;
    let second = second.unwrap();
    assert!(second.revision > first.revision);
    store.expire(None).await.unwrap();
    let snapshot = store.current().await.unwrap();
    let there = snapshot.get(&key("a")).map(|entry| entry.expires());
    assert_eq!(there, Some(Some(later)));
}

async fn a_rewrite_without_an_end_stays<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    store.commit(just(put("a", "1").expires_at(now() + 3_600_000))).await.unwrap();
    write(&store, "a", "1").await;
    store.expire(None).await.unwrap();
    assert_eq!(store.current().await.unwrap().get(&key("a")).unwrap().expires(), None);
}

async fn many_go_and_the_others_stay<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for number in 0..75 {
        let end = if number % 3 == 0 { now() + 3_600_000 } else { now() };
        store.commit(just(put(&format!("a{number:02}"), "x").expires_at(end))).await.unwrap();
    }
    until("the end of 50", async || {
        store.expire(None).await.unwrap();
        store.current().await.unwrap().len() == 25
    })
    .await;
    assert_eq!(names(&store.current().await.unwrap(), "a0"), ["a00", "a03", "a06", "a09"]);
    verified(&store).await;
}

async fn time_goes_on_while_the_store_is_closed<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    ground.store().commit(just(put("a", "1").expires_at(now() + 3_600_000))).await.unwrap();
    ground.store().commit(just(put("b", "1").expires_at(now() + 50))).await.unwrap();
    ground.reopen().await;
    let store = ground.store();
    until("the end of b", async || names(&store.current().await.unwrap(), "") == ["a"]).await;
}

async fn what_is_written_again_while_it_expires_stays_and_the_rest_is_done<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let later = now() + 3_600_000;
    let prolong = just(put("a", "2").expires_at(later));
    let rival = Rival { store: store.clone(), transaction: prolong, due: AtomicBool::new(true) };
    let last = write(&store, "b", "1").await;
    store.commit(just(put("a", "1").expires_at(1))).await.unwrap();

    // The store's own round may just have come first; then nothing is left to be written again.
    let tidied = (&rival as &dyn Store).tidy(None).await.unwrap();
    assert_eq!(tidied.expired, 0);
    assert!(store.checkpoint().await.unwrap().unwrap().version() >= last, "what comes after expiry was done");
    if !rival.due.load(Ordering::Relaxed) {
        let now = store.current().await.unwrap();
        assert_eq!(now.get(&key("a")).and_then(|entry| entry.expires()), Some(later));
    }
}

/// A store on which somebody else is always a little faster, once.
struct Rival {
    store: Arc<dyn Store>,
    transaction: Transaction,
    due: AtomicBool,
}

impl Store for Rival {
    fn parts(&self) -> &Parts {
        self.store.parts()
    }

    fn commit(&self, transaction: Transaction) -> Later<'_, Committed> {
        Box::pin(async move {
            if self.due.swap(false, Ordering::Relaxed) {
                self.store.commit(self.transaction.clone()).await?;
            }
            self.store.commit(transaction).await
        })
    }

    fn limits(&self) -> Limits {
        self.store.limits()
    }

    fn current(&self) -> Later<'_, Snapshot> {
        self.store.current()
    }

    fn commit_alone(&self, decide: Decide) -> Later<'_, Option<Committed>> {
        self.store.commit_alone(decide)
    }

    fn acquire(&self, name: &str, holder: &str, time: Duration) -> Later<'_, Acquired> {
        self.store.acquire(name, holder, time)
    }

    fn renew<'a>(&'a self, fence: &'a Fence) -> Later<'a, bool> {
        self.store.renew(fence)
    }

    fn release<'a>(&'a self, fence: &'a Fence) -> Later<'a, bool> {
        self.store.release(fence)
    }

    fn compact(&self, through: Revision) -> Later<'_, ()> {
        self.store.compact(through)
    }

    fn reindex(&self) -> Later<'_, ()> {
        self.store.reindex()
    }

    fn alive(&self) -> store::Result<()> {
        self.store.alive()
    }

    fn healthy(&self) -> Later<'_, ()> {
        self.store.healthy()
    }

    fn close(&self) -> Later<'_, ()> {
        self.store.close()
    }
}
