//! The rule "no two devices overlap in a rack", tried by many, and a replay that looks for a breach.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use store::{Author, Body, Entry, Key, Model, Put, Refused, Store, Term, Uid, Version, View, Watch};

const RACKS: u64 = 8;
const UNITS: u64 = 42;
const DEVICES: u64 = 400;
const WRITERS: u64 = 64;

pub fn model() -> Arc<dyn Model> {
    Arc::new(Racks)
}

struct Racks;

impl Model for Racks {
    fn terms(&self, _key: &Key, bytes: &[u8], terms: &mut Vec<Term>) {
        terms.extend(Placement::read(bytes).map(|placement| Term::bucket(bucket(placement.rack))));
    }
}

fn bucket(rack: u64) -> Bytes {
    Bytes::from(format!("rack/{rack}"))
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Placement {
    rack: u64,
    units: Range<u64>,
}

impl Placement {
    fn read(bytes: &[u8]) -> Option<Placement> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut numbers = text.split(' ').skip(1).map(|number| number.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Placement { rack: next()?, units: next()?..next()? })
    }

    /// No two bodies are the same: writing what is there already would be no commit.
    fn body(&self, serial: u64) -> Body {
        let Placement { rack, units: Range { start, end } } = self;
        // The version comes first, so that the store has a place to write it.
        Body::stamped(format!(" {rack} {start} {end} {serial}"), 0).unwrap()
    }

    fn overlaps(&self, other: &Placement) -> bool {
        self.rack == other.rack && self.units.start < other.units.end && other.units.start < self.units.end
    }
}

#[derive(Debug)]
enum No {
    Occupied,
    Nothing,
}

/// Places the device where nothing is, moves it there, or refuses.
fn place(view: &mut View, device: &Key, wanted: &Placement, serial: u64) -> Result<(), No> {
    let there = view.bucket(&bucket(wanted.rack));
    let others = there.iter().filter(|(key, _)| key != device);
    if others.filter_map(|(_, entry)| Placement::read(entry.bytes())).any(|other| other.overlaps(wanted)) {
        return Err(No::Occupied);
    }
    view.put(Put::new(device.clone(), Uid([7; 16]), wanted.body(serial)));
    Ok(())
}

fn remove(view: &mut View, device: &Key) -> Result<(), No> {
    view.get(device).ok_or(No::Nothing)?;
    view.delete(device.clone(), "delete");
    Ok(())
}

/// Inserts, moves and deletes from 64 writers spread over the servers, then proves that the rule never broke.
pub async fn sixty_four_writers(servers: &[Arc<dyn Store>], time: Duration) {
    let from = servers[0].current().await.unwrap().version();
    let done = Arc::new(AtomicBool::new(false));
    let committed = Arc::new(AtomicU64::new(0));
    let mut replays = Vec::new();
    for server in servers {
        let watch = server.watch(b"device/", from).unwrap();
        replays.push(tokio::spawn(replay(server.clone(), watch, done.clone())));
    }
    let until = Instant::now() + time;
    let writers = (0..WRITERS).map(|writer| {
        let server = servers[writer as usize % servers.len()].clone();
        tokio::spawn(write(server, writer, until, committed.clone()))
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    done.store(true, Ordering::Release);
    let committed = committed.load(Ordering::Relaxed);
    assert!(committed > 50, "only {committed} commits: that shows nothing");

    let now = servers[0].current().await.unwrap();
    let listed: BTreeMap<Key, Version> =
        now.list(b"device/").map(|(key, entry)| (key.clone(), entry.version())).collect();
    for replay in replays {
        let (events, state) = replay.await.unwrap();
        assert_eq!(events, committed, "a watcher sees each commit once");
        let watched: BTreeMap<Key, Version> =
            state.into_iter().map(|(key, entry)| (key, entry.version())).collect();
        assert_eq!(watched, listed, "what a watcher pieced together is what a list shows");
    }
    let report = servers[0].verify(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    eprintln!("{committed} commits by {WRITERS} writers, {} records verified", report.records);
}

async fn write(server: Arc<dyn Store>, writer: u64, until: Instant, committed: Arc<AtomicU64>) {
    let mut dice = Dice(writer + 1);
    let author = Author::new(format!("writer-{writer}"), "test");
    for serial in (writer..).step_by(WRITERS as usize) {
        if Instant::now() >= until {
            return;
        }
        let device = Key::new(format!("device/{}", dice.below(DEVICES))).unwrap();
        let start = dice.below(UNITS - 4);
        let wanted = Placement { rack: dice.below(RACKS), units: start..start + 1 + dice.below(4) };
        let delete = dice.below(3) == 0;
        let decide = move |view: &mut View| match delete {
            true => remove(view, &device),
            false => place(view, &device, &wanted, serial),
        };
        match server.transact(author.clone(), decide).await {
            Ok(_) => drop(committed.fetch_add(1, Ordering::Relaxed)),
            Err(Refused::Decision(_)) => {}
            Err(Refused::Store(store::Error::Contended { .. })) => {}
            Err(Refused::Store(error)) => panic!("{error}"),
        }
    }
}

/// Follows the changes and checks the rule after each revision; gives how many there were, and the end.
async fn replay(
    server: Arc<dyn Store>,
    mut watch: Watch,
    done: Arc<AtomicBool>,
) -> (u64, BTreeMap<Key, Arc<Entry>>) {
    let mut state: BTreeMap<Key, Arc<Entry>> = BTreeMap::new();
    let mut revisions = 0;
    let mut last = Version::ZERO;
    loop {
        let finished = done.load(Ordering::Acquire);
        let end = if finished { server.current().await.unwrap().version() } else { Version::ZERO };
        let events = match finished {
            true => watch.ready().unwrap(),
            false => match tokio::time::timeout(Duration::from_millis(50), watch.next()).await {
                Ok(events) => events.unwrap(),
                Err(_) => continue,
            },
        };
        for event in &events {
            assert!(event.version() > last, "{} after {last}", event.version());
            last = event.version();
            let before = state.get(event.key()).map(|entry| entry.version());
            assert_eq!(event.before().map(|entry| entry.version()), before, "of {}", event.key());
            match event.after() {
                Some(entry) => drop(state.insert(event.key().clone(), entry.clone())),
                None => drop(state.remove(event.key())),
            }
            revisions += 1;
            if let Some(changed) = event.after() {
                assert_alone(&state, event.key(), changed);
            }
        }
        if finished && events.is_empty() && watch.position() >= end {
            return (revisions, state);
        }
        if finished {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn assert_alone(state: &BTreeMap<Key, Arc<Entry>>, device: &Key, entry: &Entry) {
    let mine = Placement::read(entry.bytes()).unwrap();
    for (other, entry) in state.iter().filter(|(key, _)| *key != device) {
        let theirs = Placement::read(entry.bytes()).unwrap();
        assert!(!mine.overlaps(&theirs), "{device} {mine:?} overlaps {other} {theirs:?}");
    }
}

/// A small generator: tests need spread, not secrecy.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
