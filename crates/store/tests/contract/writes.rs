//! Single writes: making and changing one object.

use store::{Body, Conflict, Error, Put};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    an_object_is_read_as_it_was_written,
    the_version_stands_where_the_writer_left_room,
    creating_what_exists_is_a_conflict_and_changes_nothing,
    what_is_not_there_is_not_found,
    a_write_that_changes_nothing_keeps_the_version,
    another_life_of_a_key_can_not_be_written_over,
    objects_survive_a_restart,
);

/// Create, Get.
async fn an_object_is_read_as_it_was_written<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let made = store.commit(just(put("racks/r1", "one")).guard(absent("racks/r1"))).await.unwrap();
    let snapshot = store.current().await.unwrap();
    let entry = snapshot.get(&key("racks/r1")).unwrap();
    assert_eq!(text(entry), "one");
    assert_eq!(entry.version(), version_of(&made));
    assert_eq!(entry.version().revision(), made.revision);
    assert_eq!(entry.uid(), life("racks/r1", 1));
    assert_eq!((entry.is_sealed(), entry.expires()), (false, None));
}

async fn the_version_stands_where_the_writer_left_room<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let body = Body::stamped(r#"{"version":"","name":"r1"}"#, 12).unwrap();
    let made = ground.store().commit(just(Put::new(key("r1"), life("r1", 1), body))).await.unwrap();
    let expected = format!(r#"{{"version":"{}","name":"r1"}}"#, version_of(&made));
    assert_eq!(text(made.entries[0].as_ref().unwrap()), expected);
    ground.reopen().await;
    assert_eq!(read(&ground.store().current().await.unwrap(), "r1"), Some(expected));
}

/// CreateWithKeyExist.
async fn creating_what_exists_is_a_conflict_and_changes_nothing<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let version = write(&store, "r1", "one").await;
    let again = store.commit(just(put("r1", "two")).guard(absent("r1"))).await.unwrap_err();
    assert!(again.is_conflict(), "{again}");
    if let Error::Conflict(Conflict::Changed { key: at, found, .. }) = &again {
        assert_eq!((at, *found), (&key("r1"), version));
    }
    let snapshot = store.current().await.unwrap();
    assert_eq!(read(&snapshot, "r1").as_deref(), Some("one"));
    assert_eq!(snapshot.get(&key("r1")).unwrap().version(), version);
}

/// Get.
async fn what_is_not_there_is_not_found<G: Ground>() {
    let ground = G::open(quiet()).await;
    let snapshot = ground.store().current().await.unwrap();
    assert!(snapshot.get(&key("r1")).is_none());
    assert!(snapshot.is_empty());
    assert_eq!(names(&snapshot, ""), [""; 0]);
}

/// GuaranteedUpdate, of an update that changes nothing.
async fn a_write_that_changes_nothing_keeps_the_version<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let version = write(&store, "r1", "one").await;
    let mut watch = store.watch(b"", version).unwrap();
    let same = store.commit(just(put("r1", "one").verb("patch"))).await.unwrap();
    assert_eq!(version_of(&same), version);
    assert_eq!(changes(&store, "r1").await.len(), 1);

    // Next to a write that does change something, it still keeps its own.
    let pair = just(put("r1", "one")).put(put("r2", "two"));
    let pair = store.commit(pair).await.unwrap();
    assert_eq!(version_of(&pair), version);
    assert_eq!(told(&take(&mut watch, 1).await), ["+r2=two"]);
}

/// PreconditionalDelete, of an update: the uid is the precondition.
async fn another_life_of_a_key_can_not_be_written_over<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "r1", "one").await;
    let stranger = Put::new(key("r1"), life("r1", 2), Body::plain("mine"));
    let refused = store.commit(just(stranger.clone())).await.unwrap_err();
    assert!(refused.is_conflict(), "{refused}");
    assert_eq!(read(&store.current().await.unwrap(), "r1").as_deref(), Some("one"));

    remove(&store, "r1").await;
    store.commit(just(stranger)).await.unwrap();
    assert_eq!(read(&store.current().await.unwrap(), "r1").as_deref(), Some("mine"));
}

async fn objects_survive_a_restart<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    for number in 0..20 {
        write(&store, &format!("racks/r{number}"), &format!("rack {number}")).await;
    }
    remove(&store, "racks/r7").await;
    write(&store, "racks/r8", "changed").await;
    let before = store.current().await.unwrap();
    ground.reopen().await;
    let after = ground.store().current().await.unwrap();
    assert_eq!(picture(&after, ""), picture(&before, ""));
    assert!(after.revision() >= before.revision());
}
