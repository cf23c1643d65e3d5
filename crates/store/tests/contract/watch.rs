//! Watches: every change under a prefix, once and in order.

use std::time::Duration;

use store::{Body, Put, Version};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    a_watch_brings_every_change_in_order,
    a_watch_from_the_beginning_brings_everything_kept,
    a_watch_from_a_version_brings_what_came_after_it,
    a_deletion_is_brought_with_the_last_state_at_its_own_version,
    changes_wait_until_they_are_fetched,
    a_watch_of_a_prefix_brings_nothing_else,
    a_watch_of_one_plane_and_one_of_all_see_the_same_change,
    a_list_and_a_watch_from_it_miss_and_repeat_nothing,
    a_watch_that_is_dropped_is_gone,
    a_wait_given_up_loses_nothing,
    the_position_of_a_quiet_watch_moves_on,
);

/// Watch.
async fn a_watch_brings_every_change_in_order<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut watch = store.watch(b"", store.current().await.unwrap().version()).unwrap();
    write(&store, "a", "1").await;
    write(&store, "b", "1").await;
    write(&store, "a", "2").await;
    remove(&store, "b").await;
    store.commit(just(put("c", "1")).delete(key("a")).put(put("d", "1"))).await.unwrap();
    let events = take(&mut watch, 7).await;
    assert_eq!(told(&events), ["+a=1", "+b=1", "~a=2", "-b=1", "+c=1", "-a=2", "+d=1"]);
    assert!(events.is_sorted_by(|one, next| one.version() < next.version()));
    assert_eq!(text(events[2].before().unwrap()), "1");
    assert_eq!(events[2].shown().version(), events[2].version());
    assert_eq!(events[4].version().revision(), events[6].version().revision());
}

/// WatchFromZero: from before the first change.
async fn a_watch_from_the_beginning_brings_everything_kept<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    write(&store, "a", "1").await;
    write(&store, "a", "2").await;
    remove(&store, "a").await;
    let mut watch = store.watch(b"a", start).unwrap();
    assert_eq!(told(&take(&mut watch, 3).await), ["+a=1", "~a=2", "-a=2"]);
    assert!(watch.ready().unwrap().is_empty());
}

/// WatchFromNonZero.
async fn a_watch_from_a_version_brings_what_came_after_it<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let made = write(&store, "a", "1").await;
    write(&store, "a", "2").await;
    let mut watch = store.watch(b"a", made).unwrap();
    assert_eq!(told(&take(&mut watch, 1).await), ["~a=2"]);
    write(&store, "a", "3").await;
    assert_eq!(told(&take(&mut watch, 1).await), ["~a=3"]);
}

/// DeleteTriggerWatch, WatchDeleteEventObjectHaveLatestRV.
async fn a_deletion_is_brought_with_the_last_state_at_its_own_version<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    let body = Body::stamped("v=", 2).unwrap();
    let made = store.commit(just(Put::new(key("a"), life("a", 1), body))).await.unwrap();
    let deleted = remove(&store, "a").await;
    for after_a_restart in [false, true] {
        if after_a_restart {
            ground.reopen().await;
        }
        let mut watch = ground.store().watch(b"a", version_of(&made)).unwrap();
        let events = take(&mut watch, 1).await;
        assert!(events[0].after().is_none());
        assert_eq!(events[0].shown().version(), deleted);
        assert_eq!(text(events[0].shown()), format!("v={deleted}"));
        assert_eq!(events[0].before().unwrap().version(), version_of(&made));
    }
}

/// DelayedWatchDelivery.
async fn changes_wait_until_they_are_fetched<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut watch = store.watch(b"", store.current().await.unwrap().version()).unwrap();
    for number in 0..600 {
        write(&store, "a", &number.to_string()).await;
    }
    let events = take(&mut watch, 600).await;
    let bodies: Vec<String> = events.iter().map(|event| text(event.shown())).collect();
    assert_eq!(bodies, (0..600).map(|number| number.to_string()).collect::<Vec<_>>());
}

/// NamespaceScopedWatch.
async fn a_watch_of_a_prefix_brings_nothing_else<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let mut watch = store.watch(b"p1/", start).unwrap();
    for name in ["p1", "p1/a", "p10/a", "p2/a", "p/1", "p1/b"] {
        write(&store, name, "x").await;
    }
    assert_eq!(told(&take(&mut watch, 2).await), ["+p1/a=x", "+p1/b=x"]);
    let mut later = store.watch(b"p1/", start).unwrap();
    assert_eq!(told(&take(&mut later, 2).await), ["+p1/a=x", "+p1/b=x"]);
}

/// ClusterScopedWatch.
async fn a_watch_of_one_plane_and_one_of_all_see_the_same_change<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let (mut one, mut all) = (store.watch(b"p1/", start).unwrap(), store.watch(b"", start).unwrap());
    store.commit(just(put("p2/a", "x")).put(put("p1/a", "x"))).await.unwrap();
    let (one, all) = (take(&mut one, 1).await, take(&mut all, 2).await);
    assert_eq!(told(&all), ["+p2/a=x", "+p1/a=x"]);
    assert_eq!(one[0].version(), all[1].version());
    assert_eq!(one[0].version().position(), 1);
}

/// WatchInitializationSignal: a list's version is where its watch begins.
async fn a_list_and_a_watch_from_it_miss_and_repeat_nothing<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let rival = store.clone();
    let writer = tokio::spawn(async move {
        for number in 0..100 {
            write(&rival, &format!("n{number:03}"), "x").await;
        }
    });
    until("the writer", async || store.latest().len() > 10).await;
    let list = store.current().await.unwrap();
    let mut seen = names(&list, "");
    let mut watch = store.watch(b"", list.version()).unwrap();
    seen.extend(take(&mut watch, 100 - seen.len()).await.iter().map(|event| event.key().to_string()));
    writer.await.unwrap();
    assert_eq!(seen, names(&store.current().await.unwrap(), ""));
}

/// WatchContextCancel.
async fn a_watch_that_is_dropped_is_gone<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let version = write(&store, "a", "1").await;
    let (one, other) = (store.watch(b"a", version).unwrap(), store.watch(b"b", version).unwrap());
    assert_eq!(store.watches(), 2);
    drop(one);
    assert_eq!(store.watches(), 1);
    drop(other);
    assert_eq!(store.watches(), 0);
    assert!(store.watch(b"a", Version::new(1)).is_err() || store.watches() == 0);
    assert_eq!(store.watches(), 0);
}

/// WatcherTimeout.
async fn a_wait_given_up_loses_nothing<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut watch = store.watch(b"", store.current().await.unwrap().version()).unwrap();
    let rival = store.clone();
    let writer = tokio::spawn(async move {
        for number in 0..50 {
            write(&rival, "a", &number.to_string()).await;
        }
    });
    let mut seen = Vec::new();
    while seen.len() < 50 {
        if let Ok(events) = tokio::time::timeout(Duration::from_micros(200), watch.next()).await {
            seen.extend(events.unwrap().iter().map(|event| text(event.shown())));
        }
    }
    writer.await.unwrap();
    assert_eq!(seen, (0..50).map(|number| number.to_string()).collect::<Vec<_>>());
}

/// WatchDispatchBookmarkEvents, OptionalWatchBookmarksWithCorrectResourceVersion.
async fn the_position_of_a_quiet_watch_moves_on<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut watch = store.watch(b"quiet/", store.current().await.unwrap().version()).unwrap();
    let mut last = watch.position();
    for number in 0..10 {
        let version = write(&store, "busy", &number.to_string()).await;
        until("the bookmark", async || {
            assert!(watch.ready().unwrap().is_empty());
            watch.position() >= version
        })
        .await;
        assert!(watch.position() > last);
        last = watch.position();
    }
    // Resuming from a bookmark brings what came after it and nothing before.
    write(&store, "quiet/a", "1").await;
    let mut resumed = store.watch(b"", last).unwrap();
    assert_eq!(told(&take(&mut resumed, 1).await), ["+quiet/a=1"]);
}
