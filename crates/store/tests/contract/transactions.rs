//! Transactions over many keys: guards, all or nothing, one revision, limits.

use store::{Body, Error, Guard, Put, Transaction, Version};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    a_commit_has_one_revision_and_its_writes_have_positions,
    one_guard_that_does_not_hold_keeps_every_write_back,
    a_guard_of_existence_lets_changes_pass_but_not_the_end,
    a_bucket_guard_notices_who_comes_goes_or_changes,
    a_bucket_guard_holds_while_only_others_change,
    a_bucket_guard_notices_a_swap_that_leaves_it_as_full_as_before,
    a_key_is_written_once_in_a_transaction,
    too_many_writes_are_refused_with_the_limit,
    too_many_bytes_are_refused_with_the_limit,
    guards_alone_are_checked_and_write_nothing,
);

async fn a_commit_has_one_revision_and_its_writes_have_positions<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "gone", "x").await;
    let transaction = just(put("c", "1")).put(put("a", "2")).delete(key("gone")).put(put("b", "3"));
    let committed = store.commit(transaction).await.unwrap();
    let versions: Vec<Version> = committed.entries.iter().flatten().map(|entry| entry.version()).collect();
    let expected: Vec<Version> = (0..4).map(|at| Version::of(committed.revision, at)).collect();
    assert_eq!(versions, expected);
    let snapshot = store.current().await.unwrap();
    assert!(snapshot.revision() >= committed.revision);
    assert_eq!(snapshot.version(), snapshot.revision().end());
    assert_eq!(names(&snapshot, ""), ["a", "b", "c"]);
}

async fn one_guard_that_does_not_hold_keeps_every_write_back<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let version = write(&store, "a", "1").await;
    let before = store.current().await.unwrap();
    let changed = [unchanged("a", Version::new(version.get() + 1)), absent("a"), Guard::Exists(key("z"))];
    for broken in changed {
        let transaction = just(put("b", "2")).put(put("c", "3")).delete(key("a"));
        let transaction = transaction.guard(unchanged("a", version)).guard(broken.clone());
        let refused = store.commit(transaction).await.unwrap_err();
        assert!(refused.is_conflict(), "{broken:?}: {refused}");
    }
    let after = store.current().await.unwrap();
    assert_eq!(picture(&after, ""), picture(&before, ""));
}

async fn a_guard_of_existence_lets_changes_pass_but_not_the_end<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "site", "1").await;
    write(&store, "site", "2").await;
    let under = |name: &str| just(put(name, "x")).guard(Guard::Exists(key("site")));
    store.commit(under("site/a")).await.unwrap();
    remove(&store, "site").await;
    assert!(store.commit(under("site/b")).await.unwrap_err().is_conflict());
}

async fn a_bucket_guard_notices_who_comes_goes_or_changes<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    write(&store, "a", "in:room").await;
    write(&store, "b", "in:room").await;
    let touches: [(&str, Transaction); 5] = [
        ("one comes", just(put("c", "in:room"))),
        ("one changes", just(put("c", "in:room taller"))),
        ("one moves out", just(put("c", "in:hall"))),
        ("one goes", Transaction::by(alice()).delete(key("b"))),
        ("one moves in", just(put("c", "in:room"))),
    ];
    for (what, touch) in touches {
        let read_at = store.current().await.unwrap().revision();
        store.commit(touch).await.unwrap();
        let guard = Guard::Bucket { term: "in:room".into(), at: read_at };
        let late = store.commit(just(put("late", "x")).guard(guard)).await;
        assert!(late.is_err_and(|error| error.is_conflict()), "not noticed: {what}");
        let read_again = store.current().await.unwrap().revision();
        let guard = Guard::Bucket { term: "in:room".into(), at: read_again };
        store.commit(just(put("probe", what)).guard(guard)).await.unwrap();
    }
}

async fn a_bucket_guard_holds_while_only_others_change<G: Ground>() {
    let mut ground = G::open(with_words()).await;
    let store = ground.store();
    write(&store, "a", "in:room").await;
    let at = store.current().await.unwrap().revision();
    write(&store, "b", "in:hall").await;
    write(&store, "c", "room").await;
    let guard = Guard::Bucket { term: "in:room".into(), at };
    store.commit(just(put("d", "x")).guard(guard)).await.unwrap();
    ground.reopen_with(with_words()).await;
    let store = ground.store();
    let at = store.current().await.unwrap().revision();
    let guard = Guard::Bucket { term: "in:room".into(), at };
    store.commit(just(put("e", "x")).guard(guard)).await.unwrap();
}

async fn a_bucket_guard_notices_a_swap_that_leaves_it_as_full_as_before<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    write(&store, "a", "in:room").await;
    write(&store, "b", "in:hall").await;
    let at = store.current().await.unwrap().revision();
    store.commit(just(put("a", "in:hall")).put(put("b", "in:room"))).await.unwrap();
    store.commit(just(put("a", "in:room")).put(put("b", "in:hall"))).await.unwrap();
    let guard = Guard::Bucket { term: "in:room".into(), at };
    assert!(store.commit(just(put("c", "x")).guard(guard)).await.unwrap_err().is_conflict());
}

async fn a_key_is_written_once_in_a_transaction<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for twice in [just(put("a", "1")).put(put("a", "2")), just(put("a", "1")).delete(key("a"))] {
        match store.commit(twice).await {
            Err(Error::Invalid(why)) => assert!(why.contains("a is written twice"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(store.current().await.unwrap().is_empty());
}

async fn too_many_writes_are_refused_with_the_limit<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let limits = store.limits();
    let most = limits.operations.unwrap_or(limits.writes).min(limits.writes);
    let mut large = Transaction::by(alice());
    for number in 0..=most {
        large = large.put(put(&format!("racks/{number}"), ""));
    }
    match store.commit(large).await {
        Err(error @ Error::TooLarge { found, limit, hint, .. }) => {
            assert!(found > limit);
            let told = error.to_string();
            assert!(told.contains(&limit.to_string()) && told.contains(hint), "{told}");
        }
        other => panic!("{other:?}"),
    }
    assert!(store.current().await.unwrap().is_empty());
}

async fn too_many_bytes_are_refused_with_the_limit<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let bytes = store.limits().bytes;
    let large = Put::new(key("r1"), life("r1", 1), Body::plain(vec![0; bytes + 1]));
    match store.commit(just(large)).await {
        Err(error @ Error::TooLarge { what: "bytes", .. }) => {
            assert!(error.to_string().contains(&bytes.to_string()), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert!(store.current().await.unwrap().is_empty());
}

async fn guards_alone_are_checked_and_write_nothing<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let version = write(&store, "a", "1").await;
    let checked = store.commit(Transaction::by(alice()).guard(unchanged("a", version))).await.unwrap();
    assert!(checked.revision >= version.revision() && checked.entries.is_empty());
    let refused = store.commit(Transaction::by(alice()).guard(absent("a"))).await.unwrap_err();
    assert!(refused.is_conflict());
}
