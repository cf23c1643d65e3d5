//! Read, decide, write: `transact`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use store::{Error, Refused};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    an_update_is_decided_on_what_is_stored,
    an_update_decided_on_something_old_is_decided_again,
    a_decision_against_a_change_writes_nothing,
    a_transaction_sees_its_own_writes,
    what_a_failed_attempt_has_written_is_taken_back,
    members_of_a_bucket_are_found_page_by_page,
    a_no_is_said_on_what_is_current,
);

/// GuaranteedUpdate, GuaranteedUpdateChecksStoredData.
async fn an_update_is_decided_on_what_is_stored<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "r1", "one").await;
    let update = store.transact(alice(), |view| {
        let old = view.get(&key("r1")).unwrap();
        view.put(put("r1", format!("{} and more", text(&old))));
        Ok::<_, ()>(text(&old))
    });
    let (old, committed) = update.await.unwrap();
    assert_eq!(old, "one");
    assert_eq!(text(committed.entries[0].as_ref().unwrap()), "one and more");
    assert_eq!(read(&store.current().await.unwrap(), "r1").as_deref(), Some("one and more"));
}

/// GuaranteedUpdateWithConflict.
async fn an_update_decided_on_something_old_is_decided_again<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "r1", "one").await;
    let tries = Arc::new(AtomicUsize::new(0));
    let (counted, runtime, rival) = (tries.clone(), tokio::runtime::Handle::current(), store.clone());
    let update = store.transact(alice(), move |view| {
        let old = text(&view.get(&key("r1")).unwrap());
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            // Somebody else writes between our reading and our writing.
            tokio::task::block_in_place(|| runtime.block_on(write(&rival, "r1", "theirs")));
        }
        view.put(put("r1", format!("{old}, ours")));
        Ok::<_, ()>(())
    });
    update.await.unwrap();
    assert_eq!(tries.load(Ordering::SeqCst), 2);
    assert_eq!(read(&store.current().await.unwrap(), "r1").as_deref(), Some("theirs, ours"));
}

async fn what_a_failed_attempt_has_written_is_taken_back<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "kept", "old").await;
    let done = store.transact(alice(), |view| {
        view.put(put("first", "one"));
        let failed = view.attempt(|view| {
            view.put(put("first", "two"));
            view.put(put("second", "two"));
            view.delete(key("kept"), "delete");
            view.attempt(|view| {
                view.put(put("third", "three"));
                Ok::<_, &str>(())
            })?;
            Err::<(), &str>("no")
        });
        assert_eq!(failed, Err("no"));
        assert_eq!(view.get(&key("first")).map(|entry| text(&entry)).as_deref(), Some("one"));
        assert!(view.get(&key("second")).is_none() && view.get(&key("third")).is_none());
        view.attempt(|view| {
            view.put(put("third", "four"));
            Ok::<_, ()>(())
        })
    });
    let (_, committed) = done.await.unwrap();
    assert_eq!(committed.entries.len(), 2);
    let now = store.current().await.unwrap();
    assert_eq!(read(&now, "first").as_deref(), Some("one"));
    assert_eq!(read(&now, "third").as_deref(), Some("four"));
    assert_eq!(read(&now, "kept").as_deref(), Some("old"));
    assert!(read(&now, "second").is_none());
}

async fn members_of_a_bucket_are_found_page_by_page<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    for name in ["a", "c", "e", "g"] {
        write(&store, name, "in:rack").await;
    }
    let found = store.transact(alice(), |view| {
        // What this transaction has written counts, as it would after the commit.
        view.put(put("d", "in:rack"));
        view.put(put("c", "elsewhere"));
        view.delete(key("g"), "delete");
        let term = Bytes::from("in:rack");
        let first = view.having_after(&term, None, 2);
        let rest = view.having_after(&term, first.last(), 9);
        assert!(view.somewhere(&Bytes::from("in:nowhere"), 7).is_none());
        let places: BTreeSet<_> = (0..64).filter_map(|seed| view.somewhere(&term, seed)).collect();
        assert!(places.len() > 1, "{places:?}");
        Ok::<_, ()>((first, rest))
    });
    let ((first, rest), _) = found.await.unwrap();
    assert_eq!((first, rest), (vec![key("a"), key("d")], vec![key("e")]));
}

/// ValidateDeletion…, as far as it is the store's: a decision may refuse.
async fn a_decision_against_a_change_writes_nothing<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "racks/r1", "one").await;
    let refused = store.transact(alice(), |view| {
        view.delete(key("racks/r1"), "delete");
        Err::<(), _>("it holds devices")
    });
    assert!(matches!(refused.await, Err(Refused::Decision("it holds devices"))));
    assert_eq!(read(&store.current().await.unwrap(), "racks/r1").as_deref(), Some("one"));
}

async fn a_transaction_sees_its_own_writes<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    write(&store, "a", "in:room").await;
    write(&store, "b", "in:room").await;
    let decided = store.transact(alice(), |view| {
        view.put(put("c", "in:room"));
        view.delete(key("a"), "delete");
        view.put(put("b", "in:hall"));
        let room = view.bucket(&"in:room".into()).into_iter().map(|(key, _)| key.to_string()).collect();
        let there = [view.exists(&key("a")), view.exists(&key("b")), view.exists(&key("d"))];
        Ok::<(Vec<String>, _), ()>((room, there))
    });
    let ((room, there), _) = decided.await.unwrap();
    assert_eq!(room, ["c"]);
    assert_eq!(there, [false, true, false]);
    assert_eq!(having(&store.current().await.unwrap(), "in:room"), ["c"]);
}

async fn a_no_is_said_on_what_is_current<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let no = |view: &mut store::View| view.get(&key("r1")).map(|_| ()).ok_or("there is no r1");
    assert!(matches!(store.transact(alice(), no).await, Err(Refused::Decision("there is no r1"))));
    // Another server makes it; here it may not have been heard of yet.
    let other = ground.second_server(quiet()).await.unwrap_or(store.clone());
    write(&other, "r1", "one").await;
    assert!(store.transact(alice(), no).await.is_ok());
    store.close().await.unwrap();
    let closed = store.transact(alice(), |view| {
        view.put(put("r1", "one"));
        Ok::<_, ()>(())
    });
    assert!(matches!(closed.await, Err(Refused::Store(Error::Closed))));
}
