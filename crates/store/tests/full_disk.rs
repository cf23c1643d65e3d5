//! A disk that is full, or fails, at every operation of a run: a clear error, nothing lost, readers unharmed, and
//! writes again as soon as it works.

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

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::{
    Acquired, Author, Body, Embedded, Error, Event, Key, Keys, Level, Put, Store, Transaction, Uid, Watch,
};

use medium::{Fault, Kind, Medium};
use script::{Contents, Step, contents, landed, quiet};
use small_disk::SmallDisk;

const COMMITS: u64 = 10;
/// Enough to reach the syncs of the first two.
const OPERATIONS_OF_TWO_COMMITS: usize = 24;

#[tokio::test]
async fn a_full_disk_refuses_commits_until_there_is_room_and_loses_none() {
    fail_at_every_operation(io::ErrorKind::StorageFull).await;
}

#[tokio::test]
async fn a_failing_disk_refuses_commits_until_it_works_and_loses_none() {
    fail_at_every_operation(io::ErrorKind::Other).await;
}

#[tokio::test]
async fn a_disk_that_fails_again_while_the_store_opens_it_anew_loses_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relapses, mut unknown) = (0, 0);
    for at in 1..=OPERATIONS_OF_TWO_COMMITS {
        for again in 1.. {
            let fault = Fault { at, error: io::ErrorKind::Other, lasting: true, reads: false };
            let keys = Keys::open(folder.path()).unwrap();
            let mut trial = Trial::start(fault, keys.clone()).await;
            let outcome = trial.relapse(again).await;
            trial.end(keys).await;
            let Some(outcome) = outcome else { break };
            relapses += 1;
            unknown += usize::from(outcome == Outcome::Unknown);
        }
    }
    assert!(unknown > 0, "no sync was hit");
    eprintln!("failed again at {relapses} places, {unknown} of them after an unknown outcome");
}

async fn fail_at_every_operation(error: io::ErrorKind) {
    let folder = tempfile::tempdir().unwrap();
    let (mut places, mut unknown) = (0, 0);
    for lasting in [true, false] {
        for at in 1.. {
            let fault = Fault { at, error, lasting, reads: false };
            let keys = Keys::open(folder.path()).unwrap();
            let Some(outcome) = Trial::run(fault, keys).await else { break };
            places += 1;
            unknown += usize::from(outcome == Outcome::Unknown);
        }
    }
    assert!(unknown > 0, "no sync was hit");
    eprintln!("{error}: failed at {places} places, the outcome unknown at {unknown} of them");
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
    store: Arc<Embedded>,
    watch: Watch,
    expected: Contents,
}

impl Trial {
    async fn start(fault: Fault, keys: Keys) -> Trial {
        let medium = Medium::with_empty_database();
        let store = Embedded::open_on(medium.storage(), keys, quiet()).await.unwrap();
        let watch = store.watch(b"", store.latest().version()).unwrap();
        medium.fail(fault);
        Trial { fault, medium, store, watch, expected: Contents::new() }
    }

    /// `None` when the run ended before the fault.
    async fn run(fault: Fault, keys: Keys) -> Option<Outcome> {
        let mut trial = Trial::start(fault, keys.clone()).await;
        let mut outcome = Outcome::Survived;
        for number in 1..=COMMITS {
            let step = Step::numbered(number);
            match trial.store.commit(step.transaction()).await {
                Ok(_) => step.apply(&mut trial.expected),
                Err(error) => outcome = trial.refused(number, &error).await,
            }
            assert!(contents(&trial.store) == trial.expected, "{fault:?}: after step {number}");
        }
        let hit = !trial.medium.refused().is_empty() || outcome != Outcome::Survived;
        trial.medium.heal();
        trial.end(keys).await;
        hit.then_some(outcome)
    }

    /// The step `number` was refused: readers go on, the reason is right, and the next commit works once the
    /// disk does.
    async fn refused(&mut self, number: u64, error: &Error) -> Outcome {
        let (fault, step) = (self.fault, Step::numbered(number));
        assert!(contents(&self.store) == self.expected, "{fault:?}: readers saw what was refused: {error}");
        if fault.lasting {
            let again = self.store.commit(Step::numbered(number + 1_000).transaction()).await;
            let again = again.expect_err("the disk still fails");
            assert!(matches!(again, Error::Full(_) | Error::Unavailable(_)), "{fault:?}: {again:?}");
            assert!(contents(&self.store) == self.expected, "{fault:?}: readers go on");
        }
        let first = self.medium.heal().first().copied();
        let outcome = match error {
            Error::Unknown(_) => Outcome::Unknown,
            Error::Full(_) if fault.error == io::ErrorKind::StorageFull => Outcome::Refused,
            Error::Unavailable(_) if fault.error != io::ErrorKind::StorageFull => Outcome::Refused,
            other => panic!("{fault:?}: {other:?}"),
        };
        assert!(
            outcome == Outcome::Refused || matches!(first, Some(Kind::Sync | Kind::SetLen)),
            "{fault:?}: only a failed sync, or what comes behind it, leaves the outcome open; this was {first:?}: {error}"
        );

        let next = Step::numbered(number + 2_000);
        let healed = self.store.commit(next.transaction()).await;
        healed.unwrap_or_else(|error| panic!("{fault:?}: the disk works again, the store does not: {error}"));
        let there = landed(&self.store, number);
        assert!(
            !there || outcome == Outcome::Unknown,
            "{fault:?}: it landed, and the caller was told {error}"
        );
        assert!(!landed(&self.store, number + 1_000), "{fault:?}: refused, yet there");
        if there {
            step.apply(&mut self.expected);
        }
        next.apply(&mut self.expected);
        outcome
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
        self.medium.fail(Fault { at: again, lasting: false, reads: true, ..fault });
        let second = self.store.commit(Step::numbered(number + 1).transaction()).await;
        let hit = !self.medium.heal().is_empty();
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

    /// Closed and opened again, all is as it was said to be, and the watch told all of it once.
    async fn end(mut self, keys: Keys) {
        let fault = self.fault;
        let mut seen = Contents::new();
        let mut last = self.watch.position();
        while self.watch.position() < self.store.latest().version() {
            for event in self.watch.next().await.unwrap() {
                assert!(event.version() > last, "{fault:?}: told twice or out of order");
                last = event.version();
                tell(&mut seen, &event);
            }
        }
        assert!(seen == self.expected, "{fault:?}: the watch told something else");

        self.store.close().await.unwrap();
        let store = Embedded::open_on(self.medium.storage(), keys, quiet()).await.unwrap();
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
        let store = Embedded::open_on(medium.storage(), keys.clone(), quiet()).await.unwrap();
        // Room that is not needed any more, at the end of the file.
        let by = || Transaction::by(Author::new("tester", "full-disk"));
        let (key, value) = bulk(1);
        let large = Put::new(key.clone(), Uid::default(), Body::plain(value.repeat(32)));
        store.commit(by().put(large.level(Level::None))).await.unwrap();
        store.commit(by().delete(key)).await.unwrap();
        store.compact(store.latest().revision()).await.unwrap();
        (&*store as &dyn Store).tidy(None).await.unwrap();

        medium.fail(Fault { at, error: io::ErrorKind::StorageFull, lasting: true, reads: false });
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
        let store = Embedded::open_on(medium.storage(), keys, quiet()).await.unwrap();
        store.commit(Step::numbered(1).transaction()).await.unwrap();
        medium.fail(Fault { at, error: io::ErrorKind::StorageFull, lasting: false, reads: false });
        let tidied = (&*store as &dyn Store).tidy(None).await;
        let hit = !medium.heal().is_empty();
        let report = store.verify(&[]).await.unwrap();
        assert!(report.problems.is_empty(), "operation {at}: {:?}", report.problems);
        match tidied {
            Ok(tidied) => {
                assert_eq!(report.checkpoints, tidied.checkpoints, "operation {at}: said, not done")
            }
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
    let store = Embedded::open_on(medium.storage(), keys, quiet()).await.unwrap();
    let (full, time) = (io::ErrorKind::StorageFull, Duration::from_secs(60));
    let fault = Fault { at: 1, error: full, lasting: true, reads: false };

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

    std::fs::remove_file(&filler).unwrap();
    for number in number + 2..number + 20 {
        let (key, value) = bulk(number);
        store.commit(put(&key, &value)).await.expect("there is room again");
        acknowledged.insert(key, value);
    }
    assert!(contents(&store) == acknowledged);
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
    let mut dice = dice::Dice::seeded(number);
    let value = (0..4_096).flat_map(|_| dice.number().to_le_bytes()).collect();
    (Key::new(format!("bulk/{number:05}")).unwrap(), value)
}

fn put(key: &Key, value: &Bytes) -> Transaction {
    let put = Put::new(key.clone(), Uid::default(), Body::plain(value.clone()));
    Transaction::by(Author::new("tester", "full-disk")).put(put)
}
