//! Secrets: sealed at rest and in lists, opened for who may.

use std::os::unix::fs::PermissionsExt;

use store::seal::KeyFile;
use store::{Body, Error, Put};

use super::fixture::{Embedded, Ground, quiet};
use super::words::*;

on_every_engine!(
    a_secret_is_sealed_in_lists_and_opens_when_asked,
    a_secret_opens_after_a_restart,
    a_secret_moved_to_another_object_does_not_open,
    what_can_not_be_opened_can_still_be_listed_and_deleted,
    a_secret_knows_its_version,
    a_secret_written_again_unchanged_keeps_its_version,
    a_new_sealing_key_leaves_every_secret_readable,
    key_files_are_for_their_owner_alone,
    a_new_key_is_put_in_place_while_others_read_and_write,
);

async fn a_secret_is_sealed_in_lists_and_opens_when_asked<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    store.commit(just(put("a", "swordfish").secret())).await.unwrap();
    write(&store, "b", "open").await;
    let snapshot = store.current().await.unwrap();
    let entry = snapshot.get(&key("a")).unwrap();
    assert!(entry.is_sealed());
    assert!(!entry.bytes().windows(9).any(|window| window == b"swordfish"));
    assert_eq!(store.reveal(&key("a"), entry).unwrap(), "swordfish");
    assert_eq!(store.reveal(&key("b"), snapshot.get(&key("b")).unwrap()).unwrap(), "open");
    let events = take(&mut store.watch(b"a", start).unwrap(), 1).await;
    assert!(events[0].shown().is_sealed());
    assert_eq!(store.reveal(&key("a"), events[0].shown()).unwrap(), "swordfish");
}

async fn a_secret_opens_after_a_restart<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    ground.store().commit(just(put("a", "swordfish").secret())).await.unwrap();
    for _ in 0..2 {
        ground.reopen().await;
        let store = ground.store();
        let snapshot = store.current().await.unwrap();
        assert_eq!(store.reveal(&key("a"), snapshot.get(&key("a")).unwrap()).unwrap(), "swordfish");
        store.commit(just(put("b", "trout").secret())).await.unwrap();
    }
}

/// TransformationFailure.
async fn a_secret_moved_to_another_object_does_not_open<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    store.commit(just(put("a", "swordfish").secret()).put(put("b", "trout").secret())).await.unwrap();
    let snapshot = store.current().await.unwrap();
    let moved = snapshot.get(&key("a")).unwrap();
    assert!(matches!(store.reveal(&key("b"), moved), Err(Error::Seal(_))));
    // The same name in another life is another object too.
    remove(&store, "a").await;
    let again = Put::new(key("a"), life("a", 2), Body::plain("new")).secret();
    store.commit(just(again)).await.unwrap();
    assert_eq!(store.reveal(&key("a"), moved).unwrap(), "swordfish");
    let mut rebuilt = Put::new(key("c"), life("c", 1), Body::plain(moved.bytes().clone())).secret();
    rebuilt.verb = "copy".into();
    store.commit(just(rebuilt)).await.unwrap();
    let snapshot = store.current().await.unwrap();
    let copy = store.reveal(&key("c"), snapshot.get(&key("c")).unwrap()).unwrap();
    assert_eq!(copy, moved.bytes(), "a copy of sealed bytes is sealed once more, not opened");
}

/// TransformationFailure, of a list and of a deletion.
async fn what_can_not_be_opened_can_still_be_listed_and_deleted<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    store.commit(just(put("a", "swordfish").secret())).await.unwrap();
    write(&store, "b", "open").await;
    let snapshot = store.current().await.unwrap();
    let unreadable = store.reveal(&key("z"), snapshot.get(&key("a")).unwrap()).unwrap_err();
    assert!(unreadable.to_string().contains("does not open"), "{unreadable}");
    assert_eq!(names(&snapshot, ""), ["a", "b"]);
    remove(&store, "a").await;
    assert_eq!(names(&store.current().await.unwrap(), ""), ["b"]);
}

async fn a_secret_knows_its_version<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let body = Body::stamped("v= secret", 2).unwrap();
    let put = Put::new(key("a"), life("a", 1), body).secret();
    let version = version_of(&ground.store().commit(just(put)).await.unwrap());
    for _ in 0..2 {
        let store = ground.store();
        let snapshot = store.current().await.unwrap();
        let plain = store.reveal(&key("a"), snapshot.get(&key("a")).unwrap()).unwrap();
        assert_eq!(plain, format!("v={version} secret"));
        ground.reopen().await;
    }
}

async fn a_secret_written_again_unchanged_keeps_its_version<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let first = store.commit(just(put("a", "swordfish").secret())).await.unwrap();
    let second = store.commit(just(put("a", "swordfish").secret())).await.unwrap();
    assert_eq!(version_of(&first), version_of(&second));
    assert_eq!(changes(&store, "a").await.len(), 1);
    let third = store.commit(just(put("a", "trout").secret())).await.unwrap();
    assert!(version_of(&third) > version_of(&first));
}

async fn a_new_sealing_key_leaves_every_secret_readable<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    store.commit(just(put("a", "swordfish").secret())).await.unwrap();
    let path = ground.keys().join("sealing.keys");
    let before = std::fs::read_to_string(&path).unwrap();
    let name = store.rotate_sealing_key(KeyFile::open_or_create(&path).unwrap()).await.unwrap();
    assert_eq!(KeyFile::open_or_create(&path).unwrap().active_kid(), name);
    store.commit(just(put("b", "trout").secret())).await.unwrap();

    // The old line is no longer needed.
    let all = std::fs::read_to_string(&path).unwrap();
    let old = before.lines().find(|line| !line.starts_with('#') && !line.is_empty()).unwrap();
    std::fs::write(&path, all.replace(old, "")).unwrap();
    ground.reopen().await;
    let store = ground.store();
    let snapshot = store.current().await.unwrap();
    assert_eq!(store.reveal(&key("a"), snapshot.get(&key("a")).unwrap()).unwrap(), "swordfish");
    assert_eq!(store.reveal(&key("b"), snapshot.get(&key("b")).unwrap()).unwrap(), "trout");
    verified(&store).await;
}

async fn key_files_are_for_their_owner_alone<G: Ground>() {
    let ground = G::open(quiet()).await;
    for file in ["sealing.keys", "signing.key"] {
        let mode = std::fs::metadata(ground.keys().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

/// Only the embedded engine has a folder to look into.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plain_text_of_a_secret_is_nowhere_in_the_folder() {
    let ground = Embedded::open(quiet()).await;
    let store = ground.store();
    let mut backup = Vec::new();
    for body in ["swordfish in the first", "swordfish in the second"] {
        store.commit(just(put("a", body).secret())).await.unwrap();
    }
    write(&store, "b", "herring in the open").await;
    remove(&store, "a").await;
    store
        .commit(just(Put::new(key("a"), life("a", 2), Body::plain("swordfish again")).secret()))
        .await
        .unwrap();
    store.tidy(None).await.unwrap();
    store.backup(&mut backup).await.unwrap();
    ground.close().await;
    let holds = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    let mut herring = 0;
    for file in std::fs::read_dir(ground.keys()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!holds(&bytes, b"swordfish"));
        herring += usize::from(holds(&bytes, b"herring"));
    }
    assert_eq!(herring, 1, "the search finds what is there in the open");
    assert!(!holds(&backup, b"swordfish") && holds(&backup, b"herring"));
}

async fn a_new_key_is_put_in_place_while_others_read_and_write<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    store.commit(just(put("a", "swordfish").secret())).await.unwrap();
    let writer = store.clone();
    let writing = tokio::spawn(async move {
        for number in 0..20 {
            writer.commit(just(put(&format!("b{number}"), "trout").secret())).await.unwrap();
            let snapshot = writer.current().await.unwrap();
            assert_eq!(writer.reveal(&key("a"), snapshot.get(&key("a")).unwrap()).unwrap(), "swordfish");
        }
    });
    let first = store.rotate_sealing_key_in_place().await.unwrap();
    let second = store.rotate_sealing_key_in_place().await.unwrap();
    assert_ne!(first.key, second.key);
    assert_eq!(second.data_keys, 1);
    writing.await.unwrap();
    drop(store);
    ground.reopen().await;
    let store = ground.store();
    let snapshot = store.current().await.unwrap();
    for (name, value) in [("a", "swordfish"), ("b0", "trout"), ("b19", "trout")] {
        assert_eq!(store.reveal(&key(name), snapshot.get(&key(name)).unwrap()).unwrap(), value);
    }
}
