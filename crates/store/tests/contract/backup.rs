//! Backup while others write, and restore into a fresh place.

use std::sync::Arc;

use store::{At, Body, Entry, Error, Level, Put, RAISE, Revision, Store, Version};

use super::fixture::{Embedded, Etcd, Ground, copy_keys, quiet};
use super::words::*;

on_every_engine!(
    a_restored_store_has_the_same_objects_and_history,
    a_backup_taken_while_others_write_shows_one_revision,
    a_restored_store_hands_out_no_version_again,
    a_restored_store_goes_on,
    the_past_of_a_restored_store_has_the_versions_of_then,
    a_backup_that_was_cut_off_or_changed_is_refused,
    secrets_of_a_backup_open_with_the_keys,
);

async fn backup(store: &Arc<dyn Store>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let summary = store.backup(&mut bytes).await.unwrap();
    assert_eq!(summary.bytes, bytes.len() as u64);
    bytes
}

/// Names and bodies: a restore gives new versions.
fn contents(snapshot: &store::Snapshot) -> Vec<(String, bytes::Bytes)> {
    contents_of(snapshot, "")
}

fn contents_of(snapshot: &store::Snapshot, prefix: &str) -> Vec<(String, bytes::Bytes)> {
    picture(snapshot, prefix).into_iter().map(|(name, _, bytes)| (name, bytes)).collect()
}

/// Some of everything.
async fn fill(store: &Arc<dyn Store>) {
    for number in 0..12u32 {
        let name = format!("a{}", number % 4);
        if number == 10 {
            remove(store, &name).await
        } else {
            write(store, &name, &format!("{number} same same")).await
        };
        store.commit(just(put("report", number.to_string()).level(Level::Brief))).await.unwrap();
        store.commit(just(put("event", number.to_string()).level(Level::None))).await.unwrap();
    }
    store.commit(just(put("secret", "swordfish").secret())).await.unwrap();
    store.commit(just(put("short", "x").expires_at(now() + 3_600_000))).await.unwrap();
}

async fn a_restored_store_has_the_same_objects_and_history<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    fill(&store).await;
    store.tidy(None).await.unwrap();
    write(&store, "a1", "after the checkpoint").await;
    let bytes = backup(&store).await;
    let copy = G::restored(&bytes, ground.keys()).await.unwrap();
    let (old, new) = (store.current().await.unwrap(), copy.store().current().await.unwrap());
    assert_eq!(contents(&new), contents(&old));
    assert_eq!(new.get(&key("short")).unwrap().expires(), old.get(&key("short")).unwrap().expires());
    for name in ["a0", "a1", "a2", "a3", "report", "secret"] {
        let (then, now) = (changes(&store, name).await, changes(&copy.store(), name).await);
        let line = |change: &store::Change| (change.version, change.time, change.uid, change.user.clone());
        assert_eq!(then.iter().map(line).collect::<Vec<_>>(), now.iter().map(line).collect::<Vec<_>>());
        let body = |change: &store::Change| change.after.as_ref().map(|entry| entry.bytes().clone());
        assert_eq!(then.iter().map(body).collect::<Vec<_>>(), now.iter().map(body).collect::<Vec<_>>());
    }
    let report = verified(&copy.store()).await;
    assert_eq!(report.checkpoints, 1);
    let past = At::Revision(changes(&store, "a3").await[1].version.revision());
    let (then, now) =
        (store.list_at(b"a", past).await.unwrap(), copy.store().list_at(b"a", past).await.unwrap());
    assert_eq!(contents_of(&then, "a"), contents_of(&now, "a"));
}

async fn a_backup_taken_while_others_write_shows_one_revision<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    // Two objects that are only ever changed together.
    let pair = |number: u32| just(put("left", number.to_string())).put(put("right", number.to_string()));
    store.commit(pair(0)).await.unwrap();
    let rival = store.clone();
    let writer = tokio::spawn(async move {
        for number in 1..60 {
            rival.commit(pair(number)).await.unwrap();
            write(&rival, &format!("n{}", number % 5), &number.to_string()).await;
        }
    });
    let mut backups = Vec::new();
    while !writer.is_finished() {
        backups.push(backup(&store).await);
        store.tidy(None).await.unwrap();
    }
    writer.await.unwrap();
    let last = backups.len() - 1;
    for bytes in [&backups[0], &backups[last / 2], &backups[last]] {
        let copy = G::restored(bytes, ground.keys()).await.unwrap();
        let snapshot = copy.store().current().await.unwrap();
        assert_eq!(read(&snapshot, "left"), read(&snapshot, "right"));
        let number: usize = read(&snapshot, "left").unwrap().parse().unwrap();
        assert_eq!(changes(&copy.store(), "left").await.len(), number + 1);
        verified(&copy.store()).await;
    }
}

async fn a_restored_store_hands_out_no_version_again<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    fill(&store).await;
    let bytes = backup(&store).await;
    // The old store goes on after the backup, and clients hold what it handed out then.
    let mut held = Version::ZERO;
    for number in 0..20 {
        held = write(&store, "later", &number.to_string()).await;
    }
    let copy = G::restored(&bytes, ground.keys()).await.unwrap();
    let snapshot = copy.store().current().await.unwrap();
    assert!(snapshot.list(b"").all(|(_, entry)| entry.version() > held));
    assert!(snapshot.revision().get() > held.revision().get() && RAISE > 1_000_000);
    assert!(write(&copy.store(), "new", "x").await > snapshot.version());
    let gone = copy.store().watch(b"", held).map(|_| ()).unwrap_err();
    assert!(matches!(gone, Error::Gone { .. }), "{gone}");
    assert!(matches!(copy.store().at(held.revision()).map(|_| ()), Err(Error::Gone { .. })));
    let mut watch = copy.store().watch(b"", snapshot.version()).unwrap();
    assert_eq!(told(&take(&mut watch, 1).await), ["+new=x"]);
}

async fn the_past_of_a_restored_store_has_the_versions_of_then<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let stamped = |number: usize| {
        let body = format!(r#"{{"number":{number},"version":""}}"#);
        let body = Body::stamped(body.clone(), body.len() - 2).unwrap();
        just(Put::new(key("a-stamped"), life("a-stamped", 1), body))
    };
    store.commit(stamped(0)).await.unwrap();
    fill(&store).await;
    store.commit(stamped(1)).await.unwrap();
    let mut revisions: Vec<Revision> = Vec::new();
    for name in ["a-stamped", "a1", "a2", "a3"] {
        revisions.extend(changes(&store, name).await.iter().map(|change| change.version.revision()));
    }
    let bytes = backup(&store).await;
    let copy = G::restored(&bytes, ground.keys()).await.unwrap().store();
    let raised = copy.current().await.unwrap().revision();
    for changed_since in [false, true] {
        if changed_since {
            write(&copy, "a1", "after the restore").await;
            remove(&copy, "a3").await;
        }
        for revision in &revisions {
            let at = At::Revision(*revision);
            let (then, now) = (store.list_at(b"a", at).await.unwrap(), copy.list_at(b"a", at).await.unwrap());
            assert_eq!(picture(&now, "a"), picture(&then, "a"), "at {revision}");
            for name in ["a-stamped", "a0", "a1", "a2", "a3"] {
                let one = copy.object_at(&key(name), at).await.unwrap();
                let listed = now.get(&key(name));
                let shown = |entry: &Arc<Entry>| (entry.version(), entry.bytes().clone());
                assert_eq!(one.as_ref().map(shown), listed.map(shown), "{name} at {revision}");
            }
        }
    }
    // At the restore itself everything has the version that the restore gave it.
    let at = copy.list_at(b"a", At::Revision(raised)).await.unwrap();
    assert!(at.list(b"a").all(|(_, entry)| entry.version().revision().get() > RAISE));
}

async fn a_restored_store_goes_on<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    fill(&ground.store()).await;
    ground.store().tidy(None).await.unwrap();
    let bytes = backup(&ground.store()).await;
    let mut copy = G::restored(&bytes, ground.keys()).await.unwrap();
    for round in 0..2 {
        let store = copy.store();
        write(&store, "a1", &format!("round {round}")).await;
        remove(&store, &format!("a{}", 3 * round)).await;
        store.commit(just(put("secret", format!("trout {round}")).secret())).await.unwrap();
        settle(&store).await;
        verified(&store).await;
        copy.reopen().await;
        verified(&copy.store()).await;
    }
    // The past before the restore is still there, also of what was changed since.
    let told = changes(&copy.store(), "a1").await;
    let old = told.iter().find(|change| change.version.revision() < Revision::new(RAISE)).unwrap();
    assert_eq!(text(old.after.as_ref().unwrap()), "9 same same");
    let second = backup(&copy.store()).await;
    let again = G::restored(&second, ground.keys()).await.unwrap();
    verified(&again.store()).await;
    assert_eq!(
        contents(&again.store().current().await.unwrap()),
        contents(&copy.store().current().await.unwrap())
    );
}

async fn a_backup_that_was_cut_off_or_changed_is_refused<G: Ground>() {
    let ground = G::open(quiet()).await;
    fill(&ground.store()).await;
    let bytes = backup(&ground.store()).await;
    let step = bytes.len() / 12;
    for cut in (0..12).map(|part| part * step).chain([bytes.len() - 1]) {
        let refused = G::restored(&bytes[..cut], ground.keys()).await.map(|_| ());
        assert!(refused.is_err(), "cut after {cut}");
    }
    for place in (0..12).map(|part| part * step + part).chain([bytes.len() - 1]) {
        let mut changed = bytes.clone();
        changed[place] ^= 4;
        let refused = G::restored(&changed, ground.keys()).await.map(|_| ());
        assert!(refused.is_err(), "changed at {place}");
    }
}

async fn secrets_of_a_backup_open_with_the_keys<G: Ground>() {
    let ground = G::open(quiet()).await;
    fill(&ground.store()).await;
    let bytes = backup(&ground.store()).await;
    let copy = G::restored(&bytes, ground.keys()).await.unwrap();
    let store = copy.store();
    let snapshot = store.current().await.unwrap();
    assert_eq!(store.reveal(&key("secret"), snapshot.get(&key("secret")).unwrap()).unwrap(), "swordfish");
    store.commit(just(put("secret", "trout").secret())).await.unwrap();
    let elsewhere = G::open(quiet()).await;
    let Err(refused) = G::restored(&bytes, elsewhere.keys()).await else { panic!("other keys") };
    assert!(refused.to_string().contains("is wrapped with key"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_backup_leaves_nothing_and_a_used_folder_is_left_alone() {
    let ground = Embedded::open(quiet()).await;
    fill(&ground.store()).await;
    let bytes = backup(&ground.store()).await;
    let folder = tempfile::tempdir().unwrap();
    copy_keys(ground.keys(), folder.path());
    let cut = &bytes[..bytes.len() / 2];
    assert!(store::Embedded::restore(folder.path(), &mut &*cut).await.is_err());
    assert!(!folder.path().join("store.redb").exists());
    let summary = store::Embedded::restore(folder.path(), &mut &*bytes).await.unwrap();
    assert_eq!(summary.objects as usize, ground.store().current().await.unwrap().len());
    let twice = store::Embedded::restore(folder.path(), &mut &*bytes).await.unwrap_err();
    assert!(twice.to_string().contains("exists already"), "{twice}");
    let copy = store::Embedded::open(folder.path(), quiet()).await.unwrap() as Arc<dyn Store>;
    verified(&copy).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_restored_with_another_signing_key_verifies_with_the_old_one_trusted() {
    let ground = Embedded::open(quiet()).await;
    fill(&ground.store()).await;
    ground.store().tidy(None).await.unwrap();
    let bytes = backup(&ground.store()).await;
    let keys = tempfile::tempdir().unwrap();
    copy_keys(ground.keys(), keys.path());
    std::fs::remove_file(keys.path().join("signing.key")).unwrap();
    let signing = |folder: &std::path::Path| {
        store::sign::SigningKey::open_or_create(folder.join("signing.key")).unwrap().public()
    };
    signing(keys.path());
    let copy = Embedded::restored(&bytes, keys.path()).await.unwrap();
    assert!(!copy.store().verify(&[]).await.unwrap().problems.is_empty());
    let report = copy.store().verify(&[signing(ground.keys())]).await.unwrap();
    assert_eq!(report.problems, []);
}

/// Fills a store of one engine and restores its backup into the other.
async fn moves_house<From: Ground, To: Ground>() {
    let old = From::open(quiet()).await;
    fill(&old.store()).await;
    old.store().tidy(None).await.unwrap();
    write(&old.store(), "a1", "after the checkpoint").await;
    let bytes = backup(&old.store()).await;
    let mut new = To::restored(&bytes, old.keys()).await.unwrap();
    for after_a_restart in [false, true] {
        if after_a_restart {
            new.reopen().await;
        }
        let (then, now) = (old.store().current().await.unwrap(), new.store().current().await.unwrap());
        assert_eq!(contents(&now), contents(&then));
        let versions = |changes: Vec<store::Change>| changes.iter().map(|c| c.version).collect::<Vec<_>>();
        for name in ["a0", "a1", "a2", "report", "secret"] {
            assert_eq!(
                versions(changes(&old.store(), name).await),
                versions(changes(&new.store(), name).await)
            );
        }
        assert!(now.list(b"").all(|(_, entry)| entry.version() > then.version()));
        verified(&new.store()).await;
    }
    write(&new.store(), "a1", "in the new house").await;
    new.store().tidy(None).await.unwrap();
    verified(&new.store()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_moves_from_a_file_to_etcd() {
    if Etcd::available() {
        moves_house::<Embedded, Etcd>().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_moves_from_etcd_to_a_file() {
    if Etcd::available() {
        moves_house::<Etcd, Embedded>().await;
    }
}
