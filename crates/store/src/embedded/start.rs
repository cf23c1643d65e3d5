//! Brings the store up, on the thread that will write to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use super::amended_terms::AmendedTerms;
use super::committer::{Committer, Job};
use super::device::Device;
use super::disk::Disk;
use super::load::load;
use super::touched::Touched;
use super::{Settings, Shared};
use crate::clock::Ticks;
use crate::error::{Error, Result};
use crate::keys::{self, Keys};
use crate::memory::indexer::Indexer;
use crate::memory::overflow::Overflow;
use crate::memory::{Memory, Threads};

/// Opens the file, reads it into memory and begins to work on `jobs`.
///
/// All of it on one thread, because memory allocators keep what a thread has freed for that thread: what was loaded by
/// one and replaced by another would be held twice.
pub(crate) async fn start(
    device: Arc<dyn Device>,
    keys: Keys,
    settings: Settings,
    mut jobs: mpsc::UnboundedReceiver<Job>,
) -> Result<(Arc<Shared>, JoinHandle<()>)> {
    let (up, wait) = oneshot::channel();
    let thread = std::thread::Builder::new().name("store-commit".into()).spawn(move || {
        let committer = match open(device, &keys, settings, Threads::Own) {
            Ok(committer) => committer,
            Err(error) => return drop(up.send(Err(error))),
        };
        match up.send(Ok(committer.shared.clone())) {
            Ok(()) => run(committer, &mut jobs),
            Err(_) => committer.shared.memory.close(),
        }
    });
    let thread =
        thread.map_err(|error| Error::Unavailable(format!("no thread for the committer: {error}")))?;
    let shared = wait.await.map_err(|_| Error::Unavailable("the committer failed".into()))??;
    Ok((shared, thread))
}

/// Works until it is told to stop. A panic ends the writing and is told to every writer; readers go on.
fn run(committer: Committer, jobs: &mut mpsc::UnboundedReceiver<Job>) {
    let shared = committer.shared.clone();
    // Nothing of the committer is used after a panic, and what it shares is published as a whole or not at all.
    match catch_unwind(AssertUnwindSafe(|| committer.run(jobs))) {
        Ok(()) => shared.stopped.store(true, Ordering::Release),
        Err(_) => shared.panicked(),
    }
}

/// Opens the file and reads it into memory.
pub(crate) fn open(
    device: Arc<dyn Device>,
    keys: &Keys,
    settings: Settings,
    threads: Threads,
) -> Result<Committer> {
    let disk = Arc::new(Disk::open(device, settings.cache)?);
    keys::adopt(&disk.metas(keys::DATA_KEYS)?, &keys.keyring)?;
    let indexer = Indexer::new(settings.model.clone(), keys.keyring.clone(), threads);
    let clock = &settings.environment.clock;
    let loaded = load(&*disk.database()?, &indexer, &settings.window, clock.now())?;
    let leases = disk.leases(clock.instant())?;
    let overflow = Overflow::in_folder(settings.overflow.clone(), settings.window.disk);
    let memory = Memory::new(indexer, loaded.state.clone(), loaded.recent.clone(), overflow);
    Ok(Committer {
        touched: Touched::after(loaded.state.revision),
        ticks: Ticks::starting_after(loaded.last_time),
        state: loaded.state,
        recent: loaded.recent,
        leases,
        rows: Vec::new(),
        amended: AmendedTerms::default(),
        shared: Arc::new(Shared {
            memory,
            disk,
            settings,
            stopped: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        }),
    })
}
