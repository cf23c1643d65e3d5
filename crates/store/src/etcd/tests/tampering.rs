//! Somebody changes what is in etcd behind the store's back: verification names what.
//!
//! Records and lines in etcd have their revision from the key they stand in. Whoever writes one again and leaves it
//! at that has moved it; the thief of these stories knows that, and writes the revision down.

use std::sync::Arc;

use bytes::Bytes;

use super::super::Etcd;
use super::super::client::wire::KeyValue;
use super::super::layout::{delete, put, under};
use super::{Ground, behind_its_back, key, write};
use crate::history::archive::{Archive, Order, Row};
use crate::history::record::{Record, RecordId, Way};
use crate::store::Store;

/// A store with five changes of each of two objects, all covered by a checkpoint.
async fn covered(ground: &Ground) -> Arc<Etcd> {
    let store = ground.open().await.unwrap();
    for number in 0..5 {
        for name in ["a", "b"] {
            write(&store, name, &format!("{} {number}", "the same ".repeat(10))).await;
        }
    }
    let erased: &dyn Store = &*store;
    assert_eq!(erased.tidy(None).await.unwrap().checkpoints, 1);
    assert_eq!(findings(&store).await, [""; 0]);
    store
}

async fn findings(store: &Etcd) -> Vec<String> {
    match store.verify(&[]).await {
        Ok(report) => report.problems.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    }
}

fn archive(store: &Etcd) -> &dyn Archive {
    &*store.parts.archive
}

/// The records of one object, oldest first, each with its revision.
async fn records(store: &Etcd, name: &str) -> Vec<(RecordId, Record)> {
    archive(store).records(&key(name), None, Order::OldestFirst, 100).await.unwrap()
}

async fn forge(store: &Etcd, name: &str, place: RecordId, record: &Record) {
    let at = store.shared.layout.record(&key(name), place);
    behind_its_back(store, vec![put(at, postcard::to_stdvec(record).unwrap())]).await;
}

async fn kept_under(store: &Etcd, prefix: Bytes) -> Vec<KeyValue> {
    store.shared.client.range(under(prefix)).await.unwrap().kvs
}

async fn rows(store: &Etcd) -> Vec<Row> {
    archive(store).rows(None, Order::OldestFirst, 100).await.unwrap()
}

async fn assert_named(store: &Etcd, what: &str) {
    let findings = findings(store).await;
    assert!(findings.iter().any(|finding| finding.contains(what)), "{what} is not named: {findings:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_says_something_else_is_named() {
    let Some(ground) = Ground::shared() else { return };
    let store = covered(&ground).await;
    let changes: [fn(&mut Record); 4] = [
        |record| record.user = "mallory".into(),
        |record| record.time -= 60_000_000,
        |record| record.message = Some("because".into()),
        |record| record.before.as_mut().unwrap().body = Way::Whole("something else".into()),
    ];
    for (place, record) in records(&store, "a").await.into_iter().skip(1) {
        forge(&store, "a", place, &record).await;
        assert_eq!(findings(&store).await, [""; 0], "written again as it was");
        for change in changes {
            let mut forged = record.clone();
            change(&mut forged);
            forge(&store, "a", place, &forged).await;
            assert_named(&store, "a at version").await;
        }
        forge(&store, "a", place, &record).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_byte_of_a_record_is_watched_over() {
    let Some(ground) = Ground::shared() else { return };
    let store = covered(&ground).await;
    let (place, record) = records(&store, "a").await.swap_remove(2);
    let at = store.shared.layout.record(&key("a"), place);
    let kept = postcard::to_stdvec(&record).unwrap();
    for byte in 0..kept.len() {
        let mut forged = kept.clone();
        forged[byte] ^= 1;
        behind_its_back(&store, vec![put(at.clone(), forged)]).await;
        assert_ne!(findings(&store).await, [""; 0], "byte {byte} of {}", kept.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_was_removed_swapped_moved_or_cut_off_is_named() {
    let Some(ground) = Ground::shared() else { return };
    let store = covered(&ground).await;
    let (of_a, of_b) = (records(&store, "a").await, records(&store, "b").await);
    for (place, record) in &of_a {
        behind_its_back(&store, vec![delete(store.shared.layout.record(&key("a"), *place))]).await;
        assert_named(&store, "a at version").await;
        forge(&store, "a", *place, record).await;
    }
    for (other, what) in [(&of_a[3].1, "a at version"), (&of_b[2].1, "a at version")] {
        forge(&store, "a", of_a[2].0, other).await;
        assert_named(&store, what).await;
        forge(&store, "a", of_a[2].0, &of_a[2].1).await;
    }
    assert_eq!(findings(&store).await, [""; 0], "all is back in its place");

    let cut = postcard::to_stdvec(&of_a[2].1).unwrap()[..30].to_vec();
    behind_its_back(&store, vec![put(store.shared.layout.record(&key("a"), of_a[2].0), cut)]).await;
    assert_named(&store, "can't be decoded").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_of_the_log_that_was_removed_or_changed_is_named() {
    let Some(ground) = Ground::shared() else { return };
    let store = covered(&ground).await;
    let layout = &store.shared.layout;
    let row = rows(&store).await.swap_remove(2);
    let with = |row: &Row| put(layout.row(&row.id), postcard::to_stdvec(&row.entries).unwrap());

    behind_its_back(&store, vec![delete(layout.row(&row.id))]).await;
    assert_named(&store, "is missing in the log").await;
    assert_named(&store, "checkpoint 1").await;
    behind_its_back(&store, vec![with(&row)]).await;
    assert_eq!(findings(&store).await, [""; 0], "back in its place");

    let mut forged = row.clone();
    forged.entries[0].hash[7] ^= 1;
    behind_its_back(&store, vec![with(&forged)]).await;
    assert_named(&store, "differs from its line in the log").await;
    assert_named(&store, "checkpoint 1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_that_was_changed_is_named() {
    let Some(ground) = Ground::shared() else { return };
    let store = covered(&ground).await;
    let mut kept = kept_under(&store, store.shared.layout.meta("checkpoint/")).await;
    let checkpoint = kept.pop().unwrap();
    let mut forged = checkpoint.value.to_vec();
    let last = forged.len() - 2;
    forged[last] ^= 1;
    behind_its_back(&store, vec![put(checkpoint.key, forged)]).await;
    assert_named(&store, "checkpoint 1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_was_changed_or_removed_is_named() {
    let Some(ground) = Ground::shared() else { return };
    let store = covered(&ground).await;
    let at = store.shared.layout.object(&key("a"));
    let kept = kept_under(&store, at.clone()).await.swap_remove(0);
    let mut forged = kept.value.to_vec();
    *forged.last_mut().unwrap() ^= 1;
    behind_its_back(&store, vec![put(at.clone(), forged)]).await;
    assert_named(&store, "a at version").await;
    behind_its_back(&store, vec![delete(at)]).await;
    assert_named(&store, "a at version").await;
}
