//! The embedded engine: one file, one committer, and readers that never wait for either.

mod amended_terms;
pub(crate) mod archive;
mod batch;
pub(crate) mod committer;
mod device;
mod disk;
mod file;
pub(crate) mod jobs;
mod leases;
mod load;
mod log;
mod records;
mod restore;
mod settle;
pub(crate) mod start;
mod storage;
mod tables;
mod touched;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::mpsc;

use self::archive::{EmbeddedArchive, Reads};
use self::committer::Job;
use self::device::FileDevice;
use self::disk::Disk;
use self::jobs::Jobs;
use self::storage::Durability;
use crate::backup;
use crate::contention::Contention;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::history::archive::Later;
use crate::housekeeping;
use crate::keys::{self, Keys};
use crate::lease::Acquired;
use crate::limits::{Hints, Limits};
use crate::memory::Memory;
use crate::memory::recent::Window;
use crate::model::Model;
use crate::snapshot::Snapshot;
use crate::store::{Decide, Parts, Store};
use crate::transaction::{Committed, Fence, Transaction, prepare};
use crate::version::Revision;

pub use self::device::Device;

/// How the embedded engine is run.
#[derive(Clone)]
pub struct Settings {
    /// What finds objects and says how long their past is kept.
    pub model: Option<Arc<dyn Model>>,
    /// How much of the recent past is kept at hand for watches and paged lists.
    pub window: Window,
    /// What is done from time to time.
    pub housekeeping: housekeeping::Rules,
    /// Where time and randomness come from.
    pub environment: Environment,
    /// Folder for recent commits that the window has no room for in memory; `None` keeps none of them.
    pub overflow: Option<PathBuf>,
    /// Bytes of the file kept in memory for writing; objects themselves are always in memory.
    pub cache: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            model: None,
            window: Window::default(),
            housekeeping: housekeeping::Rules::default(),
            environment: Environment::default(),
            overflow: None,
            cache: 6 << 20,
        }
    }
}

/// A store in one file.
pub struct Embedded {
    parts: Parts,
    shared: Arc<Shared>,
    jobs: Jobs,
    committer: std::sync::Mutex<Option<std::thread::JoinHandle<()>>>,
}

/// What the committer shares with the engine.
pub(crate) struct Shared {
    pub memory: Memory,
    pub disk: Arc<Disk>,
    pub settings: Settings,
    /// The committer has ended as it should: what it did not answer, it did not do.
    pub stopped: AtomicBool,
    /// The committer has panicked.
    pub failed: AtomicBool,
}

impl Shared {
    /// Takes no more writes, because the committer is gone. Only a restart helps.
    pub fn panicked(&self) {
        self.failed.store(true, Ordering::Release);
        self.disk.halt(jobs::PANICKED.to_owned());
    }
}

/// The name of the data file inside a store's folder.
const FILE: &str = "store.redb";

impl Embedded {
    /// Opens the store in `folder`, and makes what is missing: the folder, the file, the keys.
    pub async fn open(folder: &Path, settings: Settings) -> Result<Arc<Embedded>> {
        let path = folder.join(FILE);
        is_not_lost(folder, &path)?;
        make_folder(folder)?;
        // The file before the keys: keys without a file are those of a file that was lost.
        file::make_if_missing(&path)?;
        let keys = Keys::open(folder)?;
        let store = Embedded::open_on(Arc::new(FileDevice::at(&path)), keys, settings).await?;
        file::remove_unfinished(&path);
        Ok(store)
    }

    /// Opens a store on a device that has a database already: for tests.
    pub async fn open_on(device: Arc<dyn Device>, keys: Keys, settings: Settings) -> Result<Arc<Embedded>> {
        let (queue, jobs) = mpsc::unbounded_channel();
        let (shared, thread) = start::start(device, keys.clone(), settings.clone(), jobs).await?;
        let jobs = Jobs { route: Arc::new(queue), shared: shared.clone() };
        let archive =
            EmbeddedArchive { disk: shared.disk.clone(), reads: Reads::Blocking, jobs: jobs.clone() };
        let ages_from = Parts::ages_from(&archive, &settings.environment).await;
        let parts = Parts {
            memory: shared.memory.clone(),
            archive: Arc::new(archive),
            signing: keys.signing.clone(),
            history_bytes: AtomicU64::new(settings.housekeeping.history_bytes),
            environment: settings.environment.clone(),
            maintenance: tokio::sync::Mutex::new(()),
            has_one_committer: true,
            contention: Contention::default(),
            ages_from,
        };
        let committer = std::sync::Mutex::new(Some(thread));
        let store = Arc::new(Embedded { parts, shared, jobs, committer });
        if let Err(error) = keys::ensure(&*store.parts.archive, &keys.keyring).await {
            // Not later, by a thread that nobody waits for: the caller may try again at once.
            let _ = store.close().await;
            return Err(error);
        }
        let weak: Weak<dyn Store> = Arc::downgrade(&(store.clone() as Arc<dyn Store>));
        tokio::spawn(housekeeping::keep_house(weak, settings.housekeeping.every));
        Ok(store)
    }

    /// Makes a store in `folder`, which must not hold one, from a backup. The keys that sealed the backup's
    /// secrets must be in place before.
    pub async fn restore(folder: &Path, input: &mut (dyn Read + Send)) -> Result<backup::Summary> {
        open_folder(folder)?;
        let path = folder.join(FILE);
        if path.exists() {
            return Err(Error::Invalid(format!(
                "{} exists already: a backup is restored into an empty folder only",
                path.display()
            )));
        }
        let outcome =
            file::make_if_missing(&path).and_then(|()| fill(&(Arc::new(FileDevice::at(&path)) as _), input));
        if outcome.is_err() {
            // Nothing of it counted; leave the folder as it was found.
            let _ = std::fs::remove_file(&path);
            let _ = FileDevice::at(&path).trust();
        }
        outcome
    }
}

impl Store for Embedded {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    fn limits(&self) -> Limits {
        Limits::EMBEDDED
    }

    fn current(&self) -> Later<'_, Snapshot> {
        // What was acknowledged was published before.
        Box::pin(std::future::ready(Ok(self.latest())))
    }

    fn commit(&self, transaction: Transaction) -> Later<'_, Committed> {
        Box::pin(async move {
            self.limits().check(&transaction, &Hints::EMBEDDED)?;
            let transaction = prepare(transaction, self.parts.memory.indexer.keyring(), &self.latest())?;
            self.jobs.ask(|reply| Job::Commit { transaction, reply }).await
        })
    }

    fn commit_alone(&self, decide: Decide) -> Later<'_, Option<Committed>> {
        let keyring = self.parts.memory.indexer.clone();
        let limits = self.limits();
        let decide = Box::new(move |snapshot: Snapshot| {
            let transaction = decide(snapshot.clone())?;
            let prepared = limits.check(&transaction, &Hints::EMBEDDED);
            Some(prepared.and_then(|()| prepare(transaction, keyring.keyring(), &snapshot)))
        });
        Box::pin(self.jobs.ask(|reply| Job::Alone { decide, reply }))
    }

    fn acquire(&self, name: &str, holder: &str, time: Duration) -> Later<'_, Acquired> {
        let (name, holder, milliseconds) = (name.into(), holder.into(), time.as_millis() as u64);
        Box::pin(self.jobs.ask(move |reply| Job::Acquire { name, holder, milliseconds, reply }))
    }

    fn renew<'a>(&'a self, fence: &'a Fence) -> Later<'a, bool> {
        Box::pin(self.jobs.ask(|reply| Job::Renew { fence: fence.clone(), reply }))
    }

    fn release<'a>(&'a self, fence: &'a Fence) -> Later<'a, bool> {
        Box::pin(self.jobs.ask(|reply| Job::Release { fence: fence.clone(), reply }))
    }

    fn compact(&self, through: Revision) -> Later<'_, ()> {
        Box::pin(self.jobs.ask(move |reply| Job::Compact { through, reply }))
    }

    fn reindex(&self) -> Later<'_, ()> {
        Box::pin(self.jobs.ask(|reply| Job::Reindex { reply }))
    }

    fn alive(&self) -> Result<()> {
        match self.shared.failed.load(Ordering::Acquire) {
            true => Err(Error::ReadOnly(jobs::PANICKED.to_owned())),
            false => self.shared.memory.alive(),
        }
    }

    fn healthy(&self) -> Later<'_, ()> {
        // An error tells why, and what to do about it.
        let disk = &self.shared.disk;
        Box::pin(std::future::ready(disk.database().map(drop).and_then(|()| disk.has_room())))
    }

    fn close(&self) -> Later<'_, ()> {
        Box::pin(async move {
            self.jobs.stop();
            let thread = self.committer.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            let shared = self.shared.clone();
            blocking(move || {
                if let Some(thread) = thread {
                    thread.join().map_err(|_| Error::Unavailable("the committer failed".into()))?;
                }
                shared.memory.close();
                shared.disk.close();
                Ok(())
            })
            .await
        })
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        // Without a close the committer finishes what it has and goes; the file is let go of by the last owner.
        self.jobs.stop();
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::Unavailable(format!("{} can't be made: {error}", folder.display())))
}

fn open_folder(folder: &Path) -> Result<Keys> {
    make_folder(folder)?;
    Keys::open(folder)
}

/// Refuses a folder whose keys are there and whose data is not: an empty store would take its place without a word.
fn is_not_lost(folder: &Path, file: &Path) -> Result<()> {
    let key = folder.join(backup::manifest::SEALING_KEYS);
    let size = std::fs::metadata(file).map(|found| found.len()).unwrap_or(0);
    if size > 0 || !key.exists() {
        return Ok(());
    }
    let state = if file.exists() { "is empty" } else { "is missing" };
    Err(Error::Invalid(format!(
        "{} {state}, but {} is there: the data was lost or moved. Put the file back or restore a backup; to start with an \
         empty store, move the keys away",
        file.display(),
        key.display()
    )))
}

/// Fills an empty device from a backup.
pub(crate) fn fill(device: &Arc<dyn Device>, input: &mut (dyn Read + Send)) -> Result<backup::Summary> {
    let durability = Durability::of(device.clone());
    let database = file::open(device, 64 << 20, &durability)?;
    let filled = backup::restore::feed(input, &mut restore::Filling::new(&database)?)?;
    drop(database);
    // The database can't tell that it was not closed well.
    durability.check()?;
    Ok(filled)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Unavailable(error.to_string()))?
}
