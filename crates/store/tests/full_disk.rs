//! A disk that is full, or fails, at every operation of a run: a clear error, nothing lost, readers unharmed, and
//! writes again as soon as it works. Only after a failed sync the store waits for a restart.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "crash/dice.rs"]
mod dice;
#[path = "crash/medium.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod medium;
#[path = "crash/script.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod script;
#[path = "crash/small_disk.rs"]
mod small_disk;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::{
    Acquired, Author, Body, Embedded, Error, Event, Key, Keys, Level, Put, Store, Transaction, Uid, Watch,
};

use dice::Dice;
use medium::{ALL, CHANGES, FULL, Failure, Fault, Kind, Loss, Medium, WRITES};
use script::{Contents, Step, contents, landed, quiet};
use small_disk::SmallDisk;

const COMMITS: u64 = 8;
/// Enough to reach the headers of the first two.
const OPERATIONS_OF_TWO_COMMITS: usize = 24;
/// A fault that stays until it is lifted, and one that is met once.
const BOTH: &[bool] = &[true, false];

#[tokio::test]
async fn a_full_disk_refuses_commits_until_there_is_room_and_loses_none() {
    let outcomes = fail_at_every_operation(Failure::Full, FULL, Loss::Nothing, BOTH).await;
    assert!(outcomes.refused > 0, "{outcomes:?}");
    assert_eq!(outcomes.restarts, 0, "there was room again: {outcomes:?}");
    assert_eq!(outcomes.unknown, 0, "whatever takes no room can be written: {outcomes:?}");
}

#[tokio::test]
async fn a_disk_that_fails_to_write_refuses_commits_until_it_works_and_loses_none() {
    let outcomes = fail_at_every_operation(Failure::Io, WRITES, Loss::Nothing, BOTH).await;
    assert!(outcomes.refused > 0 && outcomes.unknown > 0, "{outcomes:?}");
    assert_eq!(outcomes.restarts, 0, "no sync failed: {outcomes:?}");
}

#[tokio::test]
async fn a_disk_that_fails_to_sync_stops_the_writing_until_a_restart_and_loses_none() {
    let once = [false].as_slice();
    for (lasting, loss) in [(BOTH, Loss::Nothing), (once, Loss::Hidden), (once, Loss::Shown)] {
        let outcomes = fail_at_every_operation(Failure::Io, CHANGES, loss, lasting).await;
        assert!(outcomes.restarts > 0 && outcomes.unknown > 0, "{outcomes:?}");
    }
}

#[tokio::test]
async fn a_disk_that_fails_again_while_the_store_opens_it_anew_loses_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relapses, mut unknown) = (0, 0);
    for at in 1..=OPERATIONS_OF_TWO_COMMITS {
        for again in 1.. {
            let fault = Fault { at, error: Failure::Io, lasting: true, kinds: WRITES, loss: Loss::Nothing };
            let keys = Keys::open(folder.path()).unwrap();
            let mut trial = Trial::start(fault, keys.clone()).await;
            let outcome = trial.relapse(again).await;
            trial.end().await;
            let Some(outcome) = outcome else { break };
            relapses += 1;
            unknown += usize::from(outcome == Outcome::Unknown);
        }
    }
    assert!(unknown > 0, "no header was hit");
    eprintln!("failed again at {relapses} places, {unknown} of them after an unknown outcome");
}

#[derive(Debug, Default)]
struct Outcomes {
    places: usize,
    refused: usize,
    unknown: usize,
    restarts: usize,
}

async fn fail_at_every_operation(
    error: Failure,
    kinds: &'static [Kind],
    loss: Loss,
    lasting: &[bool],
) -> Outcomes {
    let folder = tempfile::tempdir().unwrap();
    let mut outcomes = Outcomes::default();
    for &lasting in lasting {
        for at in 1.. {
            let fault = Fault { at, error, lasting, kinds, loss };
            let mut trial = Trial::start(fault, Keys::open(folder.path()).unwrap()).await;
            let hit = trial.run().await;
            outcomes.refused += usize::from(trial.outcome == Outcome::Refused);
            outcomes.unknown += usize::from(trial.outcome == Outcome::Unknown);
            outcomes.restarts += trial.restarts;
            trial.end().await;
            if !hit {
                break;
            }
            outcomes.places += 1;
        }
    }
    eprintln!("{error:?}, {loss:?}: {outcomes:?}");
    outcomes
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Refused,
    Unknown,
    /// The engine opened the file anew and found that the commit had landed, or nothing of it was needed.
    Survived,
}

/// One run on a disk that fails at one place.
struct Trial {
    fault: Fault,
    medium: Medium,
    keys: Keys,
    store: Arc<Embedded>,
    watch: Watch,
    /// What the watch began with.
    seen: Contents,
    expected: Contents,
    outcome: Outcome,
    restarts: usize,
}

impl Trial {
    async fn start(fault: Fault, keys: Keys) -> Trial {
        let medium = Medium::with_empty_database().with_chance(Dice::seeded(fault.at as u64));
        let store = Embedded::open_on(medium.device(), keys.clone(), quiet()).await.unwrap();
        let watch = store.watch(b"", store.latest().version()).unwrap();
        medium.fail(fault);
        Trial {
            fault,
            medium,
            keys,
            store,
            watch,
            seen: Contents::new(),
            expected: Contents::new(),
            outcome: Outcome::Survived,
            restarts: 0,
        }
    }

    /// Whether the fault was met.
    async fn run(&mut self) -> bool {
        let fault = self.fault;
        for number in 1..=COMMITS {
            let step = Step::numbered(number);
            match self.store.commit(step.transaction()).await {
                Ok(_) => step.apply(&mut self.expected),
                Err(error) => self.refused(number, &error).await,
            }
            assert!(contents(&self.store) == self.expected, "{fault:?}: after step {number}");
        }
        !self.medium.heal().is_empty() || self.outcome != Outcome::Survived
    }

    /// The step `number` was refused: readers go on, the reason is right, and the next commit works once the
    /// disk does, and the process was started anew if it said so.
    async fn refused(&mut self, number: u64, error: &Error) {
        let fault = self.fault;
        assert!(contents(&self.store) == self.expected, "{fault:?}: readers saw what was refused: {error}");
        if fault.lasting {
            let more = Step::numbered(number + 1_000);
            match self.store.commit(more.transaction()).await {
                Ok(_) if fault.error == Failure::Full => more.apply(&mut self.expected),
                Err(Error::Full(_) | Error::Unavailable(_) | Error::ReadOnly(_)) => {}
                other => panic!("{fault:?}: the disk still fails: {other:?}"),
            }
            assert!(contents(&self.store) == self.expected, "{fault:?}: readers go on");
        }
        let met = self.medium.heal();
        self.outcome = match error {
            Error::Unknown(_) => Outcome::Unknown,
            Error::Full(_) if fault.error == Failure::Full => Outcome::Refused,
            Error::Unavailable(_) if fault.error == Failure::Io => Outcome::Refused,
            Error::ReadOnly(_) if met.contains(&Kind::Sync) => Outcome::Refused,
            other => panic!("{fault:?}: {other:?}"),
        };
        let there = self.revive(number).await;
        assert!(!there || self.outcome == Outcome::Unknown, "{fault:?}: it landed, and was told {error}");
        let next = Step::numbered(number + 2_000);
        let healed = self.store.commit(next.transaction()).await;
        healed.unwrap_or_else(|error| panic!("{fault:?}: the disk works again, the store does not: {error}"));
        let there = there || landed(&self.store, number);
        assert!(!there || self.outcome == Outcome::Unknown, "{fault:?}: it landed, and was told {error}");
        if there {
            Step::numbered(number).apply(&mut self.expected);
        }
        next.apply(&mut self.expected);
    }

    /// Starts the process anew if it takes no more writes. Tells whether the step `number` is there then.
    async fn revive(&mut self, number: u64) -> bool {
        let Err(Error::ReadOnly(why)) = self.store.healthy().await else { return false };
        assert!(why.contains("could not be synced to disk") && why.contains("restart the server"), "{why}");
        let refused = self.store.commit(Step::numbered(number + 3_000).transaction()).await;
        assert!(matches!(refused, Err(Error::ReadOnly(_))), "{:?}: {refused:?}", self.fault);
        self.medium.kill();
        self.store.close().await.unwrap();
        self.restarts += 1;
        self.store = Embedded::open_on(self.medium.device(), self.keys.clone(), quiet()).await.unwrap();
        self.watch = self.store.watch(b"", self.store.latest().version()).unwrap();
        self.seen = contents(&self.store);
        landed(&self.store, number)
    }

    /// Commits until the disk fails; once it works, it fails once more, at its operation `again`, reads counted, while
    /// the store comes back. `None` when the store had come back before that.
    async fn relapse(&mut self, again: usize) -> Option<Outcome> {
        let fault = self.fault;
        let mut number = 0;
        let error = loop {
            number += 1;
            match self.store.commit(Step::numbered(number).transaction()).await {
                Ok(_) => Step::numbered(number).apply(&mut self.expected),
                Err(error) => break error,
            }
        };
        self.medium.fail(Fault { at: again, lasting: false, kinds: ALL, loss: Loss::Hidden, ..fault });
        let second = self.store.commit(Step::numbered(number + 1).transaction()).await;
        let hit = !self.medium.heal().is_empty();
        self.revive(number).await;
        let third = self.store.commit(Step::numbered(number + 2).transaction()).await;
        third
            .unwrap_or_else(|error| panic!("{fault:?}, then {again}: the store does not come back: {error}"));

        let first = landed(&self.store, number);
        assert!(!first || matches!(error, Error::Unknown(_)), "{fault:?}, then {again}: told {error}");
        let there = landed(&self.store, number + 1);
        let right = match &second {
            Ok(_) => there,
            Err(Error::Unknown(_)) => true,
            Err(_) => !there,
        };
        assert!(right, "{fault:?}, then {again}: told {second:?}, there: {there}");
        for (number, there) in [(number, first), (number + 1, there), (number + 2, true)] {
            if there {
                Step::numbered(number).apply(&mut self.expected);
            }
        }
        assert!(contents(&self.store) == self.expected, "{fault:?}, then {again}");
        let unknown = matches!(error, Error::Unknown(_));
        hit.then_some(if unknown { Outcome::Unknown } else { Outcome::Refused })
    }

    /// After a power failure all is as it was said to be, and the watch told all of it once.
    async fn end(mut self) {
        let fault = self.fault;
        let mut last = self.watch.position();
        while self.watch.position() < self.store.latest().version() {
            for event in self.watch.next().await.unwrap() {
                assert!(event.version() > last, "{fault:?}: told twice or out of order");
                last = event.version();
                tell(&mut self.seen, &event);
            }
        }
        assert!(self.seen == self.expected, "{fault:?}: the watch told something else");

        self.medium.power_failure();
        self.store.close().await.unwrap();
        let store = Embedded::open_on(self.medium.device(), self.keys, quiet()).await.unwrap();
        assert!(contents(&store) == self.expected, "{fault:?}: after opening again");
        let report = store.verify(&[]).await.unwrap();
        assert!(report.problems.is_empty(), "{fault:?}: {:?}", report.problems);
        store.close().await.unwrap();
    }
}

fn tell(seen: &mut Contents, event: &Event) {
    match event.after() {
        Some(entry) => drop(seen.insert(event.key().clone(), entry.bytes().clone())),
        None => drop(seen.remove(event.key())),
    }
}

#[tokio::test]
async fn a_commit_behind_which_the_file_could_not_be_cut_shorter_is_not_said_to_be_refused() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::open(folder.path()).unwrap();
    let mut landed_all_the_same = 0;
    for at in 1.. {
        let medium = Medium::with_empty_database();
        let store = Embedded::open_on(medium.device(), keys.clone(), quiet()).await.unwrap();
        // Room that is not needed any more, at the end of the file.
        let by = || Transaction::by(Author::new("tester", "full-disk"));
        let (key, value) = bulk(1);
        let large = Put::new(key.clone(), Uid::default(), Body::plain(value.repeat(32)));
        store.commit(by().put(large.level(Level::None))).await.unwrap();
        store.commit(by().delete(key)).await.unwrap();
        store.compact(store.latest().revision()).await.unwrap();
        (&*store as &dyn Store).tidy(None).await.unwrap();

        medium.fail(Fault { at, error: Failure::Full, lasting: true, kinds: WRITES, loss: Loss::Nothing });
        let mut commits = (1..=COMMITS).map(|number| (number, Step::numbered(number).transaction()));
        let refused = loop {
            let Some((number, transaction)) = commits.next() else { break None };
            if let Err(error) = store.commit(transaction).await {
                break Some((number, error));
            }
        };
        let first = medium.heal().first().copied();
        let Some((number, error)) = refused else {
            store.close().await.unwrap();
            break;
        };
        store.commit(Step::numbered(1_000).transaction()).await.unwrap();
        let there = landed(&store, number);
        assert!(
            !there || matches!(error, Error::Unknown(_)),
            "{at}, {first:?}: it landed, and was told {error}"
        );
        landed_all_the_same += usize::from(there && first == Some(Kind::SetLen));
        store.close().await.unwrap();
    }
    assert!(landed_all_the_same > 0, "the file was never cut shorter");
}

#[tokio::test]
async fn a_checkpoint_that_is_said_to_be_written_is_there() {
    let folder = tempfile::tempdir().unwrap();
    for at in 1.. {
        let medium = Medium::with_empty_database();
        let keys = Keys::open(folder.path()).unwrap();
        let store = Embedded::open_on(medium.device(), keys.clone(), quiet()).await.unwrap();
        store.commit(Step::numbered(1).transaction()).await.unwrap();
        medium.fail(Fault { at, error: Failure::Io, lasting: false, kinds: CHANGES, loss: Loss::Nothing });
        let tidied = (&*store as &dyn Store).tidy(None).await;
        let hit = !medium.heal().is_empty();
        let store = match store.healthy().await {
            Ok(()) => store,
            Err(_) => {
                medium.kill();
                store.close().await.unwrap();
                Embedded::open_on(medium.device(), keys, quiet()).await.unwrap()
            }
        };
        let report = store.verify(&[]).await.unwrap();
        assert!(report.problems.is_empty(), "operation {at}: {:?}", report.problems);
        match tidied {
            Ok(tidied) => {
                assert_eq!(report.checkpoints, tidied.checkpoints, "operation {at}: said, not done")
            }
            Err(Error::Unknown(_)) => {}
            Err(error) => assert_eq!(report.checkpoints, 0, "operation {at}: done, yet said {error}"),
        }
        store.close().await.unwrap();
        if !hit {
            return;
        }
    }
}

#[tokio::test]
async fn a_lease_that_could_not_be_written_is_as_it_was_before() {
    let folder = tempfile::tempdir().unwrap();
    let medium = Medium::with_empty_database();
    let keys = Keys::open(folder.path()).unwrap();
    let store = Embedded::open_on(medium.device(), keys, quiet()).await.unwrap();
    let time = Duration::from_secs(60);
    let fault = Fault { at: 1, error: Failure::Full, lasting: false, kinds: WRITES, loss: Loss::Nothing };

    medium.fail(fault);
    let refused = store.acquire("leader", "one", time).await;
    assert!(matches!(refused, Err(Error::Full(_))), "{refused:?}");
    medium.heal();
    let taken = store.acquire("leader", "two", time).await.unwrap();
    let Acquired::Taken(fence) = taken else { panic!("held by who was refused it: {taken:?}") };

    medium.fail(fault);
    let refused = store.release(&fence).await;
    assert!(matches!(refused, Err(Error::Full(_))), "{refused:?}");
    medium.heal();
    assert!(store.renew(&fence).await.unwrap(), "lost by a release that did not happen");
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_panic_while_a_commit_is_written_is_told_to_its_writer_and_ends_the_writing() {
    let folder = tempfile::tempdir().unwrap();
    let medium = Medium::with_empty_database();
    let keys = Keys::open(folder.path()).unwrap();
    let store = Embedded::open_on(medium.device(), keys.clone(), quiet()).await.unwrap();
    store.commit(Step::numbered(1).transaction()).await.unwrap();
    let acquired = store.acquire("leader", "one", Duration::from_secs(60)).await.unwrap();
    let Acquired::Taken(fence) = acquired else { panic!("{acquired:?}") };

    let panics =
        Fault { at: 1, error: Failure::Panic, lasting: false, kinds: &[Kind::Sync], loss: Loss::Nothing };
    medium.fail(panics);
    let commit = |number| store.commit(Step::numbered(number).transaction());
    let both = async { tokio::join!(commit(2), commit(3)) };
    let (one, two) =
        tokio::time::timeout(Duration::from_secs(30), both).await.expect("nobody is left waiting");
    for told in [one, two] {
        assert!(matches!(told, Err(Error::Unknown(_) | Error::ReadOnly(_))), "{told:?}");
    }
    let unhealthy = store.healthy().await;
    assert!(matches!(&unhealthy, Err(Error::ReadOnly(why)) if why.contains("restart")), "{unhealthy:?}");
    assert!(matches!(store.renew(&fence).await, Err(Error::ReadOnly(_))), "a lease that nobody keeps");
    assert!(matches!(commit(4).await, Err(Error::ReadOnly(_))));
    assert!(landed(&store, 1), "readers go on");

    medium.kill();
    let _ = store.close().await;
    let store = Embedded::open_on(medium.device(), keys, quiet()).await.unwrap();
    assert!(landed(&store, 1) && !landed(&store, 4));
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_panic_of_who_decides_is_told_to_him_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), quiet()).await.unwrap();
    let refused = store.commit_alone(Box::new(|_| panic!("the test says so"))).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    store.commit(Step::numbered(1).transaction()).await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_real_full_disk_refuses_commits_and_takes_them_again_when_a_file_is_deleted() {
    let Some(disk) = SmallDisk::mount(16 << 20) else { return };
    let filler = disk.path().join("filler");
    std::fs::write(&filler, vec![1; 6 << 20]).unwrap();
    let folder = disk.path().join("store");
    let store = Embedded::open(&folder, quiet()).await.unwrap();

    let mut acknowledged = Contents::new();
    let mut number = 0;
    let error = loop {
        number += 1;
        let (key, value) = bulk(number);
        match store.commit(put(&key, &value)).await {
            Ok(_) => drop(acknowledged.insert(key, value)),
            Err(error) => break error,
        }
        assert!(number < 10_000, "the disk never fills");
    };
    assert!(matches!(error, Error::Full(_)), "{error:?}");
    assert!(error.to_string().starts_with("no space left"), "{error}");
    assert!(contents(&store) == acknowledged, "readers go on");
    let (key, value) = bulk(number + 1);
    let again = store.commit(put(&key, &value)).await;
    assert!(matches!(again, Err(Error::Full(_))), "{again:?}");
    let health = store.healthy().await;
    assert!(matches!(health, Err(Error::Full(_))), "readiness tells it: {health:?}");

    std::fs::remove_file(&filler).unwrap();
    for number in number + 2..number + 20 {
        let (key, value) = bulk(number);
        store.commit(put(&key, &value)).await.expect("there is room again");
        acknowledged.insert(key, value);
    }
    assert!(contents(&store) == acknowledged);
    store.healthy().await.unwrap();
    store.close().await.unwrap();

    let store = Embedded::open(&folder, quiet()).await.unwrap();
    assert!(contents(&store) == acknowledged, "after opening again");
    let report = store.verify(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    store.close().await.unwrap();
    eprintln!("a disk of 16 MiB was full after {number} commits");
}

/// An object of 32 KiB.
fn bulk(number: u64) -> (Key, Bytes) {
    let mut dice = Dice::seeded(number);
    let value = (0..4_096).flat_map(|_| dice.number().to_le_bytes()).collect();
    (Key::new(format!("bulk/{number:05}")).unwrap(), value)
}

fn put(key: &Key, value: &Bytes) -> Transaction {
    let put = Put::new(key.clone(), Uid::default(), Body::plain(value.clone()));
    Transaction::by(Author::new("tester", "full-disk")).put(put)
}
