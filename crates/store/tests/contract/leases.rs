//! Leases: one holder, and no write of a former one.

use std::time::Duration;

use store::{Acquired, Fence};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    a_lease_has_one_holder,
    a_renewed_lease_does_not_run_out,
    a_lease_that_runs_out_is_free,
    a_paused_holders_write_never_lands_once_the_lease_ran_out,
    a_former_holders_fence_is_refused,
    a_released_lease_is_free_at_once,
    a_lease_survives_a_restart,
    a_lease_binds_every_server,
    a_holder_that_asks_again_gets_a_new_fence,
);

/// Engines count in whole seconds.
const SHORT: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(600);

fn guarded(fence: &Fence, body: &str) -> store::Transaction {
    just(put("a", body.to_owned())).guard(fence.guard())
}

async fn a_lease_has_one_holder<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let fence = store.acquire("work", "one", LONG).await.unwrap().fence().unwrap();
    assert_eq!(fence.name(), "work");
    match store.acquire("work", "two", LONG).await.unwrap() {
        Acquired::HeldBy { holder, for_at_most } => {
            assert_eq!(&*holder, "one");
            assert!(for_at_most <= LONG && for_at_most > LONG / 2, "{for_at_most:?}");
        }
        taken => panic!("{taken:?}"),
    }
    assert!(store.acquire("other work", "two", LONG).await.unwrap().fence().is_some());
    store.commit(guarded(&fence, "1")).await.unwrap();
    assert_eq!(read(&store.current().await.unwrap(), "a").as_deref(), Some("1"));
}

async fn a_renewed_lease_does_not_run_out<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let time = Duration::from_secs(2);
    let fence = store.acquire("work", "one", time).await.unwrap().fence().unwrap();
    let begun = std::time::Instant::now();
    while begun.elapsed() < time * 3 / 2 {
        assert!(store.renew(&fence).await.unwrap());
        assert!(store.acquire("work", "two", time).await.unwrap().fence().is_none());
        tokio::time::sleep(time / 10).await;
    }
    store.commit(guarded(&fence, "1")).await.unwrap();
}

async fn a_lease_that_runs_out_is_free<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let begun = std::time::Instant::now();
    let fence = store.acquire("work", "one", SHORT).await.unwrap().fence().unwrap();
    until("the other's turn", async || store.acquire("work", "two", LONG).await.unwrap().fence().is_some())
        .await;
    assert!(begun.elapsed() >= SHORT);
    assert!(!store.renew(&fence).await.unwrap());
}

async fn a_paused_holders_write_never_lands_once_the_lease_ran_out<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let fence = store.acquire("work", "one", SHORT).await.unwrap().fence().unwrap();
    store.commit(guarded(&fence, "in time")).await.unwrap();
    // The holder is paused, and nobody takes over.
    tokio::time::sleep(SHORT).await;
    let guard = || store::Transaction::by(alice()).guard(fence.guard());
    until("the end of the lease", async || store.commit(guard()).await.is_err()).await;
    for _ in 0..3 {
        let late = store.commit(guarded(&fence, "late")).await.unwrap_err();
        assert!(late.is_conflict(), "{late}");
    }
    assert!(!store.renew(&fence).await.unwrap());
    assert_eq!(read(&store.current().await.unwrap(), "a").as_deref(), Some("in time"));
    assert_eq!(changes(&store, "a").await.len(), 1);
}

async fn a_former_holders_fence_is_refused<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let old = store.acquire("work", "one", LONG).await.unwrap().fence().unwrap();
    assert!(store.release(&old).await.unwrap());
    let new = store.acquire("work", "two", LONG).await.unwrap().fence().unwrap();
    assert!(store.commit(guarded(&old, "old")).await.unwrap_err().is_conflict());
    assert!(!store.renew(&old).await.unwrap());
    assert!(!store.release(&old).await.unwrap());
    store.commit(guarded(&new, "new")).await.unwrap();
    assert_eq!(read(&store.current().await.unwrap(), "a").as_deref(), Some("new"));
}

async fn a_released_lease_is_free_at_once<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    let fence = store.acquire("work", "one", LONG).await.unwrap().fence().unwrap();
    assert!(store.release(&fence).await.unwrap());
    assert!(store.commit(guarded(&fence, "late")).await.unwrap_err().is_conflict());
    ground.reopen().await;
    assert!(ground.store().acquire("work", "two", LONG).await.unwrap().fence().is_some());
}

async fn a_lease_survives_a_restart<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let fence = ground.store().acquire("work", "one", LONG).await.unwrap().fence().unwrap();
    ground.reopen().await;
    let store = ground.store();
    assert!(store.acquire("work", "two", LONG).await.unwrap().fence().is_none());
    store.commit(guarded(&fence, "1")).await.unwrap();
    // Who held it before the restart is known by name, and may take it anew.
    let again = store.acquire("work", "one", LONG).await.unwrap().fence().unwrap();
    store.commit(guarded(&again, "2")).await.unwrap();
    assert!(store.commit(guarded(&fence, "3")).await.unwrap_err().is_conflict());
}

async fn a_lease_binds_every_server<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let Some(other) = ground.second_server(quiet()).await else { return };
    let fence = store.acquire("work", "one", LONG).await.unwrap().fence().unwrap();
    assert!(other.acquire("work", "two", LONG).await.unwrap().fence().is_none());
    assert!(store.release(&fence).await.unwrap());
    assert!(other.acquire("work", "two", LONG).await.unwrap().fence().is_some());
    assert!(store.commit(guarded(&fence, "late")).await.unwrap_err().is_conflict());
}

async fn a_holder_that_asks_again_gets_a_new_fence<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let old = store.acquire("work", "one", LONG).await.unwrap().fence().unwrap();
    let new = store.acquire("work", "one", LONG).await.unwrap().fence().unwrap();
    assert_ne!(old, new);
    assert!(store.commit(guarded(&old, "before the restart")).await.unwrap_err().is_conflict());
    store.commit(guarded(&new, "after it")).await.unwrap();
}
