//! Verification and checkpoints of a store nobody tampered with.

use store::{Level, Transaction, Version};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    a_new_store_verifies,
    everything_that_was_written_is_counted_and_found_well,
    checkpoints_cover_what_is_new_and_only_once,
    many_changes_are_covered_part_by_part,
    a_store_verifies_while_others_write,
    the_newest_checkpoint_can_be_kept_elsewhere,
);

async fn a_new_store_verifies<G: Ground>() {
    let ground = G::open(quiet()).await;
    let report = verified(&ground.store()).await;
    assert_eq!((report.objects, report.records, report.checkpoints), (0, 0, 0));
    assert!(ground.store().checkpoint().await.unwrap().is_none());
}

async fn everything_that_was_written_is_counted_and_found_well<G: Ground>() {
    let mut ground = G::open_alone(quiet()).await;
    let store = ground.store();
    for number in 0..10 {
        write(&store, &format!("a{}", number % 4), &number.to_string()).await;
        store.commit(just(put("s", format!("secret {number}")).secret())).await.unwrap();
        store.commit(just(put("e", number.to_string()).level(Level::None))).await.unwrap();
        store.commit(just(put("r", number.to_string()).level(Level::Brief))).await.unwrap();
    }
    remove(&store, "a0").await;
    let report = verified(&store).await;
    // What has no past is on record only where watches need it.
    assert!((31..=41).contains(&report.records), "{} records", report.records);
    settle(&store).await;
    let report = verified(&store).await;
    // Three of a, the secret, the report; the one without a past can't be compared with any.
    assert_eq!(report.objects, 5);
    assert!(report.checkpoints > 0);
    ground.reopen().await;
    verified(&ground.store()).await;
}

async fn checkpoints_cover_what_is_new_and_only_once<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let first = write(&store, "a", "1").await;
    assert_eq!(verified(&store).await.covered, Version::ZERO);
    assert_eq!(store.tidy(None).await.unwrap().checkpoints, 1);
    assert_eq!(verified(&store).await.covered, first);
    assert_eq!(store.tidy(None).await.unwrap().checkpoints, 0);
    let second = write(&store, "a", "2").await;
    assert_eq!(store.tidy(None).await.unwrap().checkpoints, 1);
    let report = verified(&store).await;
    assert_eq!((report.covered, report.checkpoints), (second, 2));
}

async fn many_changes_are_covered_part_by_part<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut last = Version::ZERO;
    for group in 0..71 {
        let puts = (0..60).map(|number| put(&format!("a{group}/{number}"), "x"));
        // Some that no checkpoint covers, here and there.
        let puts = puts.map(|put| if group % 7 == 3 { put.level(Level::Brief) } else { put });
        let committed = store.commit(puts.fold(Transaction::by(alice()), Transaction::put)).await.unwrap();
        last = committed.entries[59].as_ref().unwrap().version();
    }
    store.commit(just(put("b", "x").level(Level::Brief))).await.unwrap();
    let checkpoints = store.tidy(None).await.unwrap().checkpoints;
    assert!((1..=2).contains(&checkpoints), "{checkpoints} checkpoints");
    let report = verified(&store).await;
    assert_eq!((report.covered, report.checkpoints), (last, checkpoints));
    assert_eq!(store.tidy(None).await.unwrap().checkpoints, 0);
}

async fn a_store_verifies_while_others_write<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let rival = store.clone();
    let writer = tokio::spawn(async move {
        for number in 0..60u32 {
            let name = format!("a{}", number % 6);
            if number % 10 == 9 {
                remove(&rival, &name).await
            } else {
                write(&rival, &name, &number.to_string()).await
            };
        }
    });
    while !writer.is_finished() {
        verified(&store).await;
        store.tidy(None).await.unwrap();
    }
    writer.await.unwrap();
    verified(&store).await;
}

async fn the_newest_checkpoint_can_be_kept_elsewhere<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    for number in 0..3 {
        write(&store, "a", &number.to_string()).await;
        store.tidy(None).await.unwrap();
    }
    let kept = store.checkpoint().await.unwrap().unwrap();
    assert_eq!((kept.index, kept.count), (3, 1));
    let signer = store::sign::SigningKey::open_or_create(ground.keys().join("signing.key")).unwrap().public();
    let stranger = store::sign::SigningKey::ephemeral().unwrap().public();
    assert!(kept.is_signed_by(&[stranger, signer]));
    assert!(!kept.is_signed_by(&[stranger]));
    ground.reopen().await;
    assert_eq!(ground.store().checkpoint().await.unwrap(), Some(kept));
}
