//! Random lives of a store on a disk that fails in every way we know of: an acknowledged write is never lost, one that
//! was refused never appears, one of unknown outcome is there or not, and what an open store has shown stays.
//!
//! `GROUNDPLANE_DISK_SCHEDULES` is how many are tried, and `GROUNDPLANE_DISK_SEED` repeats one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "crash/dice.rs"]
mod dice;
#[path = "crash/medium.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod medium;
#[path = "crash/script.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod script;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use store::{Acquired, Embedded, Error, Keys, Store};

use dice::Dice;
use medium::{ALL, CHANGES, FULL, Failure, Fault, Kind, Loss, Medium, WRITES};
use script::{Contents, Step, contents, landed, quiet};

const SCHEDULES: u64 = 1_000;

#[test]
fn on_a_disk_that_fails_at_any_call_no_acknowledged_write_is_lost() {
    let number = |name| std::env::var(name).ok().map(|value: String| value.parse::<u64>().unwrap());
    let first = number("GROUNDPLANE_DISK_SEED");
    let schedules =
        number("GROUNDPLANE_DISK_SCHEDULES").unwrap_or(if first.is_some() { 1 } else { SCHEDULES });
    let first = first.unwrap_or(1);
    let keys = tempfile::tempdir().unwrap();
    let next = AtomicU64::new(first);
    let seen = Mutex::new(BTreeMap::<&'static str, u64>::new());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + schedules {
                        return;
                    }
                    // Printed by the harness if the schedule fails.
                    let told = Told(seed);
                    let mut schedule = Schedule::new(seed, Keys::open(keys.path()).unwrap());
                    runtime.block_on(schedule.run());
                    drop(told);
                    let mut seen = seen.lock().unwrap();
                    for (what, times) in schedule.seen {
                        *seen.entry(what).or_default() += times;
                    }
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    eprintln!("{schedules} schedules in {:.1} s: {seen:?}", began.elapsed().as_secs_f32());
    if schedules >= SCHEDULES {
        // What was never met was never tested.
        for what in [
            "acknowledged",
            "refused",
            "unknown",
            "unknown and written",
            "unknown and not written",
            "halted",
            "told late",
        ] {
            assert!(seen.get(what).is_some_and(|times| *times > 10), "{what} was hardly met: {seen:?}");
        }
    }
}

/// Tells the seed of a schedule that panics.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("this was GROUNDPLANE_DISK_SEED={}", self.0);
        }
    }
}

/// What the writer of a step was told, or has seen since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Acknowledged,
    Refused,
    Unknown,
}

struct Schedule {
    seed: u64,
    dice: Dice,
    medium: Medium,
    keys: Keys,
    /// Of each step, from 1 on.
    fates: Vec<Fate>,
    steps: Vec<Step>,
    seen: BTreeMap<&'static str, u64>,
}

impl Schedule {
    fn new(seed: u64, keys: Keys) -> Schedule {
        let mut dice = Dice::seeded(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
        let medium = Medium::with_empty_database().with_chance(Dice::seeded(dice.number()));
        Schedule { seed, dice, medium, keys, fates: Vec::new(), steps: Vec::new(), seen: BTreeMap::new() }
    }

    async fn run(&mut self) {
        for _ in 0..2 + self.dice.below(3) {
            let store = self.open().await;
            if self.dice.one_in(6) {
                self.medium.heal();
            } else {
                let fault = self.fault(70);
                self.medium.fail(fault);
            }
            for _ in 0..2 + self.dice.below(7) {
                if !self.act(&store).await {
                    break;
                }
            }
            self.end(store).await;
        }
        self.medium.heal();
        self.medium.power_failure();
        let store = self.open_working().await;
        let report = store.verify(&[]).await.unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        self.commit(&store).await;
        assert_eq!(self.fates.last(), Some(&Fate::Acknowledged), "a disk that works takes writes");
        self.check(&store);
        store.close().await.unwrap();
    }

    fn fault(&mut self, within: u64) -> Fault {
        let dice = &mut self.dice;
        let full = dice.one_in(4);
        let kinds = match dice.below(5) {
            _ if full => FULL,
            0 => ALL,
            1 => CHANGES,
            2 => WRITES,
            // Of which there are few.
            _ => &[Kind::Sync],
        };
        let within = if kinds.len() == 1 { within / 8 } else { within };
        let loss = [Loss::Nothing, Loss::Hidden, Loss::Shown][dice.below(3) as usize];
        Fault {
            at: 1 + dice.below(within) as usize,
            error: if full { Failure::Full } else { Failure::Io },
            lasting: dice.one_in(3),
            kinds,
            loss: if full { Loss::Nothing } else { loss },
        }
    }

    /// A process starts, perhaps while the disk fails.
    async fn open(&mut self) -> Arc<Embedded> {
        if self.dice.one_in(3) {
            let fault = self.fault(30);
            self.medium.fail(fault);
            match Embedded::open_on(self.medium.device(), self.keys.clone(), quiet()).await {
                Ok(store) => {
                    self.check(&store);
                    return store;
                }
                Err(error) => {
                    self.saw("not opened");
                    // It also writes, the first time.
                    let named = !matches!(error, Error::Damaged(_) | Error::Closed);
                    assert!(named && !self.medium.heal().is_empty(), "{}: {error:?}", self.seed);
                    self.restart();
                }
            }
        }
        self.open_working().await
    }

    /// A process starts on a disk that works by now; it may still have to tell of what went wrong before.
    async fn open_working(&mut self) -> Arc<Embedded> {
        self.medium.heal();
        let mut opened = Embedded::open_on(self.medium.device(), self.keys.clone(), quiet()).await;
        if opened.is_err() && self.medium.heal() == [Kind::Sync] {
            self.saw("told late");
            self.medium.kill();
            opened = Embedded::open_on(self.medium.device(), self.keys.clone(), quiet()).await;
        }
        let store = opened.unwrap_or_else(|error| panic!("{}: does not open: {error}", self.seed));
        self.check(&store);
        store
    }

    /// Does something; `false` when nothing can be written any more.
    async fn act(&mut self, store: &Embedded) -> bool {
        match self.dice.below(12) {
            0 => drop((store as &dyn Store).tidy(None).await),
            1 => self.take_a_lease(store).await,
            2 => drop(self.medium.heal()),
            3 | 4 => self.commit_two(store).await,
            _ => self.commit(store).await,
        }
        let halted = matches!(store.healthy().await, Err(Error::ReadOnly(_)));
        if halted {
            self.halted(store).await;
        }
        self.check(store);
        !halted
    }

    async fn commit(&mut self, store: &Embedded) {
        let number = self.fates.len() as u64 + 1;
        let outcome = store.commit(Step::numbered(number).transaction()).await;
        self.told(outcome.map(drop));
    }

    /// Often of one batch.
    async fn commit_two(&mut self, store: &Embedded) {
        let number = self.fates.len() as u64 + 1;
        let commit = |number| store.commit(Step::numbered(number).transaction());
        let (one, two) = tokio::join!(commit(number), commit(number + 1));
        self.told(one.map(drop));
        self.told(two.map(drop));
    }

    async fn take_a_lease(&mut self, store: &Embedded) {
        let taken = store.acquire("leader", "one", Duration::from_secs(60)).await;
        if let Ok(Acquired::Taken(fence)) = taken {
            let renewed = store.renew(&fence).await;
            assert!(!matches!(renewed, Ok(false)), "{}: taken, and not held", self.seed);
        }
    }

    fn told(&mut self, outcome: Result<(), Error>) {
        let (fate, what) = match outcome {
            Ok(()) => (Fate::Acknowledged, "acknowledged"),
            Err(Error::Unknown(_)) => (Fate::Unknown, "unknown"),
            Err(Error::Full(_) | Error::Unavailable(_) | Error::ReadOnly(_)) => (Fate::Refused, "refused"),
            Err(other) => panic!("{}: {other:?}", self.seed),
        };
        self.fates.push(fate);
        self.saw(what);
    }

    /// Nothing is written any more, though the disk works again; readers go on.
    async fn halted(&mut self, store: &Embedded) {
        self.saw("halted");
        self.medium.heal();
        let number = self.fates.len() as u64 + 1;
        let refused = store.commit(Step::numbered(number).transaction()).await;
        assert!(
            matches!(&refused, Err(Error::ReadOnly(why)) if why.contains("restart the server")),
            "{refused:?}"
        );
        self.told(refused.map(drop));
        let taken = store.acquire("other", "one", Duration::from_secs(60)).await;
        assert!(matches!(taken, Err(Error::ReadOnly(_))), "{taken:?}");
    }

    /// The process ends: as it should, killed, or with the whole machine.
    async fn end(&mut self, store: Arc<Embedded>) {
        if self.dice.one_in(3) {
            store.close().await.unwrap();
            if self.dice.one_in(2) {
                self.restart();
            }
            return;
        }
        self.restart();
        // It is dead already, and only its memory is freed.
        store.close().await.unwrap();
    }

    fn restart(&mut self) {
        match self.dice.below(4) {
            0 => self.medium.kill(),
            1 => {
                let loss = [Loss::Hidden, Loss::Shown][self.dice.below(2) as usize];
                self.medium.kill_and_lose(loss);
            }
            _ => {
                self.saw("power failures");
                self.medium.power_failure();
            }
        }
    }

    /// Everything is as its writers were told. What is there now stays, and what is not never comes.
    fn check(&mut self, store: &Embedded) {
        let closed = matches!(now_or_never(store.healthy()), Some(Err(_)));
        let mut expected = Contents::new();
        for at in 0..self.fates.len() {
            let number = at as u64 + 1;
            let there = landed(store, number);
            match self.fates[at] {
                Fate::Acknowledged => assert!(there, "{}: {number} was acknowledged, and is lost", self.seed),
                Fate::Refused => assert!(!there, "{}: {number} was refused, and is there", self.seed),
                // A store that has failed shows what was there before.
                Fate::Unknown if closed => assert!(!there, "{}: {number} is shown too early", self.seed),
                Fate::Unknown if there => {
                    self.fates[at] = Fate::Acknowledged;
                    *self.seen.entry("unknown and written").or_default() += 1;
                }
                Fate::Unknown => {
                    self.fates[at] = Fate::Refused;
                    *self.seen.entry("unknown and not written").or_default() += 1;
                }
            }
            if self.steps.len() == at {
                self.steps.push(Step::numbered(number));
            }
            if there {
                self.steps[at].apply(&mut expected);
            }
        }
        assert!(contents(store) == expected, "{}: not what its commits made of it", self.seed);
    }

    fn saw(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }
}

/// The answer of something that is ready at once.
fn now_or_never<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}
