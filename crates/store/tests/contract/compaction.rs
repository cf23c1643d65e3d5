//! Letting go of recent commits.

use store::{At, Error, Revision, Version};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    compacted_revisions_are_gone_and_the_rest_is_there,
    a_watch_that_has_seen_everything_outlives_a_compaction,
    a_watch_that_has_not_is_told,
    history_reaches_further_back_than_watches,
    compacting_ahead_of_everything_harms_nothing,
    what_was_settled_stays_gone_after_a_restart,
);

/// CompactRevision.
async fn compacted_revisions_are_gone_and_the_rest_is_there<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let mut versions = Vec::new();
    for number in 0..10 {
        versions.push(write(&store, "a", &number.to_string()).await);
    }
    store.compact(versions[4].revision()).await.unwrap();
    for (number, version) in versions.iter().enumerate() {
        let read_again = store.at(version.revision()).map(|snapshot| read(&snapshot, "a").unwrap());
        match read_again {
            Ok(body) => assert!(number >= 4 && body == number.to_string()),
            Err(Error::Gone { earliest, .. }) => assert!(number < 4 && earliest == versions[4].revision()),
            Err(other) => panic!("{other}"),
        }
    }
    assert!(matches!(store.watch(b"", versions[3]).map(|_| ()), Err(Error::Gone { .. })));
    let mut watch = store.watch(b"", versions[4].revision().end()).unwrap();
    assert_eq!(take(&mut watch, 5).await.len(), 5);
    assert_eq!(read(&store.current().await.unwrap(), "a").as_deref(), Some("9"));
}

async fn a_watch_that_has_seen_everything_outlives_a_compaction<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let mut watch = store.watch(b"a", store.current().await.unwrap().version()).unwrap();
    for round in 0..3 {
        write(&store, "a", &round.to_string()).await;
        assert_eq!(take(&mut watch, 1).await.len(), 1);
        let other = write(&store, "b", &round.to_string()).await;
        until("the watch", async || watch.ready().unwrap().is_empty() && watch.position() > other).await;
        store.compact(store.current().await.unwrap().revision()).await.unwrap();
    }
    write(&store, "a", "last").await;
    assert_eq!(told(&take(&mut watch, 1).await), ["~a=last"]);
}

async fn a_watch_that_has_not_is_told<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let mut watch = store.watch(b"a", store.current().await.unwrap().version()).unwrap();
    write(&store, "a", "1").await;
    let last = write(&store, "a", "2").await;
    store.compact(last.revision()).await.unwrap();
    let missed = next(&mut watch).await.map(|events| told(&events));
    assert!(matches!(missed, Err(Error::Gone { .. })), "{missed:?}");
    // Still so after something new has come.
    write(&store, "a", "3").await;
    let missed = next(&mut watch).await.map(|events| told(&events));
    assert!(matches!(missed, Err(Error::Gone { .. })), "{missed:?}");
}

async fn history_reaches_further_back_than_watches<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let first = write(&store, "a", "1").await;
    write(&store, "a", "2").await;
    settle(&store).await;
    assert!(store.at(first.revision()).is_err());
    let past = store.list_at(b"", At::Revision(first.revision())).await.unwrap();
    assert_eq!(read(&past, "a").as_deref(), Some("1"));
    assert_eq!(changes(&store, "a").await.len(), 2);
}

async fn compacting_ahead_of_everything_harms_nothing<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let first = write(&store, "a", "1").await;
    store.compact(Revision::new(first.revision().get() + 1000)).await.unwrap();
    let mut watch = store.watch(b"", store.current().await.unwrap().version()).unwrap();
    let second = write(&store, "a", "2").await;
    assert_eq!(told(&take(&mut watch, 1).await), ["~a=2"]);
    assert_eq!(read(&store.at(second.revision()).unwrap(), "a").as_deref(), Some("2"));
    store.compact(Revision::ZERO).await.unwrap();
    assert!(store.watch(b"", first).is_err(), "what is gone does not come back");
}

async fn what_was_settled_stays_gone_after_a_restart<G: Ground>() {
    let mut ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let first = write(&store, "a", "1").await;
    let second = write(&store, "a", "2").await;
    settle(&store).await;
    let third = write(&store, "a", "3").await;
    ground.reopen().await;
    let store = ground.store();
    assert!(matches!(store.watch(b"", first).map(|_| ()), Err(Error::Gone { .. })));
    assert!(matches!(store.at(first.revision()).map(|_| ()), Err(Error::Gone { .. })));
    let mut watch = store.watch(b"", second.revision().end()).unwrap();
    let events = take(&mut watch, 1).await;
    assert_eq!(events[0].version(), third);
    assert!(third > Version::ZERO);
}
