//! Watches that are cut and resumed, and those that come too late.

use store::{Error, Settings, Version, Window};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    a_watch_cut_between_two_objects_of_one_commit_resumes_after_the_first,
    a_watch_resumes_across_a_restart,
    a_watch_resumed_at_every_version_tells_the_same_rest,
    a_slow_watch_is_told_that_it_is_too_late_and_holds_no_writer_up,
    a_quiet_watch_is_not_behind_when_others_changes_leave,
    a_watch_ends_when_its_store_closes,
    a_watch_from_before_the_window_is_refused,
);

async fn a_watch_cut_between_two_objects_of_one_commit_resumes_after_the_first<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    let committed = store.commit(just(put("a", "1")).put(put("b", "1")).put(put("c", "1"))).await.unwrap();
    write(&store, "d", "1").await;
    for after_a_restart in [false, true] {
        if after_a_restart {
            ground.reopen().await;
        }
        let store = ground.store();
        let mut watch = store.watch(b"", Version::of(committed.revision, 0)).unwrap();
        assert_eq!(told(&take(&mut watch, 3).await), ["+b=1", "+c=1", "+d=1"]);
        let mut last = store.watch(b"", Version::of(committed.revision, 2)).unwrap();
        assert_eq!(told(&take(&mut last, 1).await), ["+d=1"]);
    }
    // And with a watch already at work on the same prefix.
    let store = ground.store();
    let mut at_work = store.watch(b"", store.current().await.unwrap().version()).unwrap();
    let committed = store.commit(just(put("e", "1")).put(put("f", "1"))).await.unwrap();
    assert_eq!(told(&take(&mut at_work, 2).await), ["+e=1", "+f=1"]);
    let mut cut = store.watch(b"", Version::of(committed.revision, 0)).unwrap();
    assert_eq!(told(&take(&mut cut, 1).await), ["+f=1"]);
}

async fn a_watch_resumes_across_a_restart<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    let mut watch = store.watch(b"r/", store.current().await.unwrap().version()).unwrap();
    let mut seen = Vec::new();
    for round in 0..3 {
        let store = ground.store();
        write(&store, "r/a", &format!("{round}.1")).await;
        seen.extend(told(&take(&mut watch, 1).await));
        let position = watch.position();
        write(&store, "r/b", &format!("{round}.2")).await;
        store.commit(just(put("r/c", format!("{round}.3"))).delete(key("r/a"))).await.unwrap();
        write(&store, "other", "x").await;
        ground.reopen().await;
        watch = ground.store().watch(b"r/", position).unwrap();
        seen.extend(told(&take(&mut watch, 3).await));
    }
    let round = |number: u32, sign: char| {
        let change = |name: &str, part: u32| format!("{sign}r/{name}={number}.{part}");
        [format!("+r/a={number}.1"), change("b", 2), change("c", 3), format!("-r/a={number}.1")]
    };
    assert_eq!(seen, [round(0, '+'), round(1, '~'), round(2, '~')].concat());
}

async fn a_watch_resumed_at_every_version_tells_the_same_rest<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    for number in 0..12u32 {
        let pair = just(put("a", number.to_string())).put(put("b", number.to_string()));
        store.commit(pair).await.unwrap();
        remove(&store, "b").await;
    }
    let whole = take(&mut store.watch(b"", start).unwrap(), 36).await;
    for (index, event) in whole.iter().enumerate() {
        let mut watch = store.watch(b"", event.version()).unwrap();
        let rest = take(&mut watch, whole.len() - index - 1).await;
        assert_eq!(told(&rest), told(&whole[index + 1..]));
        assert!(watch.ready().unwrap().is_empty());
    }
}

fn narrow() -> Settings {
    Settings { window: Window { commits: 100, ..Window::default() }, ..quiet() }
}

/// WatchError: too late.
async fn a_slow_watch_is_told_that_it_is_too_late_and_holds_no_writer_up<G: Ground>() {
    let ground = G::open(narrow()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let mut slow = store.watch(b"a", start).unwrap();
    let mut quick = store.watch(b"a", start).unwrap();
    let mut seen = 0;
    for number in 0..300 {
        let body = number.to_string();
        let writing = write(&store, "a", &body);
        tokio::time::timeout(PATIENCE, writing).await.expect("nobody holds the writer up");
        seen += take(&mut quick, 1).await.len();
    }
    assert_eq!(seen, 300);
    match next(&mut slow).await.map(|events| told(&events)) {
        Err(Error::Gone { asked, earliest }) => assert!(asked < earliest),
        other => panic!("{other:?}"),
    }
}

async fn a_quiet_watch_is_not_behind_when_others_changes_leave<G: Ground>() {
    let ground = G::open(narrow()).await;
    let store = ground.store();
    let mut quiet = store.watch(b"quiet/", store.current().await.unwrap().version()).unwrap();
    assert!(quiet.ready().unwrap().is_empty());
    for round in 0..3 {
        for number in 0..150 {
            write(&store, "busy", &format!("{round} {number}")).await;
        }
        write(&store, "quiet/a", &round.to_string()).await;
        assert_eq!(take(&mut quiet, 1).await.len(), 1);
    }
}

/// WatchError: closed.
async fn a_watch_ends_when_its_store_closes<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut watch = store.watch(b"", store.current().await.unwrap().version()).unwrap();
    let waiting = tokio::spawn(async move { next(&mut watch).await.map(|events| told(&events)) });
    tokio::task::yield_now().await;
    store.close().await.unwrap();
    assert!(matches!(waiting.await.unwrap(), Err(Error::Closed)));
    assert!(matches!(store.commit(just(put("a", "1"))).await, Err(Error::Closed)));
}

async fn a_watch_from_before_the_window_is_refused<G: Ground>() {
    let ground = G::open(narrow()).await;
    let store = ground.store();
    let early = write(&store, "a", "0").await;
    for number in 1..=200 {
        write(&store, "a", &number.to_string()).await;
    }
    let Err(Error::Gone { earliest, .. }) = store.watch(b"", early) else { panic!("it is gone") };
    let mut watch = store.watch(b"", earliest.end()).unwrap();
    let rest = take(&mut watch, 100).await;
    assert_eq!(text(rest.last().unwrap().shown()), "200");
    assert!(store.watch(b"", Version::of(earliest, 0)).is_err(), "the rest of that commit is gone too");
}
