//! Levels of history: all of it, the last few, none.

use store::{At, Error, Level, Settings, Window};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    reports_are_thinned_out_to_the_last_few,
    what_has_no_past_leaves_none,
    reports_between_real_changes_do_not_break_the_chain,
    an_object_that_has_a_past_keeps_it_whatever_is_written,
    an_object_may_get_a_past_later,
    thinning_leaves_what_a_restart_needs,
);

async fn reports_are_thinned_out_to_the_last_few<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    let store = ground.store();
    write(&store, "a", "spec").await;
    for number in 0..40 {
        store.commit(just(put("a", format!("spec {number}")).level(Level::Brief))).await.unwrap();
    }
    let middle = write(&store, "a", "spec two").await;
    for number in 0..40 {
        store.commit(just(put("a", format!("spec two {number}")).level(Level::Brief))).await.unwrap();
    }
    assert_eq!(changes(&store, "a").await.len(), 82);
    let tidied = settle(&store).await;
    assert!(tidied.pruned >= 60, "{tidied:?}");
    let left = changes(&store, "a").await;
    let (full, brief): (Vec<_>, Vec<_>) = left.iter().partition(|change| change.level == Level::Full);
    assert_eq!(full.len(), 2);
    assert!((8..=16).contains(&brief.len()), "{} reports are left", brief.len());
    assert_eq!(text(left[0].after.as_ref().unwrap()), "spec two 39");
    let was = store.object_at(&key("a"), At::Revision(middle.revision())).await.unwrap().unwrap();
    assert_eq!(text(&was), "spec two");
    verified(&store).await;
}

async fn what_has_no_past_leaves_none<G: Ground>() {
    let mut ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let event = |body: &str| just(put("event", body.to_owned()).level(Level::None));
    let first = store.commit(event("1")).await.unwrap();
    store.commit(event("2")).await.unwrap();
    store.commit(just(put("other", "x").level(Level::None))).await.unwrap();
    remove(&store, "other").await;
    assert_eq!(take(&mut store.watch(b"", start).unwrap(), 4).await.len(), 4);
    settle(&store).await;
    assert!(changes(&store, "event").await.is_empty());
    assert!(changes(&store, "other").await.is_empty());
    let earlier = store.object_at(&key("event"), At::Revision(first.revision)).await;
    assert!(matches!(earlier, Err(Error::Gone { .. })), "{earlier:?}");
    verified(&store).await;
    ground.reopen().await;
    assert_eq!(read(&ground.store().current().await.unwrap(), "event").as_deref(), Some("2"));
    verified(&ground.store()).await;
}

async fn reports_between_real_changes_do_not_break_the_chain<G: Ground>() {
    let mut ground = G::open_alone(quiet()).await;
    for round in 0..3 {
        let store = ground.store();
        for number in 0..20 {
            let level = if number % 7 == 0 { Level::Full } else { Level::Brief };
            let report = put("a", format!("{} {round} {number}", "same ".repeat(20))).level(level);
            store.commit(just(report)).await.unwrap();
        }
        settle(&store).await;
        verified(&store).await;
        ground.reopen().await;
        verified(&ground.store()).await;
    }
    let full = changes(&ground.store(), "a").await.into_iter().filter(|change| change.level == Level::Full);
    let bodies: Vec<_> = full.map(|change| text(change.after.as_ref().unwrap())).collect();
    let expected = [(2, 14), (2, 7), (2, 0), (1, 14), (1, 7), (1, 0), (0, 14), (0, 7), (0, 0)];
    let expected = expected.map(|(round, number)| format!("{} {round} {number}", "same ".repeat(20)));
    assert_eq!(bodies, expected);
}

async fn an_object_that_has_a_past_keeps_it_whatever_is_written<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let first = write(&store, "a", "one").await;
    store.commit(just(put("a", "two").level(Level::None))).await.unwrap();
    write(&store, "a", "three").await;
    settle(&store).await;
    verified(&store).await;
    let was = store.object_at(&key("a"), At::Revision(first.revision())).await.unwrap().unwrap();
    assert_eq!(text(&was), "one");
}

async fn an_object_may_get_a_past_later<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let early = store.commit(just(put("a", "one").level(Level::None))).await.unwrap().revision;
    store.commit(just(put("a", "two").level(Level::None))).await.unwrap();
    let third = write(&store, "a", "three").await;
    write(&store, "a", "four").await;
    settle(&store).await;
    verified(&store).await;
    let was = store.object_at(&key("a"), At::Revision(third.revision())).await.unwrap().unwrap();
    assert_eq!(text(&was), "three");
    assert!(store.object_at(&key("a"), At::Revision(early)).await.is_err());
}

/// The window's floor may stand inside a group of commits that was written in one go.
async fn thinning_leaves_what_a_restart_needs<G: Ground>() {
    let settings = || Settings { window: Window { commits: 30, ..Window::default() }, ..quiet() };
    let mut ground = G::open(settings()).await;
    for _round in 0..3 {
        let store = ground.store();
        let writers = (0..40).map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                let report = put("a", format!("report {number}")).level(Level::Brief);
                while let Err(error) = store.commit(just(report.clone())).await {
                    assert!(matches!(error, Error::Contended { .. }), "{error}");
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        let start = store.current().await.unwrap();
        store.tidy(None).await.unwrap();
        ground.reopen_with(settings()).await;
        let again = ground.store().current().await.unwrap();
        assert_eq!(picture(&again, ""), picture(&start, ""));
        verified(&ground.store()).await;
    }
}
