//! Deletions.

use store::{Body, Put, Transaction};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    a_deletion_answers_with_what_it_deleted_at_its_own_version,
    deleting_what_is_not_there_changes_nothing,
    a_deletion_on_a_condition_waits_for_the_condition,
    of_two_who_delete_the_same_version_one_is_told_of_the_other,
    a_deletion_meant_for_an_earlier_life_spares_the_later_one,
);

/// UnconditionalDelete.
async fn a_deletion_answers_with_what_it_deleted_at_its_own_version<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let body = Body::stamped("at ", 3).unwrap();
    let made = store.commit(just(Put::new(key("r1"), life("r1", 1), body))).await.unwrap();
    let gone = store.commit(Transaction::by(alice()).delete(key("r1"))).await.unwrap();
    assert!(gone.revision > made.revision);
    assert_eq!(version_of(&gone).revision(), gone.revision);
    assert_eq!(text(gone.entries[0].as_ref().unwrap()), format!("at {}", version_of(&gone)));
    assert!(store.current().await.unwrap().get(&key("r1")).is_none());
}

/// UnconditionalDelete, of a key that does not exist.
async fn deleting_what_is_not_there_changes_nothing<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "r1", "one").await;
    let start = store.current().await.unwrap();
    let mut watch = store.watch(b"", start.version()).unwrap();
    let nothing = store.commit(Transaction::by(alice()).delete(key("r2"))).await.unwrap();
    assert!(nothing.entries[0].is_none());
    assert_eq!(picture(&store.current().await.unwrap(), ""), picture(&start, ""));
    assert!(watch.ready().unwrap().is_empty());
    assert!(changes(&store, "r2").await.is_empty());
}

/// ConditionalDelete.
async fn a_deletion_on_a_condition_waits_for_the_condition<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let old = write(&store, "r1", "one").await;
    let new = write(&store, "r1", "two").await;
    let delete_at = |version| Transaction::by(alice()).guard(unchanged("r1", version)).delete(key("r1"));
    assert!(store.commit(delete_at(old)).await.unwrap_err().is_conflict());
    assert_eq!(read(&store.current().await.unwrap(), "r1").as_deref(), Some("two"));
    store.commit(delete_at(new)).await.unwrap();
    assert!(store.commit(delete_at(new)).await.unwrap_err().is_conflict());
}

/// DeleteWithConflict.
async fn of_two_who_delete_the_same_version_one_is_told_of_the_other<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let version = write(&store, "r1", "one").await;
    let delete = || store.commit(Transaction::by(alice()).guard(unchanged("r1", version)).delete(key("r1")));
    let (one, other) = tokio::join!(delete(), delete());
    let failed = [one, other].into_iter().filter_map(Result::err).collect::<Vec<_>>();
    assert_eq!(failed.len(), 1);
    assert!(failed[0].is_conflict(), "{}", failed[0]);
}

/// PreconditionalDeleteWithUID: what was read is guarded by its version, so a later life is out of reach.
async fn a_deletion_meant_for_an_earlier_life_spares_the_later_one<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let first = write(&store, "r1", "one").await;
    remove(&store, "r1").await;
    store.commit(just(Put::new(key("r1"), life("r1", 2), Body::plain("one")))).await.unwrap();
    let late = Transaction::by(alice()).guard(unchanged("r1", first)).delete(key("r1"));
    assert!(store.commit(late).await.unwrap_err().is_conflict());
    assert_eq!(store.current().await.unwrap().get(&key("r1")).unwrap().uid(), life("r1", 2));
}
