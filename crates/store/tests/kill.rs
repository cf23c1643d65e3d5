//! `kill -9` at a random moment, again and again on one folder: every acknowledged write is there, nothing that
//! nobody wanted, no half transaction, and watches go on where they were cut off.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "crash/dice.rs"]
mod dice;
#[path = "crash/journal.rs"]
mod journal;
#[path = "crash/ledger.rs"]
mod ledger;
#[path = "crash/writer.rs"]
mod writer;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use store::{Embedded, Settings, Store};

use dice::Dice;
use journal::{Journal, Line};
use ledger::Ledger;

/// Tells this program to be the one that is killed: folder, journal and round.
const BE_THE_WRITER: &str = "GROUNDPLANE_CRASH_WRITER";

#[test]
fn sixteen_writers_killed_at_any_moment_lose_no_acknowledged_write() {
    let rounds = rounds();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("store");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut dice = Dice::seeded(std::process::id().into());
    let mut ledger = Ledger::default();
    let began = Instant::now();
    for round in 1..=rounds {
        let journal = folder.path().join(format!("{round}.journal"));
        let lifetime = Duration::from_micros(5_000 + dice.below(55_000));
        kill_after(lifetime, &data, &journal, round);
        runtime.block_on(check(&mut ledger, &data, &journal, round));
        std::fs::remove_file(&journal).unwrap();
    }
    eprintln!(
        "{rounds} kills in {:.1} s: {} commits acknowledged, and {} landed whose writer was not told",
        began.elapsed().as_secs_f32(),
        ledger.acknowledged,
        ledger.unacknowledged
    );
}

#[test]
fn a_store_killed_while_it_is_being_made_opens() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut dice = Dice::seeded(std::process::id().into());
    let rounds = rounds();
    let mut begun = 0;
    for round in 1..=rounds {
        let folder = tempfile::tempdir().unwrap();
        let (data, journal) = (folder.path().join("store"), folder.path().join("journal"));
        let writers = start(&data, &journal, round);
        std::thread::sleep(Duration::from_micros(1_000 + dice.below(24_000)));
        drop(writers);
        begun += u64::from(data.exists() && !journal.exists());
        runtime.block_on(check(&mut Ledger::default(), &data, &journal, round));
    }
    eprintln!("{rounds} kills of a new store, {begun} of them while it was being made");
}

/// Not a test: the process that the test above starts and kills.
#[test]
#[ignore = "started by the crash test"]
fn writer_process() {
    let Ok(told) = std::env::var(BE_THE_WRITER) else { return };
    let mut told = told.split(':');
    let mut next = || told.next().expect("folder, journal and round");
    let (folder, journal) = (PathBuf::from(next()), PathBuf::from(next()));
    writer::write(&folder, &journal, next().parse().expect("a round"));
}

/// `cargo xtask test` asks for more.
fn rounds() -> u64 {
    std::env::var("GROUNDPLANE_CRASH_ROUNDS").map_or(5, |rounds| rounds.parse().expect("a number of rounds"))
}

async fn check(ledger: &mut Ledger, data: &Path, journal: &Path, round: u64) {
    let store = Embedded::open(data, quiet()).await.unwrap();
    ledger.check(&store, &Journal::read(journal, round)).await;
    store.close().await.unwrap();
}

fn start(data: &Path, journal: &Path, round: u64) -> Killed {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "writer_process", "--ignored", "--nocapture"]).stdout(Stdio::null());
    command.env(BE_THE_WRITER, format!("{}:{}:{round}", data.display(), journal.display()));
    Killed(command.spawn().unwrap())
}

/// Starts the writers and kills them so long after their first acknowledgement.
fn kill_after(lifetime: Duration, data: &Path, journal: &Path, round: u64) {
    let mut writers = start(data, journal, round);
    let patience = Instant::now() + Duration::from_secs(30);
    let acknowledged = |line: &Line| matches!(line, Line::Acknowledged { revision: Some(_), .. });
    while !Journal::read(journal, round).iter().any(acknowledged) {
        assert!(Instant::now() < patience, "the writers do not begin");
        assert_eq!(writers.0.try_wait().unwrap(), None, "the writers ended by themselves");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(lifetime);
    assert_eq!(writers.0.try_wait().unwrap(), None, "the writers ended by themselves");
}

/// A process that does not survive its owner: it gets SIGKILL.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn quiet() -> Settings {
    let mut settings = Settings::default();
    settings.housekeeping.every = Duration::from_secs(3_600);
    settings
}
