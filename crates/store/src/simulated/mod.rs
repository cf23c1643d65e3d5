//! The engine of simulations: the committer of the embedded engine, called where its callers are, on a disk in memory.
//!
//! There is no thread, no file, no clock and no randomness but what the caller passes in, so that a simulation on one
//! paused thread does the same whenever it has the same seed. [`Faults`] decides what goes wrong at each step. A
//! [`Disk`] outlives the stores that are opened on it: opening another one is a restart.

mod clock;
mod disk;
mod engine;
mod faults;
mod server;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::Duration;

pub use self::clock::SimulatedClock;
pub use self::disk::Disk;
pub use self::faults::{Fault, Faults, NoFaults, Operation, Point};

use self::engine::Engine;
use self::server::Server;
use crate::contention::Contention;
use crate::embedded::Settings;
use crate::embedded::archive::{EmbeddedArchive, Reads};
use crate::embedded::committer::Job;
use crate::embedded::jobs::Jobs;
use crate::error::Result;
use crate::history::archive::Later;
use crate::housekeeping;
use crate::keys::{self, Keys};
use crate::lease::Acquired;
use crate::limits::{Hints, Limits};
use crate::snapshot::Snapshot;
use crate::store::{Decide, Parts, Store};
use crate::transaction::{Committed, Fence, Transaction, prepare};
use crate::version::Revision;

/// A server of a simulated store.
pub struct Simulated {
    parts: Parts,
    engine: Arc<Engine>,
    server: Arc<Server>,
    jobs: Jobs,
}

impl Simulated {
    /// Opens the store on `disk`. From then on `faults` decides what goes wrong. Time and randomness are those of the
    /// settings' environment; what housekeeping does it does in their time.
    pub async fn open(
        disk: &Disk,
        keys: Keys,
        settings: Settings,
        faults: Arc<dyn Faults>,
    ) -> Result<Arc<Simulated>> {
        let every = settings.housekeeping.every;
        let engine = Engine::open(disk, &keys, settings, faults)?;
        let store = Simulated::serving(&engine, "server", &keys);
        keys::ensure(&*store.parts.archive, &keys.keyring).await?;
        engine.expose();
        let weak: Weak<dyn Store> = Arc::downgrade(&(store.clone() as Arc<dyn Store>));
        tokio::spawn(housekeeping::keep_house(weak, every));
        Ok(store)
    }

    /// Another server of the same store: what is held back from it, and its watches, are its own.
    pub fn another(&self, name: &str) -> Arc<Simulated> {
        let indexer = &self.parts.memory.indexer;
        let keys = Keys { keyring: indexer.shared_keyring(), signing: self.parts.signing.clone() };
        Simulated::serving(&self.engine, name, &keys)
    }

    fn serving(engine: &Arc<Engine>, name: &str, keys: &Keys) -> Arc<Simulated> {
        let server = Server::of(engine, name);
        let shared = engine.shared().clone();
        let jobs = Jobs { route: server.clone(), shared: shared.clone() };
        let parts = Parts {
            memory: server.memory.clone(),
            archive: Arc::new(EmbeddedArchive {
                disk: shared.disk.clone(),
                reads: Reads::InMemory,
                jobs: jobs.clone(),
            }),
            signing: keys.signing.clone(),
            history_bytes: AtomicU64::new(shared.settings.housekeeping.history_bytes),
            environment: shared.settings.environment.clone(),
            maintenance: tokio::sync::Mutex::new(()),
            has_one_committer: false,
            contention: Contention::default(),
            ages_from: None,
        };
        Arc::new(Simulated { parts, engine: engine.clone(), server, jobs })
    }
}

impl Store for Simulated {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    fn limits(&self) -> Limits {
        Limits::EMBEDDED
    }

    fn current(&self) -> Later<'_, Snapshot> {
        Box::pin(async move {
            self.engine.read(&self.server.name).await?;
            Ok(self.parts.memory.newest())
        })
    }

    fn commit(&self, transaction: Transaction) -> Later<'_, Committed> {
        Box::pin(async move {
            self.limits().check(&transaction, &Hints::EMBEDDED)?;
            let memory = &self.parts.memory;
            let transaction = prepare(transaction, memory.indexer.keyring(), &memory.newest())?;
            let committed = self.jobs.ask(|reply| Job::Commit { transaction, reply }).await?;
            memory.acknowledged(committed.revision);
            Ok(committed)
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
        Box::pin(async move {
            let committed = self.jobs.ask(|reply| Job::Alone { decide, reply }).await?;
            if let Some(committed) = &committed {
                self.parts.memory.acknowledged(committed.revision);
            }
            Ok(committed)
        })
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
        Ok(())
    }

    fn healthy(&self) -> Later<'_, ()> {
        Box::pin(std::future::ready(self.engine.shared().disk.database().map(drop)))
    }

    fn close(&self) -> Later<'_, ()> {
        self.parts.memory.close();
        self.server.close();
        Box::pin(std::future::ready(Ok(())))
    }
}
