//! The size of a transaction while it is decided: what fits, as it is counted there, is taken.

use std::sync::Arc;

use store::{Body, Level, Put, Refused, Size, Store};

use super::fixture::Ground;
use super::words::*;

on_every_engine!(
    what_fits_is_taken_however_many_buckets_each_touches,
    what_is_begun_anew_has_read_and_written_nothing,
    the_size_counts_records_buckets_and_guards,
);

/// Writes as many objects as fit, in several buckets each; how many that were.
async fn fill(store: &Arc<dyn Store>, round: usize, bytes: usize) -> (usize, Size) {
    let limits = store.limits();
    let filled = store.transact(alice(), move |view| {
        let one = |view: &mut store::View, number: usize| {
            let name = format!("{round}/{number}");
            let buckets: String =
                (0..round + 1).map(|bucket| format!("in:{round}/{number}/{bucket} ")).collect();
            let body = Body::plain(buckets + &"x".repeat(bytes));
            assert_eq!(view.get(&key(&name)), None);
            view.put(Put::new(key(&name), life(&name, 1), body));
        };
        let mut fitting = 0;
        let mut size = view.size();
        while fitting < 300 {
            one(view, fitting);
            match view.size() {
                next if limits.fits(&next) => size = next,
                _ => break,
            }
            fitting += 1;
        }
        view.restart();
        (0..fitting).for_each(|number| one(view, number));
        Ok::<_, ()>((fitting, size))
    });
    filled.await.unwrap_or_else(|error| panic!("{error:?}")).0
}

async fn what_fits_is_taken_however_many_buckets_each_touches<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    for (round, bytes) in [(0, 0), (1, 0), (4, 0), (0, 100_000), (2, 30_000)] {
        let (count, size) = fill(&store, round * 10 + bytes % 7, bytes).await;
        assert!(count > 0, "{size:?}");
        if let Some(most) = store.limits().operations {
            assert!(
                size.operations <= most && size.operations + 100 > most
                    || size.bytes + 200_000 > store.limits().bytes,
                "the limit is used: {size:?}"
            );
        }
    }
}

async fn what_is_begun_anew_has_read_and_written_nothing<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    write(&store, "a", "1").await;
    let done = store.transact(alice(), |view| {
        view.get(&key("a"));
        view.put(put("b", "in:x"));
        view.restart();
        assert_eq!(view.guards(), []);
        assert_eq!(view.size().writes, 0);
        view.put(put("c", "1"));
        Ok::<_, ()>(())
    });
    assert_eq!(done.await.unwrap().1.entries.len(), 1);
    assert_eq!(names(&store.current().await.unwrap(), ""), ["a", "c"]);
}

async fn the_size_counts_records_buckets_and_guards<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    let stopped = store.transact(alice(), |view| {
        view.put(put("plain", "1"));
        let plain = view.size().operations;
        view.put(put("bucketed", "in:a in:b word"));
        let bucketed = view.size().operations;
        view.put(put("unrecorded", "1").level(Level::None));
        let unrecorded = view.size().operations;
        (0..20).for_each(|number| drop(view.get(&key(&format!("none-{number}")))));
        let guarded = view.size().operations;
        Err::<(), _>([plain, bucketed, unrecorded, guarded])
    });
    match stopped.await {
        Err(Refused::Decision([plain, bucketed, unrecorded, guarded])) => {
            // Object, record, log and mark; then object, record and two buckets; then the object alone.
            assert_eq!([plain, bucketed, unrecorded], [4, 8, 9]);
            assert_eq!(guarded, 23, "twenty that were read and three that are written");
        }
        other => panic!("{other:?}"),
    }
}
