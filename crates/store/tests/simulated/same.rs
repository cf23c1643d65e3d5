//! Random lives of two stores, one on the simulated engine and one on the embedded: whatever is asked, both say the
//! same.
//!
//! `GROUNDPLANE_ENGINES_SEEDS` is how many lives are tried, and `GROUNDPLANE_ENGINES_SEED` the first.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use store::simulated::{Disk, NoFaults, Simulated};
use store::{
    Acquired, At, Author, Body, Clock, Embedded, Entry, Environment, Event, Fence, Guard, Key, Keys, Level,
    Model, Put, Retention, Revision, Rules, Seeded, Settings, Store, Term, Transaction, Uid, Version, View,
    Watch,
};

const LIVES: u64 = 20;
const OPERATIONS: u64 = 150;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_simulated_engine_behaves_as_the_embedded_one() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("GROUNDPLANE_ENGINES_SEED").unwrap_or(1);
    let lives = number("GROUNDPLANE_ENGINES_SEEDS").unwrap_or(LIVES);
    for seed in first..first + lives {
        live(seed).await;
    }
}

async fn live(seed: u64) {
    let dice = Seeded::new(seed);
    let mut simulated = Side::new(seed, true).await;
    let mut embedded = Side::new(seed, false).await;
    let mut past = Vec::new();
    for number in 0..OPERATIONS {
        let operation = Operation::draw(&dice);
        let one = simulated.perform(&operation, number).await;
        let other = embedded.perform(&operation, number).await;
        past.push(format!("{operation:?}\n    {one}"));
        assert_eq!(one, other, "seed {seed}, {operation:?}, after\n{}", past.join("\n"));
    }
    let (one, other) = (simulated.all().await, embedded.all().await);
    assert_eq!(one, other, "seed {seed}, at the end of\n{}", past.join("\n"));
}

/// A clock that is set by hand, the same for both.
struct HandClock {
    begin: Instant,
    micros: AtomicU64,
}

impl Clock for HandClock {
    fn now(&self) -> u64 {
        1_000_000_000 + self.micros.load(Ordering::SeqCst)
    }

    fn instant(&self) -> Instant {
        self.begin + Duration::from_micros(self.micros.load(Ordering::SeqCst))
    }
}

struct Words;

impl Model for Words {
    fn terms(&self, _key: &Key, bytes: &[u8], terms: &mut Vec<Term>) {
        let words = bytes.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        terms.extend(words.map(|word| Term::bucket(Bytes::copy_from_slice(word))));
    }

    fn retention(&self, _key: &Key) -> Retention {
        Retention { age: Duration::from_secs(30), count: 3 }
    }

    fn rules(&self) -> Vec<(String, Retention)> {
        vec![(String::new(), Retention { age: Duration::from_secs(30), count: 3 })]
    }
}

const NAMES: [&str; 6] = ["a/1", "a/2", "a/3", "b/1", "b/2", "c/1"];
const WORDS: [&str; 4] = ["red", "green", "blue", "grey"];

#[derive(Debug, Clone)]
enum Operation {
    /// Writes, guarded by what was read at the last look, and by nothing else.
    Write {
        writes: Vec<(usize, Option<String>)>,
        secret: bool,
        brief: bool,
        level: u64,
        guard: u64,
        fenced: bool,
    },
    Decide {
        name: usize,
        word: usize,
    },
    Look,
    Acquire {
        holder: u64,
    },
    Renew,
    Release,
    Pass {
        seconds: u64,
    },
    Compact {
        back: u64,
    },
    Older {
        back: u64,
    },
    Watch {
        prefix: usize,
    },
    Follow,
    History {
        name: usize,
    },
    Tidy,
    Reindex,
    Reopen,
}

impl Operation {
    fn draw(dice: &Seeded) -> Operation {
        match dice.below(100) {
            0..45 => {
                let mut writes: Vec<(usize, Option<String>)> = Vec::new();
                for _ in 0..1 + dice.below(3) {
                    let name = dice.below(NAMES.len() as u64) as usize;
                    let words = (0..dice.below(4)).map(|_| WORDS[dice.below(4) as usize]);
                    let body = words.collect::<Vec<_>>().join(" ");
                    if writes.iter().all(|(other, _)| *other != name) {
                        writes.push((name, (dice.below(5) > 0).then_some(body)));
                    }
                }
                Operation::Write {
                    writes,
                    secret: dice.below(8) == 0,
                    brief: dice.below(6) == 0,
                    level: dice.below(6),
                    guard: dice.below(6),
                    fenced: dice.below(8) == 0,
                }
            }
            45..52 => Operation::Decide { name: dice.below(6) as usize, word: dice.below(4) as usize },
            52..60 => Operation::Look,
            60..65 => Operation::Acquire { holder: dice.below(2) },
            65..68 => Operation::Renew,
            68..70 => Operation::Release,
            70..75 => Operation::Pass { seconds: 1 + dice.below(20) },
            75..77 => Operation::Compact { back: dice.below(10) },
            77..82 => Operation::Older { back: dice.below(12) },
            82..86 => Operation::Watch { prefix: dice.below(3) as usize },
            86..90 => Operation::Follow,
            90..94 => Operation::History { name: dice.below(6) as usize },
            94..96 => Operation::Tidy,
            96..98 => Operation::Reindex,
            _ => Operation::Reopen,
        }
    }
}

/// One of the two stores, and what its user keeps in mind.
struct Side {
    disk: Disk,
    keys: Keys,
    settings: Settings,
    clock: Arc<HandClock>,
    is_simulated: bool,
    store: Arc<dyn Store>,
    looked: Arc<store::Snapshot>,
    fence: Option<Fence>,
    watch: Option<Watch>,
    /// Follows everything, and tells when the thread that wakes watches has caught up.
    sentinel: Watch,
}

impl Side {
    async fn new(seed: u64, is_simulated: bool) -> Side {
        let clock = Arc::new(HandClock { begin: Instant::now(), micros: AtomicU64::new(0) });
        let environment = Environment {
            clock: clock.clone(),
            randomness: Arc::new(Seeded::new(seed)),
            is_single_threaded: true,
        };
        let housekeeping = Rules { every: Duration::from_secs(3_600), ..Rules::default() };
        let settings =
            Settings { model: Some(Arc::new(Words)), housekeeping, environment, ..Settings::default() };
        let keys = Keys::in_memory(Arc::new(Seeded::new(seed + 1))).unwrap();
        let disk = Disk::new();
        let store = open(&disk, &keys, &settings, is_simulated).await;
        let looked = Arc::new(store.latest());
        let sentinel = follow_all(&store);
        Side { disk, keys, settings, clock, is_simulated, store, looked, fence: None, watch: None, sentinel }
    }

    async fn perform(&mut self, operation: &Operation, number: u64) -> String {
        let answer = self.answer(operation, number).await;
        self.settle().await;
        answer
    }

    /// Waits until every watch was told of every commit. The embedded engine tells them from a thread of its own, and
    /// how far that has come decides whether a watch that is behind a compaction has missed something.
    async fn settle(&mut self) {
        let target = self.store.latest().version();
        while self.sentinel.position() < target {
            self.sentinel.ready().expect("the sentinel is never behind");
            tokio::time::sleep(Duration::from_micros(50)).await;
        }
    }

    async fn answer(&mut self, operation: &Operation, number: u64) -> String {
        // Both clocks stand still but for this.
        self.clock.micros.fetch_add(10, Ordering::SeqCst);
        match operation {
            Operation::Write { .. } => shown(self.write(operation, number).await),
            Operation::Decide { name, word } => self.decide(*name, *word, number).await,
            Operation::Look => {
                self.looked = Arc::new(self.store.current().await.unwrap());
                self.snapshot(&self.looked)
            }
            Operation::Acquire { holder } => {
                let lease =
                    self.store.acquire("lease", &holder.to_string(), Duration::from_secs(15)).await.unwrap();
                if let Acquired::Taken(fence) = &lease {
                    self.fence = Some(fence.clone());
                }
                format!("{lease:?}")
            }
            Operation::Renew => match &self.fence {
                Some(fence) => format!("{:?}", self.store.renew(fence).await.unwrap()),
                None => String::new(),
            },
            Operation::Release => match self.fence.take() {
                Some(fence) => format!("{:?}", self.store.release(&fence).await.unwrap()),
                None => String::new(),
            },
            Operation::Pass { seconds } => {
                self.clock.micros.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
                // What has expired goes now; the embedded engine might do it by itself at any moment.
                self.store.expire(None).await.unwrap();
                self.snapshot(&self.store.latest())
            }
            Operation::Compact { back } => {
                self.store.compact(self.ago(*back)).await.unwrap();
                String::new()
            }
            Operation::Older { back } => match self.store.at(self.ago(*back)) {
                Ok(snapshot) => self.snapshot(&snapshot),
                Err(error) => error.to_string(),
            },
            Operation::Watch { prefix } => {
                let prefix = ["", "a/", "b/"][*prefix].as_bytes();
                match self.store.watch(prefix, self.looked.version()) {
                    Ok(watch) => {
                        self.watch = Some(watch);
                        "watching".to_owned()
                    }
                    Err(error) => error.to_string(),
                }
            }
            Operation::Follow => self.follow().await,
            Operation::History { name } => self.history(&key(*name)).await,
            Operation::Tidy => format!("{:?}", self.store.tidy(None).await.unwrap()),
            Operation::Reindex => {
                self.store.reindex().await.unwrap();
                self.snapshot(&self.store.latest())
            }
            Operation::Reopen => {
                self.watch = None;
                self.store.close().await.unwrap();
                self.store = open(&self.disk, &self.keys, &self.settings, self.is_simulated).await;
                self.sentinel = follow_all(&self.store);
                self.snapshot(&self.store.latest())
            }
        }
    }

    async fn write(&self, operation: &Operation, number: u64) -> store::Result<store::Committed> {
        let Operation::Write { writes, secret, brief, level, guard, fenced } = operation else {
            unreachable!()
        };
        let mut transaction = Transaction::by(Author::new("alice", "tests"));
        for (name, body) in writes {
            let key = key(*name);
            transaction = match *guard {
                0 => transaction.guard(Guard::At { key: key.clone(), version: self.looked_version(&key) }),
                1 => transaction.guard(Guard::Exists(key.clone())),
                2 => {
                    let term = Bytes::from_static(WORDS[*name % 4].as_bytes());
                    transaction.guard(Guard::Bucket { term, at: self.looked.revision() })
                }
                _ => transaction,
            };
            let Some(body) = body else {
                transaction = transaction.delete(key);
                continue;
            };
            let uid = self.store.latest().get(&key).map_or(Uid([number as u8; 16]), |entry| entry.uid());
            let mut put = Put::new(key, uid, Body::stamped(format!(" {body}"), 0).unwrap());
            put = if *secret { put.secret() } else { put };
            put = if *brief { put.expires_at(self.clock.now() / 1_000 + 5_000) } else { put };
            put = put.level([Level::None, Level::Brief].get(*level as usize).copied().unwrap_or(Level::Full));
            transaction = transaction.put(put);
        }
        if let Some(fence) = self.fence.as_ref().filter(|_| *fenced) {
            transaction = transaction.guard(fence.guard());
        }
        self.store.commit(transaction).await
    }

    /// A rule: a key gets a word unless another has it already.
    async fn decide(&self, name: usize, word: usize, number: u64) -> String {
        let (name, word) = (key(name), Bytes::from_static(WORDS[word].as_bytes()));
        let decided = self.store.transact(Author::new("bob", "tests"), move |view: &mut View| {
            let holders: Vec<Key> = view.bucket(&word).into_iter().map(|(key, _)| key).collect();
            if holders.iter().any(|holder| *holder != name) {
                return Err(holders);
            }
            let uid = view.get(&name).map_or(Uid([number as u8; 16]), |entry| entry.uid());
            view.put(Put::new(name.clone(), uid, Body::plain(word.clone())));
            Ok(())
        });
        format!("{:?}", decided.await.map(|((), committed)| committed))
    }

    async fn follow(&mut self) -> String {
        let target = self.store.latest().version();
        let Some(watch) = &mut self.watch else { return String::new() };
        let mut told = String::new();
        loop {
            match watch.ready() {
                Ok(events) => events.iter().for_each(|event| tell(&mut told, &self.store, event)),
                Err(error) => {
                    self.watch = None;
                    return format!("{told}{error}");
                }
            }
            if watch.position() >= target {
                return told;
            }
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
    }

    async fn history(&self, key: &Key) -> String {
        let mut told = String::new();
        for change in self.store.changes(key, None, 100).await.unwrap().items {
            let _ = write!(told, "{} {} {} {:?} ", change.version, change.time, change.verb, change.level);
            let _ =
                write!(told, "{:?} {:?} ", change.before.map(|entry| entry.version()), change.pruned_before);
            let _ = writeln!(told, "{:?}", change.after.map(|entry| self.body(key, &entry)));
        }
        let at = At::Revision(self.looked.revision());
        match self.store.object_at(key, at).await {
            Ok(entry) => told + &format!("{:?}", entry.map(|entry| self.body(key, &entry))),
            Err(error) => told + &error.to_string(),
        }
    }

    async fn all(&self) -> String {
        let mut told = self.snapshot(&self.store.current().await.unwrap());
        for name in 0..NAMES.len() {
            told += &self.history(&key(name)).await;
        }
        let report = self.store.verify(&[]).await.unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        told + &format!("{} records", report.records)
    }

    fn snapshot(&self, snapshot: &store::Snapshot) -> String {
        let mut told = format!("revision {}\n", snapshot.revision());
        for (key, entry) in snapshot.list(b"") {
            let body = self.body(key, entry);
            let _ =
                writeln!(told, "{key} {} {:?} {body} {:?}", entry.version(), entry.uid(), entry.expires());
        }
        for (term, count) in snapshot.terms(b"") {
            let having: Vec<String> = snapshot.having(term).map(ToString::to_string).collect();
            let _ = writeln!(told, "{term:?} {count} {having:?}");
        }
        told
    }

    fn body(&self, key: &Key, entry: &Entry) -> String {
        String::from_utf8(self.store.reveal(key, entry).unwrap().to_vec()).unwrap()
    }

    fn looked_version(&self, key: &Key) -> Version {
        self.looked.get(key).map_or(Version::ZERO, |entry| entry.version())
    }

    fn ago(&self, back: u64) -> Revision {
        Revision::new(self.store.latest().revision().get().saturating_sub(back))
    }
}

fn tell(told: &mut String, store: &Arc<dyn Store>, event: &Event) {
    let bytes = store.reveal(event.key(), event.shown()).unwrap();
    let before = event.before().map(|entry| entry.version());
    let _ = writeln!(
        told,
        "{} {} {before:?} {} {bytes:?}",
        event.version(),
        event.key(),
        event.after().is_some()
    );
}

fn shown(committed: store::Result<store::Committed>) -> String {
    match committed {
        Ok(committed) => {
            let versions = committed.entries.iter().map(|entry| entry.as_ref().map(|entry| entry.version()));
            format!("{} {:?}", committed.revision, versions.collect::<Vec<_>>())
        }
        Err(error) => error.to_string(),
    }
}

fn follow_all(store: &Arc<dyn Store>) -> Watch {
    store.watch(b"", store.latest().version()).unwrap()
}

fn key(name: usize) -> Key {
    Key::new(NAMES[name]).unwrap()
}

async fn open(disk: &Disk, keys: &Keys, settings: &Settings, is_simulated: bool) -> Arc<dyn Store> {
    match is_simulated {
        true => Simulated::open(disk, keys.clone(), settings.clone(), Arc::new(NoFaults)).await.unwrap(),
        false => Embedded::open_on(Arc::new(disk.clone()), keys.clone(), settings.clone()).await.unwrap(),
    }
}
