//! Objects found by their terms, now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use store::{Key, Model, Settings, Term};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    objects_are_found_by_their_words,
    the_index_follows_updates_and_deletions,
    the_index_of_an_older_revision_is_as_it_was,
    the_index_is_there_again_after_a_restart,
    a_model_that_changed_its_mind_is_asked_again,
    an_object_that_panics_the_index_is_set_aside_and_named,
    sealed_objects_are_found_by_what_they_hold,
);

async fn objects_are_found_by_their_words<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    write(&store, "a", "red big").await;
    write(&store, "b", "red small").await;
    write(&store, "c", "redder big").await;
    let snapshot = store.current().await.unwrap();
    assert_eq!(having(&snapshot, "red"), ["a", "b"]);
    assert_eq!(having(&snapshot, "big"), ["a", "c"]);
    assert_eq!(having(&snapshot, "re"), [""; 0]);
    assert_eq!(having(&snapshot, ""), [""; 0]);
}

async fn the_index_follows_updates_and_deletions<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    write(&store, "a", "red big").await;
    write(&store, "b", "red").await;
    write(&store, "a", "blue big").await;
    remove(&store, "b").await;
    let snapshot = store.current().await.unwrap();
    assert_eq!(having(&snapshot, "red"), [""; 0]);
    assert_eq!(having(&snapshot, "blue"), ["a"]);
    assert_eq!(having(&snapshot, "big"), ["a"]);
}

async fn the_index_of_an_older_revision_is_as_it_was<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    let first = write(&store, "a", "red").await.revision();
    let second = write(&store, "b", "red").await.revision();
    let third = write(&store, "a", "blue").await.revision();
    let fourth = remove(&store, "b").await.revision();
    let red_at = |revision| having(&store.at(revision).unwrap(), "red");
    assert_eq!(red_at(first), ["a"]);
    assert_eq!(red_at(second), ["a", "b"]);
    assert_eq!(red_at(third), ["b"]);
    assert_eq!(red_at(fourth), [""; 0]);
    let past = store.list_at(b"", store::At::Revision(second)).await.unwrap();
    assert_eq!(having(&past, "red"), ["a", "b"]);
}

async fn the_index_is_there_again_after_a_restart<G: Ground>() {
    let mut ground = G::open(with_words()).await;
    let store = ground.store();
    let first = write(&store, "a", "red").await.revision();
    write(&store, "a", "blue").await;
    write(&store, "b", "red").await;
    ground.reopen_with(with_words()).await;
    let store = ground.store();
    assert_eq!(having(&store.current().await.unwrap(), "red"), ["b"]);
    assert_eq!(having(&store.at(first).unwrap(), "red"), ["a"]);
}

/// Finds by the first letter, or, when told so, by the last.
struct Letter {
    last: Arc<AtomicBool>,
}

impl Model for Letter {
    fn terms(&self, _key: &Key, bytes: &[u8], terms: &mut Vec<Term>) {
        let letter = if self.last.load(Ordering::SeqCst) { bytes.last() } else { bytes.first() };
        terms.extend(letter.map(|letter| Term::index(vec![*letter])));
    }
}

/// Has a bug that one object meets.
struct Fragile;

impl Model for Fragile {
    fn terms(&self, _key: &Key, bytes: &[u8], terms: &mut Vec<Term>) {
        assert!(bytes != b"bad", "a bug in the model");
        terms.push(Term::index(bytes.to_vec()));
    }
}

async fn an_object_that_panics_the_index_is_set_aside_and_named<G: Ground>() {
    let model = || Settings { model: Some(Arc::new(Fragile)), ..quiet() };
    let mut ground = G::open(model()).await;
    write(&ground.store(), "a", "good").await;
    write(&ground.store(), "b", "bad").await;
    for after_a_restart in [false, true] {
        if after_a_restart {
            ground.reopen_with(model()).await;
        }
        let store = ground.store();
        let now = store.current().await.unwrap();
        assert_eq!(having(&now, "good"), ["a"]);
        assert_eq!(text(now.get(&key("b")).unwrap()), "bad");
        assert_eq!(store.set_aside(), [key("b")]);
        store.alive().unwrap();
        write(&store, "a", "good").await;
    }
    // It can be mended, and removed.
    let store = ground.store();
    write(&store, "b", "mended").await;
    assert_eq!(having(&store.current().await.unwrap(), "mended"), ["b"]);
    remove(&store, "b").await;
    assert_eq!(having(&store.current().await.unwrap(), "mended"), Vec::<String>::new());
}

async fn a_model_that_changed_its_mind_is_asked_again<G: Ground>() {
    let last = Arc::new(AtomicBool::new(false));
    let model: Arc<dyn Model> = Arc::new(Letter { last: last.clone() });
    let ground = G::open(Settings { model: Some(model), ..quiet() }).await;
    let store = ground.store();
    write(&store, "a", "xy").await;
    write(&store, "b", "yx").await;
    assert_eq!(having(&store.current().await.unwrap(), "x"), ["a"]);
    last.store(true, Ordering::SeqCst);
    store.reindex().await.unwrap();
    let snapshot = store.current().await.unwrap();
    assert_eq!(having(&snapshot, "x"), ["b"]);
    assert_eq!(having(&snapshot, "y"), ["a"]);
    remove(&store, "a").await;
    assert_eq!(having(&store.current().await.unwrap(), "y"), [""; 0]);
}

async fn sealed_objects_are_found_by_what_they_hold<G: Ground>() {
    let mut ground = G::open(with_words()).await;
    let store = ground.store();
    store.commit(just(put("a", "red").secret())).await.unwrap();
    assert_eq!(having(&store.current().await.unwrap(), "red"), ["a"]);
    ground.reopen_with(with_words()).await;
    assert_eq!(having(&ground.store().current().await.unwrap(), "red"), ["a"]);
}
