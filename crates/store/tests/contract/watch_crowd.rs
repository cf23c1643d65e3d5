//! Many watches and many writers.

use std::collections::BTreeMap;
use std::sync::Arc;

use store::{Event, Store, Version, Watch};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    watches_of_all_prefixes_agree_while_many_write,
    a_thousand_watches_get_their_own_changes,
    watches_that_come_and_go_do_not_disturb_the_others,
    watches_on_two_servers_tell_the_same,
);

async fn read_until(watch: &mut Watch, end: Version) -> Vec<Arc<Event>> {
    let mut events: Vec<Arc<Event>> = Vec::new();
    while events.last().is_none_or(|last| last.version() < end) {
        events.extend(next(watch).await.unwrap());
    }
    events
}

/// Sixteen writers, two keys of different planes in each commit.
async fn crowd(store: &Arc<dyn Store>, commits: usize) {
    let writers = (0..16).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..commits {
                let name = |plane: usize| format!("p{}/w{writer}", plane % 4);
                let pair = just(put(&name(number), number.to_string()));
                let pair = match number % 3 {
                    0 => pair.delete(key(&name(number + 1))),
                    _ => pair.put(put(&name(number + 1), number.to_string())),
                };
                store.commit(pair).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

async fn watches_of_all_prefixes_agree_while_many_write<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let prefixes = ["", "p0/", "p1/", "p2/", "p3/"];
    let readers = prefixes.map(|prefix| {
        let mut watch = store.watch(prefix.as_bytes(), start).unwrap();
        tokio::spawn(async move {
            let mut events = Vec::new();
            while events.last().is_none_or(|last: &Arc<Event>| !last.key().to_string().ends_with("/~end")) {
                events.extend(next(&mut watch).await.unwrap());
            }
            events
        })
    });
    crowd(&store, 8).await;
    let ends = ["p0/~end", "p1/~end", "p2/~end", "p3/~end"].map(|name| put(name, "x"));
    let ends = ends.into_iter().fold(store::Transaction::by(alice()), store::Transaction::put);
    store.commit(ends).await.unwrap();

    let mut told_by = Vec::new();
    for reader in readers {
        let events = reader.await.unwrap();
        assert!(events.is_sorted_by(|one, next| one.version() < next.version()), "order, and none twice");
        told_by.push(events);
    }
    let all: Vec<Version> = told_by[0].iter().map(|event| event.version()).collect();
    let mut parts: Vec<Version> = told_by[1..].iter().flatten().map(|event| event.version()).collect();
    parts.sort_unstable();
    assert_eq!(parts, all, "the planes together are everything");

    // Nothing is missing: what the watch told leads to what is there.
    let mut built = BTreeMap::new();
    for event in &told_by[0] {
        let before = built.get(event.key()).map(|entry: &Arc<store::Entry>| entry.version());
        assert_eq!(before, event.before().map(|entry| entry.version()), "each change knows the one before");
        match event.after() {
            Some(entry) => built.insert(event.key().clone(), entry.clone()),
            None => built.remove(event.key()),
        };
    }
    let built: Vec<_> =
        built.iter().map(|(key, entry)| (key.to_string(), entry.version(), entry.bytes().clone())).collect();
    assert_eq!(built, picture(&store.current().await.unwrap(), ""));
}

async fn a_thousand_watches_get_their_own_changes<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let watches: Vec<Watch> = (0..1000)
        .map(|number| store.watch(format!("n{}/", number % 50).as_bytes(), start).unwrap())
        .collect();
    assert_eq!(store.watches(), 1000);
    let readers: Vec<_> = watches
        .into_iter()
        .map(|mut watch| tokio::spawn(async move { told(&take(&mut watch, 3).await) }))
        .collect();
    for round in 0..3 {
        for number in 0..50 {
            write(&store, &format!("n{number}/a"), &round.to_string()).await;
        }
    }
    for (number, reader) in readers.into_iter().enumerate() {
        let name = format!("n{}/a", number % 50);
        let expected = [format!("+{name}=0"), format!("~{name}=1"), format!("~{name}=2")];
        assert_eq!(reader.await.unwrap(), expected);
    }
    assert_eq!(store.watches(), 0);
}

async fn watches_that_come_and_go_do_not_disturb_the_others<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let mut steady = store.watch(b"p", start).unwrap();
    let (restless, done) = (store.clone(), Arc::new(std::sync::atomic::AtomicBool::new(false)));
    let finished = done.clone();
    let churn = tokio::spawn(async move {
        while !finished.load(std::sync::atomic::Ordering::SeqCst) {
            let mut watch = restless.watch(b"p", start).unwrap();
            let seen = watch.ready().unwrap();
            assert!(seen.is_sorted_by(|one, next| one.version() < next.version()));
            drop(watch);
            tokio::task::yield_now().await;
        }
    });
    crowd(&store, 6).await;
    let end = write(&store, "p~end", "x").await;
    let seen = read_until(&mut steady, end).await;
    done.store(true, std::sync::atomic::Ordering::SeqCst);
    churn.await.unwrap();
    let again = read_until(&mut store.watch(b"p", start).unwrap(), end).await;
    assert_eq!(told(&seen), told(&again));
}

async fn watches_on_two_servers_tell_the_same<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let Some(other) = ground.second_server(quiet()).await else { return };
    let start = store.current().await.unwrap().version();
    let (mut here, mut there) = (store.watch(b"", start).unwrap(), other.watch(b"", start).unwrap());
    let (rival, ours) = (other.clone(), store.clone());
    let writer = tokio::spawn(async move {
        for number in 0..30 {
            write(&rival, &format!("there/{}", number % 5), &number.to_string()).await;
        }
    });
    for number in 0..30 {
        write(&ours, &format!("here/{}", number % 5), &number.to_string()).await;
    }
    writer.await.unwrap();
    let end = write(&store, "~end", "x").await;
    let (here, there) = (read_until(&mut here, end).await, read_until(&mut there, end).await);
    let versions = |events: &[Arc<Event>]| events.iter().map(|event| event.version()).collect::<Vec<_>>();
    assert_eq!(versions(&here), versions(&there));
    assert_eq!(told(&here), told(&there));
    assert_eq!(here.len(), 61);
}
