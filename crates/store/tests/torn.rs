//! Power fails at every operation of a recorded run, with what was not synced lost, kept in part, or torn:
//! the store opens, has every acknowledged commit, and nothing that is not a whole commit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "crash/dice.rs"]
mod dice;
#[path = "crash/medium.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod medium;
#[path = "crash/script.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod script;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use store::{Embedded, Keys, Store};

use dice::Dice;
use medium::{Medium, Operation, SECTOR, put};
use script::{Contents, Step, contents, quiet};

const COMMITS: u64 = 48;
/// A checkpoint is written after each so many commits: a batch that makes no revision.
const CHECKPOINT_EVERY: u64 = 16;

#[test]
fn whatever_a_power_failure_leaves_of_unsynced_writes_every_acknowledged_commit_is_there() {
    let keys = tempfile::tempdir().unwrap();
    let run = Run::record(&Keys::open(keys.path()).unwrap());
    let seeds = std::env::var("GROUNDPLANE_TORN_SEEDS").map_or(4, |seeds| seeds.parse().unwrap());
    let began = Instant::now();
    let next = AtomicUsize::new(0);
    let checked = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let keys = keys.path();
                loop {
                    let cut = next.fetch_add(1, Ordering::Relaxed);
                    if cut > run.operations.len() {
                        return;
                    }
                    for (left, image) in run.images(cut, seeds) {
                        let keys = Keys::open(keys).unwrap();
                        runtime.block_on(run.check(cut, &left, image, keys));
                        checked.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    eprintln!(
        "{} images of {} operations opened in {:.1} s",
        checked.into_inner(),
        run.operations.len(),
        began.elapsed().as_secs_f32()
    );
}

/// What was done to the disk, and when the caller knew what.
struct Run {
    /// What the disk held before the first operation.
    empty: Vec<u8>,
    operations: Vec<Operation>,
    /// What the store holds after each commit; before the first, nothing.
    states: Vec<Contents>,
    /// How many operations there had been when each commit was submitted.
    submitted: Vec<usize>,
    /// How many operations there had been when each commit was acknowledged.
    acknowledged: Vec<usize>,
    /// The same for checkpoints.
    checkpoints: Vec<usize>,
}

impl Run {
    fn record(keys: &Keys) -> Run {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let medium = Medium::with_empty_database();
        medium.record();
        let mut run = Run {
            empty: medium.bytes(),
            operations: Vec::new(),
            states: vec![Contents::new()],
            submitted: Vec::new(),
            acknowledged: Vec::new(),
            checkpoints: Vec::new(),
        };
        runtime.block_on(async {
            let store = Embedded::open_on(medium.device(), keys.clone(), quiet()).await.unwrap();
            let mut contents = Contents::new();
            for number in 1..=COMMITS {
                let step = Step::numbered(number);
                run.submitted.push(medium.recorded());
                let committed = store.commit(step.transaction()).await.unwrap();
                run.acknowledged.push(medium.recorded());
                assert_eq!(committed.revision.get(), number);
                step.apply(&mut contents);
                run.states.push(contents.clone());
                if number.is_multiple_of(CHECKPOINT_EVERY) {
                    let tidied = (&*store as &dyn Store).tidy(None).await.unwrap();
                    assert_eq!(tidied.checkpoints, 1);
                    run.checkpoints.push(medium.recorded());
                }
            }
            store.close().await.unwrap();
        });
        run.operations = medium.operations();
        run
    }

    /// What a disk may hold when power fails after `cut` operations, each with a word on it.
    fn images(&self, cut: usize, seeds: u64) -> Vec<(String, Vec<u8>)> {
        let done = &self.operations[..cut];
        let synced = done.iter().rposition(|done| matches!(done, Operation::Sync)).map_or(0, |at| at + 1);
        let (durable, pending) = done.split_at(synced);
        let mut base = self.empty.clone();
        durable.iter().for_each(|operation| perform(&mut base, operation));

        let mut images = Vec::new();
        // Between two syncs it is always the same, and the last moment asks the most of it.
        if self.operations.get(cut).is_none_or(|next| matches!(next, Operation::Sync)) {
            images.push(("nothing unsynced".to_owned(), base.clone()));
        }
        if pending.is_empty() {
            return images;
        }
        let mut whole = base.clone();
        pending.iter().for_each(|operation| perform(&mut whole, operation));
        images.push(("everything unsynced".to_owned(), whole));
        for seed in 0..seeds {
            let mut dice = Dice::seeded(cut as u64 * 1_000 + seed);
            let mut some = base.clone();
            for operation in pending.iter().filter(|_| !dice.one_in(2)) {
                perform(&mut some, operation);
            }
            images.push((format!("some unsynced, seed {seed}"), some));

            // Even seeds tear the last of all, odd ones any of some.
            let mut torn = base.clone();
            let victim =
                if seed % 2 == 0 { pending.len() - 1 } else { dice.below(pending.len() as u64) as usize };
            for (at, operation) in pending.iter().enumerate() {
                if at == victim {
                    tear(&mut torn, operation, &mut dice);
                } else if seed % 2 == 0 || dice.one_in(2) {
                    perform(&mut torn, operation);
                }
            }
            images.push((format!("one torn, seed {seed}"), torn));
        }
        images
    }

    async fn check(&self, cut: usize, left: &str, image: Vec<u8>, keys: Keys) {
        let before = |times: &[usize]| times.partition_point(|time| *time <= cut) as u64;
        let (acknowledged, submitted) = (before(&self.acknowledged), before(&self.submitted));
        let told = format!("power failed after {cut} operations with {left} left");

        let medium = Medium::holding(image);
        let store = Embedded::open_on(medium.device(), keys, quiet()).await;
        let store = store.unwrap_or_else(|error| panic!("{told}: {error}"));
        let reached = store.latest().revision().get();
        assert!(reached >= acknowledged, "{told}: {acknowledged} were acknowledged, {reached} are there");
        assert!(reached <= submitted, "{told}: {submitted} were submitted, {reached} are there");
        assert!(contents(&store) == self.states[reached as usize], "{told}: not the state after {reached}");

        let report = store.verify(&[]).await.unwrap();
        assert!(report.problems.is_empty(), "{told}: {:?}", report.problems);
        assert!(report.checkpoints as u64 >= before(&self.checkpoints), "{told}: a checkpoint is lost");

        let step = Step::numbered(reached + 1);
        store.commit(step.transaction()).await.unwrap_or_else(|error| panic!("{told}: {error}"));
        let mut expected = self.states[reached as usize].clone();
        step.apply(&mut expected);
        assert!(contents(&store) == expected, "{told}: the next commit");
        store.close().await.unwrap();
    }
}

fn perform(bytes: &mut Vec<u8>, operation: &Operation) {
    match operation {
        Operation::Write { offset, data } => put(bytes, *offset, data),
        Operation::SetLen(len) => bytes.resize(*len, 0),
        Operation::Sync => {}
    }
}

/// Performs a part of a write: up to a sector's edge inside it, or from there on.
fn tear(bytes: &mut Vec<u8>, operation: &Operation, dice: &mut Dice) {
    let Operation::Write { offset, data } = operation else { return };
    let first = offset.next_multiple_of(SECTOR).max(offset + 1);
    let edges: Vec<usize> = (first..offset + data.len()).step_by(SECTOR).collect();
    if edges.is_empty() {
        // Inside one sector: all of it or nothing.
        return;
    }
    let edge = edges[dice.below(edges.len() as u64) as usize] - offset;
    if dice.one_in(2) {
        put(bytes, *offset, &data[..edge]);
    } else {
        put(bytes, offset + edge, &data[edge..]);
    }
}
