//! Members and followers that fail at bad moments.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::{Ground, behind_its_back, just, key, write};
use crate::error::Error;
use crate::etcd::layout::{delete, put};
use crate::housekeeping::Rules;
use crate::store::Store;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_landed_while_this_server_lost_touch_is_of_unknown_outcome() {
    let Some(ground) = Ground::shared() else { return };
    let (store, other) = (ground.open().await.unwrap(), ground.open().await.unwrap());
    write(&store, "a", "1").await;
    // It hears nothing any more, while what it sends still arrives.
    store.tasks.lock().unwrap_or_else(PoisonError::into_inner)[0].abort();
    let told = store.commit(just("a", "2")).await;
    assert!(matches!(told, Err(Error::Unknown(_))), "{told:?}");
    let there = other.current().await.unwrap().get(&key("a")).unwrap().bytes().clone();
    assert_eq!(there, "2", "it landed: \"not available\" would have said that it did not");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_nobody_waits_for_any_more_is_not_looked_out_for() {
    let Some(ground) = Ground::alone(1) else { return };
    let store = ground.open().await.unwrap();
    write(&store, "a", "1").await;
    assert_eq!(store.shared.marks.looked_out_for(), 0);

    ground.cluster.pause(0).unwrap();
    let mut commit = store.commit(just("a", "2"));
    let told = tokio::time::timeout(Duration::from_millis(300), &mut commit).await;
    assert!(told.is_err(), "nobody is there to answer: {told:?}");
    assert_eq!(store.shared.marks.looked_out_for(), 1);
    drop(commit);
    assert_eq!(store.shared.marks.looked_out_for(), 0);
    ground.cluster.resume(0).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upkeep_is_done_while_the_first_member_is_down() {
    let Some(mut ground) = Ground::alone(3) else { return };
    let mut options = ground.options();
    options.housekeeping = Rules { every: Duration::from_millis(200), ..Rules::default() };
    let store = super::Etcd::open(options).await.unwrap();
    std::sync::Arc::get_mut(&mut ground.cluster).unwrap().kill(0).unwrap();

    let begun = Instant::now();
    let version = loop {
        match store.commit(just("a", "1")).await {
            Ok(committed) => break committed.entries[0].as_ref().unwrap().version(),
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
        }
    };
    let covered = async || store.checkpoint().await.ok().flatten().map(|checkpoint| checkpoint.version());
    while covered().await.is_none_or(|covered| covered < version) {
        assert!(begun.elapsed() < PATIENCE, "nobody covers the commit with a checkpoint");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Longer than a cluster takes to find itself a leader on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_can_not_be_read_is_not_left_out() {
    let Some(ground) = Ground::shared() else { return };
    let store = ground.open().await.unwrap();
    let before = write(&store, "a", "1").await;
    let garbage = store.shared.layout.object(&key("garbage"));
    behind_its_back(&store, vec![put(garbage.clone(), vec![0xff])]).await;
    until(
        "the server says what it can't read",
        async || matches!(store.healthy().await, Err(Error::Damaged(why)) if why.contains("can't be read")),
    )
    .await;
    assert_eq!(store.latest().get(&key("a")).unwrap().version(), before);
    store.alive().unwrap();

    behind_its_back(&store, vec![delete(garbage)]).await;
    until("the server is up to date again", async || store.healthy().await.is_ok()).await;
    let after = write(&store, "a", "2").await;
    assert_eq!(store.current().await.unwrap().get(&key("a")).unwrap().version(), after);
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} does not come");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
