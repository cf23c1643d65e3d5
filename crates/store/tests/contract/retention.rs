//! Retention: by age, count and bytes; what is before the horizon is told to be forgotten.

use std::sync::Arc;
use std::time::Duration;

use store::{At, Error, Rules, Settings, Store, Version};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    old_changes_go_but_for_the_last_few,
    young_changes_all_stay,
    a_deleted_object_is_forgotten_with_age,
    history_stays_within_its_bytes,
    what_is_before_the_horizon_is_forgotten,
    what_is_after_the_horizon_is_as_it_was,
    nothing_goes_that_a_watch_may_still_ask_for,
    pruning_again_and_again_stays_clean,
    a_tidy_that_lost_its_lease_leaves_everything,
    what_is_kept_briefly_does_not_wait_for_what_is_kept_long,
    a_shorter_rule_is_kept_from_then_on,
);

const HOUR: Duration = Duration::from_secs(3600);

async fn numbers(store: &Arc<dyn Store>, name: &str, count: u32) -> Vec<Version> {
    let mut versions = Vec::new();
    for number in 0..count {
        versions.push(write(store, name, &format!("{} {number}", "the same ".repeat(10))).await);
    }
    versions
}

async fn old_changes_go_but_for_the_last_few<G: Ground>() {
    let mut ground = G::open_alone(keeping(Duration::ZERO, 3)).await;
    let store = ground.store();
    let versions = numbers(&store, "a", 10).await;
    numbers(&store, "b", 2).await;
    let tidied = settle(&store).await;
    assert_eq!(tidied.pruned, 7);
    let left = changes(&store, "a").await;
    assert_eq!(
        left.iter().map(|change| change.version).collect::<Vec<_>>(),
        [versions[9], versions[8], versions[7]]
    );
    assert!(left[2].pruned_before && left[2].before.is_none());
    assert!(!left[1].pruned_before && left[1].before.is_some());
    assert_eq!(changes(&store, "b").await.len(), 2);
    verified(&store).await;
    ground.reopen_with(keeping(Duration::ZERO, 3)).await;
    verified(&ground.store()).await;
    assert_eq!(changes(&ground.store(), "a").await.len(), 3);
}

async fn young_changes_all_stay<G: Ground>() {
    let ground = G::open_alone(keeping(HOUR, 1)).await;
    let store = ground.store();
    numbers(&store, "a", 10).await;
    remove(&store, "a").await;
    assert_eq!(settle(&store).await.pruned, 0);
    assert_eq!(changes(&store, "a").await.len(), 11);
    verified(&store).await;
}

async fn a_deleted_object_is_forgotten_with_age<G: Ground>() {
    let ground = G::open_alone(keeping(Duration::ZERO, 5)).await;
    let store = ground.store();
    let versions = numbers(&store, "a", 3).await;
    remove(&store, "a").await;
    numbers(&store, "b", 1).await;
    settle(&store).await;
    assert!(changes(&store, "a").await.is_empty());
    let was = store.list_at(b"", At::Revision(versions[1].revision())).await;
    assert!(matches!(was, Err(Error::Forgotten { .. })));
    verified(&store).await;
}

async fn history_stays_within_its_bytes<G: Ground>() {
    let rules = Rules { history_bytes: 20_000, ..quiet().housekeeping };
    let settings = Settings { housekeeping: rules, ..keeping(HOUR, 1000) };
    let ground = G::open_alone(settings).await;
    let store = ground.store();
    for number in 0..60 {
        for name in ["a", "b"] {
            // Nothing alike between two of them, so that each record holds a whole body.
            let body: String =
                (0..500).map(|at| char::from(b'a' + ((number * 7 + at * (number + 3)) % 26) as u8)).collect();
            write(&store, name, &body).await;
        }
    }
    settle(&store).await;
    for name in ["a", "b"] {
        let left = changes(&store, name).await;
        assert!((1..40).contains(&left.len()), "{} changes of {name}", left.len());
        assert!(left.last().unwrap().pruned_before);
    }
    verified(&store).await;
}

async fn what_is_before_the_horizon_is_forgotten<G: Ground>() {
    let ground = G::open_alone(keeping(Duration::ZERO, 2)).await;
    let store = ground.store();
    let versions = numbers(&store, "a", 6).await;
    let times: Vec<u64> = changes(&store, "a").await.iter().rev().map(|change| change.time).collect();
    settle(&store).await;
    for number in 0..4 {
        let forgotten = [
            store.object_at(&key("a"), At::Revision(versions[number].revision())).await.map(|_| ()),
            store.object_at(&key("a"), At::Time(times[number])).await.map(|_| ()),
            store.list_at(b"", At::Revision(versions[number].revision())).await.map(|_| ()),
            store.list_at(b"", At::Time(times[number])).await.map(|_| ()),
        ];
        for answer in forgotten {
            match answer {
                Err(Error::Forgotten { earliest }) => assert_eq!(earliest, times[4]),
                other => panic!("{number}: {other:?}"),
            }
        }
    }
}

async fn what_is_after_the_horizon_is_as_it_was<G: Ground>() {
    let ground = G::open_alone(keeping(Duration::ZERO, 3)).await;
    let store = ground.store();
    let mut seen = Vec::new();
    for round in 0..8 {
        for name in ["a", "b", "c"] {
            write(&store, name, &format!("{} {round}", "the same ".repeat(10))).await;
        }
        let now = store.current().await.unwrap();
        seen.push((now.revision(), picture(&now, "")));
    }
    settle(&store).await;
    for (revision, then) in &seen[6..] {
        let past = store.list_at(b"", At::Revision(*revision)).await.unwrap();
        assert_eq!(picture(&past, ""), *then);
    }
    assert!(store.list_at(b"", At::Revision(seen[3].0)).await.is_err());
}

async fn nothing_goes_that_a_watch_may_still_ask_for<G: Ground>() {
    let settings = || keeping(Duration::ZERO, 1);
    let mut ground = G::open_alone(settings()).await;
    let store = ground.store();
    let versions = numbers(&store, "a", 10).await;
    // Half of it has left the window; the rest may still be asked for.
    store.compact(versions[4].revision()).await.unwrap();
    store.tidy(None).await.unwrap();
    for after_a_restart in [false, true] {
        if after_a_restart {
            ground.reopen_with(settings()).await;
        }
        let store = ground.store();
        match store.watch(b"a", versions[5]) {
            Ok(mut watch) => {
                let rest: Vec<Version> = take(&mut watch, 4).await.iter().map(|e| e.version()).collect();
                assert_eq!(rest, versions[6..], "without a gap");
            }
            Err(Error::Gone { .. }) if after_a_restart => {}
            Err(other) => panic!("{other}"),
        }
        verified(&store).await;
    }
}

async fn pruning_again_and_again_stays_clean<G: Ground>() {
    let settings = || keeping(Duration::ZERO, 4);
    let mut ground = G::open_alone(settings()).await;
    for round in 0..4 {
        let store = ground.store();
        numbers(&store, "a", 5).await;
        numbers(&store, &format!("b{}", round % 2), 3).await;
        remove(&store, &format!("b{}", round % 2)).await;
        settle(&store).await;
        let report = verified(&store).await;
        assert!(report.checkpoints > 0 && report.covered > Version::ZERO);
        ground.reopen_with(settings()).await;
        verified(&ground.store()).await;
    }
    assert_eq!(changes(&ground.store(), "a").await.len(), 4);
}

async fn a_tidy_that_lost_its_lease_leaves_everything<G: Ground>() {
    let ground = G::open_alone(keeping(Duration::ZERO, 1)).await;
    let store = ground.store();
    numbers(&store, "a", 5).await;
    let fence = store.acquire("tidy", "me", HOUR).await.unwrap().fence().unwrap();
    assert!(store.release(&fence).await.unwrap());
    store.compact(store.current().await.unwrap().revision()).await.unwrap();
    assert!(store.tidy(Some(&fence)).await.unwrap_err().is_conflict());
    assert_eq!(changes(&store, "a").await.len(), 5);
    verified(&store).await;
    let fence = store.acquire("tidy", "me", HOUR).await.unwrap().fence().unwrap();
    assert_eq!(store.tidy(Some(&fence)).await.unwrap().pruned, 4);
    verified(&store).await;
}

async fn what_is_kept_briefly_does_not_wait_for_what_is_kept_long<G: Ground>() {
    let ground = G::open_alone(keeping(HOUR, 20)).await;
    let store = ground.store();
    let long = numbers(&store, "long/a", 3).await;
    let short = numbers(&store, "short/a", 6).await;
    numbers(&store, "long/a", 3).await;
    assert_eq!(settle(&store).await.pruned, 5, "all but the last of what is kept briefly");
    assert_eq!(changes(&store, "short/a").await.len(), 1);
    assert_eq!(changes(&store, "long/a").await.len(), 6);
    verified(&store).await;
    // The past of the one is whole, that of the other is not.
    let then = store.list_at(b"long/", At::Revision(long[0].revision())).await.unwrap();
    assert_eq!(then.list(b"long/").count(), 1);
    let then = store.object_at(&key("long/a"), At::Revision(long[1].revision())).await.unwrap();
    assert_eq!(then.unwrap().version(), long[1]);
    // Of the one it is known what was touched, of the other that it isn't.
    let touched = store.touched(b"", At::Revision(short[2].revision())).await.unwrap();
    let forgotten: Vec<&str> = touched.forgotten.iter().map(|(group, _)| group.as_str()).collect();
    assert_eq!(forgotten, ["short/"]);
    let of = |name: &str| touched.keys.iter().filter(|(touched, _)| *touched == key(name)).count();
    assert_eq!((of("long/a"), of("short/a")), (3, 1));
    assert_eq!(touched.version, short[2].revision().end());
    let touched = store.touched(b"long/", At::Revision(long[1].revision())).await.unwrap();
    assert!(touched.forgotten.is_empty() && touched.keys.len() == 4);
    for prefix in [b"short/".as_slice(), b""] {
        let asked = store.list_at(prefix, At::Revision(short[2].revision())).await;
        assert!(matches!(asked, Err(Error::Forgotten { .. })), "{prefix:?}");
    }
}

async fn a_shorter_rule_is_kept_from_then_on<G: Ground>() {
    let mut ground = G::open_alone(keeping(HOUR, 20)).await;
    let store = ground.store();
    numbers(&store, "a", 6).await;
    assert_eq!(settle(&store).await.pruned, 0);
    drop(store);
    ground.reopen_with(keeping(Duration::ZERO, 2)).await;
    let store = ground.store();
    assert_eq!(settle(&store).await.pruned, 4, "what was looked at under another rule, too");
    verified(&store).await;
}
