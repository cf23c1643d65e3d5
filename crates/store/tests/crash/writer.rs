//! The process that is killed: sixteen writers on one store, each noting what it is about to do and what it was told.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use store::{Embedded, Key, Settings, Snapshot, Store, Version, Window};

use super::dice::Dice;
use super::journal::{Attempt, Journal, Line, Planned};

pub const WRITERS: u64 = 16;
const OWN_KEYS: u64 = 4;
const SHARED_KEYS: u64 = 24;

/// Writes until it is killed, or a minute has passed and nobody did.
pub fn write(folder: &Path, journal: &Path, round: u64) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let store = Embedded::open(folder, busy()).await.expect("the store opens after a crash");
        let journal = Arc::new(Journal::append_to(journal));
        for writer in 0..WRITERS {
            tokio::spawn(keep_writing(store.clone(), journal.clone(), round, writer));
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
    });
}

/// Checkpoints and retention all the time, over a window short enough that some of it is let go of.
fn busy() -> Settings {
    let mut settings = Settings::default();
    settings.window = Window { commits: 4_000, ..settings.window };
    settings.housekeeping.every = Duration::from_millis(10);
    settings
}

async fn keep_writing(store: Arc<Embedded>, journal: Arc<Journal>, round: u64, writer: u64) {
    let mut dice = Dice::seeded(round * WRITERS + writer);
    for number in 1.. {
        let writes = plan(&store.latest(), writer, &mut dice);
        let attempt = Attempt { round, writer, number, writes };
        let transaction = attempt.transaction();
        journal.note(&Line::Try(attempt));
        match store.commit(transaction).await {
            Ok(committed) => {
                let changed = committed.entries.iter().any(Option::is_some);
                let revision = changed.then_some(committed.revision);
                journal.note(&Line::Acknowledged { writer, number, revision });
            }
            Err(error) if error.is_conflict() => journal.note(&Line::Refused { writer, number }),
            Err(error) => {
                eprintln!("writer {writer}: {error}");
                std::process::exit(1);
            }
        }
    }
}

/// One to four different keys, own and shared; of the shared ones some are guarded by what was read.
fn plan(now: &Snapshot, writer: u64, dice: &mut Dice) -> Vec<Planned> {
    let mut writes: Vec<Planned> = Vec::new();
    for _ in 0..1 + dice.below(4) {
        let shared = dice.one_in(2);
        let key = if shared {
            format!("shared/{}", dice.below(SHARED_KEYS))
        } else {
            format!("own/{writer}/{}", dice.below(OWN_KEYS))
        };
        if writes.iter().any(|planned| planned.key == key) {
            continue;
        }
        let found = Key::new(&key).ok().and_then(|key| now.get(&key).map(|entry| entry.version()));
        let at = (shared && dice.one_in(2)).then(|| found.unwrap_or(Version::ZERO));
        writes.push(Planned { key, delete: dice.one_in(4), at });
    }
    writes
}
