//! Many writers at once, under rules that hold at every revision.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use store::{Entry, Error, Event, Put, Refused, Store, Version};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    of_64_writers_of_one_counter_none_is_lost,
    amendments_of_one_counter_add_up_and_stay_within_a_limit,
    what_is_amended_is_seen_by_the_transaction_itself,
    no_two_ever_overlap,
);

/// Decides and commits until the store is not contended any more. How often it was decided.
async fn increment(store: &Arc<dyn Store>) -> usize {
    let decisions = Arc::new(AtomicUsize::new(0));
    loop {
        let deciding = decisions.clone();
        let step = store.transact(alice(), move |view| {
            deciding.fetch_add(1, Ordering::Relaxed);
            let count = view.get(&key("counter")).map_or(0, |entry| text(&entry).parse::<u32>().unwrap());
            view.put(put("counter", (count + 1).to_string()));
            Ok::<_, ()>(())
        });
        match step.await {
            Ok(_) => return decisions.load(Ordering::Relaxed),
            Err(Refused::Store(Error::Contended { .. })) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
}

async fn of_64_writers_of_one_counter_none_is_lost<G: Ground>() {
    let ground = G::open(quiet()).await;
    let mut servers = vec![ground.store()];
    servers.extend(ground.second_server(quiet()).await);
    let writers = (0..64).map(|number| {
        let store = servers[number % servers.len()].clone();
        tokio::spawn(async move {
            let mut most = (0, 0);
            for _ in 0..EACH {
                let decisions = increment(&store).await;
                most = (most.0 + decisions, decisions.max(most.1));
            }
            most
        })
    });
    let (mut decisions, mut most) = (0, 0);
    for writer in writers.collect::<Vec<_>>() {
        let (of_one, worst) = writer.await.unwrap();
        decisions += of_one;
        most = worst.max(most);
    }
    let all = 64 * EACH;
    // Without lines it is four to six for each, and some try in vain until they give up.
    assert!(decisions <= 4 * all, "{decisions} decisions for {all}");
    assert!(most <= 16, "one was decided {most} times");
    for server in &servers {
        assert_eq!(read(&server.current().await.unwrap(), "counter"), Some(all.to_string()));
    }
    assert_eq!(changes(&ground.store(), "counter").await.len(), all);
}

/// Adds one to the counter as it is at the commit, if that is within the limit.
fn one_more(entry: &Entry) -> Option<Put> {
    let count = text(entry).parse::<usize>().unwrap();
    (count < LIMIT).then(|| put("counter", (count + 1).to_string()))
}

async fn take(store: &Arc<dyn Store>, name: String) -> bool {
    loop {
        let name = name.clone();
        let taken = store.transact(alice(), move |view| {
            let is_full = |entry: Arc<Entry>| one_more(&entry).is_none();
            if view.peek(&key("counter")).is_none_or(is_full) && view.get(&key("counter")).is_none_or(is_full)
            {
                return Err("full");
            }
            view.put(put(&name, "taken"));
            if view.amend(&key("counter"), one_more) { Ok(()) } else { Err("full") }
        });
        match taken.await {
            Ok(_) => return true,
            Err(Refused::Decision("full")) => return false,
            Err(Refused::Store(Error::Contended { .. })) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
}

async fn amendments_of_one_counter_add_up_and_stay_within_a_limit<G: Ground>() {
    let ground = G::open(quiet()).await;
    let mut servers = vec![ground.store()];
    servers.extend(ground.second_server(quiet()).await);
    write(&servers[0], "counter", "0").await;
    let writers = (0..64).map(|number| {
        let store = servers[number % servers.len()].clone();
        tokio::spawn(async move {
            let mut taken = 0;
            for turn in 0..EACH {
                taken += usize::from(take(&store, format!("taken/{number}-{turn}")).await);
            }
            taken
        })
    });
    let mut taken = 0;
    for writer in writers.collect::<Vec<_>>() {
        taken += writer.await.unwrap();
    }
    let now = servers[0].current().await.unwrap();
    assert_eq!((taken, read(&now, "counter")), (LIMIT, Some(LIMIT.to_string())));
    assert_eq!(now.list(b"taken/").count(), LIMIT);
    assert_eq!(changes(&servers[0], "counter").await.len(), LIMIT + 1, "each has its record");
    verified(&servers[0]).await;
}

async fn what_is_amended_is_seen_by_the_transaction_itself<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "counter", "0").await;
    let step = store.transact(alice(), |view| {
        let count = |entry: Option<Arc<Entry>>| text(&entry.unwrap());
        assert!(view.amend(&key("counter"), one_more) && view.amend(&key("counter"), one_more));
        assert_eq!(count(view.peek(&key("counter"))), "2");
        let undone = view.attempt(|view| {
            assert!(view.amend(&key("counter"), one_more));
            assert_eq!(count(view.get(&key("counter"))), "3");
            Err::<(), ()>(())
        });
        assert!(undone.is_err());
        assert_eq!(count(view.get(&key("counter"))), "2");
        assert!(!view.amend(&key("nobody"), one_more), "what is not there can't be amended");
        Ok::<_, ()>(())
    });
    step.await.unwrap();
    assert_eq!(read(&store.current().await.unwrap(), "counter"), Some("2".to_owned()));
}

/// What the amended counter may say at most.
const LIMIT: usize = 100;

/// Times that each of the 64 writers adds one.
const EACH: usize = 4;

const ROOMS: u64 = 3;
const WRITERS: u64 = 16;
const STEPS: u64 = 12;

/// A device takes two of the ten units of a rack: `in:rack/2 at:4`.
fn occupies(body: &str) -> Option<(String, u32)> {
    let (rack, at) = body.split_once(" at:")?;
    Some((rack.to_owned(), at.parse().ok()?))
}

fn overlap(one: u32, other: u32) -> bool {
    one.abs_diff(other) < 2
}

/// Puts a device somewhere, unless somebody is there; or takes it away.
async fn step(store: &Arc<dyn Store>, device: String, dice: u64) {
    let moved = store.transact(alice(), move |view| {
        let old = view.get(&key(&device));
        if dice.is_multiple_of(5) && old.is_some() {
            view.delete(key(&device), "delete");
            return Ok(());
        }
        let rack = format!("in:rack/{}", dice / 5 % ROOMS);
        let at = (dice / 64 % 9) as u32;
        for (other, entry) in view.bucket(&Bytes::from(rack.clone())) {
            let (_, taken) = occupies(&text(&entry)).ok_or("unreadable")?;
            if other != key(&device) && overlap(at, taken) {
                return Err("taken");
            }
        }
        view.put(put(&device, format!("{rack} at:{at}")));
        Ok(())
    });
    match moved.await {
        Ok(_) | Err(Refused::Decision("taken") | Refused::Store(Error::Contended { .. })) => {}
        Err(other) => panic!("{other:?}"),
    }
}

/// Replays what happened and finds a revision at which two devices overlapped.
fn broken_at(history: &[Arc<Event>]) -> Option<Version> {
    let mut devices: BTreeMap<String, (String, u32)> = BTreeMap::new();
    for (index, event) in history.iter().enumerate() {
        let name = event.key().to_string();
        match event.after() {
            Some(entry) => devices.insert(name, occupies(&text(entry)).unwrap()),
            None => devices.remove(&name),
        };
        let next = history.get(index + 1).map(|next| next.version().revision());
        if next == Some(event.version().revision()) {
            continue;
        }
        let places: Vec<_> = devices.values().collect();
        for (index, one) in places.iter().enumerate() {
            if places[index + 1..].iter().any(|other| one.0 == other.0 && overlap(one.1, other.1)) {
                return Some(event.version());
            }
        }
    }
    None
}

async fn no_two_ever_overlap<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    let mut servers = vec![store.clone()];
    servers.extend(ground.second_server(with_words()).await);
    let mut watch = store.watch(b"device/", store.current().await.unwrap().version()).unwrap();
    let writers = (0..WRITERS).map(|writer| {
        let store = servers[writer as usize % servers.len()].clone();
        tokio::spawn(async move {
            let mut dice = writer * 7919 + 1;
            for _ in 0..STEPS {
                dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let device = format!("device/{}", dice >> 60);
                step(&store, device, dice >> 20).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let end = write(&store, "device/~end", "in:nowhere at:0").await;
    let mut history = Vec::new();
    while history.last().is_none_or(|last: &Arc<Event>| last.version() < end) {
        history.extend(next(&mut watch).await.unwrap());
    }
    assert!(history.len() > 20, "only {} changes", history.len());
    assert_eq!(broken_at(&history), None);
    verified(&store).await;
}
