//! The etcd engine: the objects on a cluster of etcd, shared by several servers.
//!
//! Each server keeps all objects in memory and follows one watch. A transaction is one `Txn`: its guards are
//! compares, so it does not matter which server sends it.

mod archive;
pub(crate) mod client;
mod commit;
mod deeds;
mod follow;
mod layout;
mod leases;
mod load;
mod quorum;
mod restore;
mod shared;
#[cfg(test)]
mod tests;
mod upkeep;

use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

pub use self::client::{Config, Login, Tls};

use self::archive::EtcdArchive;
use self::client::Client;
use self::follow::{Ask, Follower};
use self::layout::Layout;
use self::leases::Leases;
use self::quorum::Quorum;
use self::shared::{Marks, PATIENCE, Shared, failed, random_id};
use crate::backup;
use crate::contention::Contention;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::history::archive::Later;
use crate::housekeeping;
use crate::keys::{self, Keys};
use crate::lease::Acquired;
use crate::limits::{Hints, Limits};
use crate::memory::indexer::Indexer;
use crate::memory::overflow::Overflow;
use crate::memory::recent::{Recent, Window};
use crate::memory::{Memory, Threads};
use crate::model::Model;
use crate::snapshot::Snapshot;
use crate::store::{Decide, Parts, Store};
use crate::transaction::{Committed, Fence, Transaction, prepare};
use crate::version::Revision;

/// Which etcd, and how it is used.
#[derive(Clone)]
pub struct Options {
    /// How the cluster is reached.
    pub client: Config,
    /// Everything of this store stands under this key.
    pub prefix: String,
    /// The keys that seal and sign: the same on every server of the store.
    pub keys: Keys,
    /// What finds objects and says how long their past is kept.
    pub model: Option<Arc<dyn Model>>,
    /// How much of the recent past is kept at hand.
    pub window: Window,
    /// Folder for recent commits that the window has no room for in memory; `None` keeps none of them.
    pub overflow: Option<PathBuf>,
    /// What is done from time to time, by one of the servers.
    pub housekeeping: housekeeping::Rules,
    /// `--max-txn-ops` of the cluster.
    pub max_operations: usize,
    /// `--max-request-bytes` of the cluster.
    pub max_bytes: usize,
    /// `--quota-backend-bytes` of the cluster, where etcd does not tell it itself (before 3.6): when it is nearly used up,
    /// history is let go of first. `None` takes etcd's default of 2 GiB, until more than that is in use.
    pub quota_bytes: Option<u64>,
}

impl Options {
    /// With the defaults of etcd and of this program.
    pub fn new(client: Config, prefix: impl Into<String>, keys: Keys) -> Options {
        Options {
            client,
            prefix: prefix.into(),
            keys,
            model: None,
            window: Window::default(),
            overflow: None,
            housekeeping: housekeeping::Rules::default(),
            max_operations: 128,
            max_bytes: 1_572_864,
            quota_bytes: None,
        }
    }
}

/// A store on etcd, as one of its servers sees it.
pub struct Etcd {
    parts: Parts,
    shared: Arc<Shared>,
    quorum: Quorum,
    leases: Leases,
    asks: mpsc::Sender<Ask>,
    max_operations: usize,
    max_bytes: usize,
    quota_bytes: Option<i64>,
    members: usize,
    history_bytes: u64,
    closed: AtomicBool,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl Etcd {
    /// Opens the store under the prefix, and makes one if there is none.
    pub async fn open(options: Options) -> Result<Arc<Etcd>> {
        let client = Client::new(options.client.clone()).map_err(failed)?;
        let layout = Layout::under(&options.prefix);
        let found = load::find_or_make(&client, &layout).await?;
        let indexer = Indexer::new(options.model.clone(), options.keys.keyring.clone(), Threads::Own);
        let memory = |state, recent, overflow| Memory::new(indexer.clone(), state, recent, overflow);
        let shared = |memory| {
            Ok::<_, Error>(Arc::new(Shared {
                client: client.clone(),
                layout: layout.clone(),
                memory,
                offset: found.offset,
                server: random_id()?,
                applied: watch::Sender::new(0),
                marks: Marks::default(),
                newest_time: AtomicU64::new(0),
                unreadable: Mutex::default(),
            }))
        };
        let limits = (options.max_operations, options.max_bytes);
        let archive = |shared| EtcdArchive { shared, max_operations: limits.0, max_bytes: limits.1, at: 0 };

        // The data keys first: what is sealed can't be indexed without them.
        let empty = shared(memory(Default::default(), Recent::after(Revision::ZERO), Overflow::none()))?;
        keys::load(&archive(empty.clone()), &options.keys.keyring).await?;
        keys::ensure(&archive(empty.clone()), &options.keys.keyring).await?;
        empty.memory.close();

        let (state, start) = load::window(&client, &layout, &found, &indexer).await?;
        let recent = Recent::after(state.revision);
        let overflow = Overflow::in_folder(options.overflow.clone(), options.window.disk);
        let shared = shared(memory(state.clone(), recent.clone(), overflow))?;
        shared.applied.send_replace(start);

        let (asks, queue) = mpsc::channel(16);
        let follower =
            Follower { shared: shared.clone(), state, recent, window: options.window, reached: start };
        let following = tokio::spawn(follower.run(queue)).abort_handle();
        let (quorum, reading) = Quorum::start(shared.clone());
        let archive = archive(shared.clone());
        let environment = Environment::default();
        let ages_from = Parts::ages_from(&archive, &environment).await;
        let parts = Parts {
            memory: shared.memory.clone(),
            archive: Arc::new(archive),
            signing: options.keys.signing.clone(),
            history_bytes: AtomicU64::new(options.housekeeping.history_bytes),
            environment,
            maintenance: tokio::sync::Mutex::new(()),
            has_one_committer: false,
            contention: Contention::default(),
            ages_from,
        };
        let store = Arc::new(Etcd {
            parts,
            shared,
            quorum,
            leases: Leases::default(),
            asks,
            max_operations: options.max_operations,
            max_bytes: options.max_bytes,
            quota_bytes: options.quota_bytes.map(|bytes| bytes as i64),
            members: options.client.endpoints.len(),
            history_bytes: options.housekeeping.history_bytes,
            closed: AtomicBool::new(false),
            tasks: Mutex::new(vec![following, reading]),
        });
        store.quorum.current().await?;
        let upkeep = upkeep::keep_up(Arc::downgrade(&store), options.housekeeping.every);
        let upkeep = tokio::spawn(upkeep).abort_handle();
        store.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(upkeep);
        Ok(store)
    }

    /// Makes a store under the prefix, where there must be nothing, from a backup. The keys that sealed the
    /// backup's secrets must be among the options.
    pub async fn restore(options: Options, input: Box<dyn Read + Send>) -> Result<backup::Summary> {
        restore::restore(options, input).await
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    fn open_only(&self) -> Result<()> {
        if self.is_closed() { Err(Error::Closed) } else { Ok(()) }
    }

    async fn ask(&self, ask: impl FnOnce(oneshot::Sender<()>) -> Ask) -> Result<()> {
        self.open_only()?;
        let (done, wait) = oneshot::channel();
        self.asks.send(ask(done)).await.map_err(|_| Error::Closed)?;
        match tokio::time::timeout(PATIENCE, wait).await {
            Ok(answer) => answer.map_err(|_| Error::Closed),
            Err(_) => Err(Error::Unavailable("this server does not hear from etcd".into())),
        }
    }
}

impl Store for Etcd {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    fn limits(&self) -> Limits {
        // An object, its record and a bucket or two; besides, the log and the mark.
        let operations = self.max_operations;
        Limits { writes: (operations - 2) / 2, bytes: self.max_bytes, operations: Some(operations) }
    }

    fn current(&self) -> Later<'_, Snapshot> {
        Box::pin(async move {
            self.open_only()?;
            self.quorum.current().await?;
            Ok(self.latest())
        })
    }

    fn commit(&self, transaction: Transaction) -> Later<'_, Committed> {
        Box::pin(async move {
            self.open_only()?;
            let limits = Limits { writes: self.max_operations, ..self.limits() };
            limits.check(&transaction, &Hints::ETCD)?;
            let transaction = prepare(transaction, self.parts.memory.indexer.keyring(), &self.latest())?;
            commit::commit(self, transaction).await
        })
    }

    fn commit_alone(&self, _decide: Decide) -> Later<'_, Option<Committed>> {
        // Other servers can't be kept waiting.
        Box::pin(std::future::ready(Err(Error::Contended { tries: 0 })))
    }

    fn acquire(&self, name: &str, holder: &str, time: Duration) -> Later<'_, Acquired> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        Box::pin(async move {
            self.open_only()?;
            self.leases.acquire(&self.shared, &name, &holder, time).await
        })
    }

    fn renew<'a>(&'a self, fence: &'a Fence) -> Later<'a, bool> {
        Box::pin(self.leases.renew(&self.shared, fence))
    }

    fn release<'a>(&'a self, fence: &'a Fence) -> Later<'a, bool> {
        Box::pin(self.leases.release(&self.shared, fence))
    }

    fn compact(&self, through: Revision) -> Later<'_, ()> {
        Box::pin(async move {
            self.ask(|done| Ask::Compact(through, done)).await?;
            let number = self.shared.etcd_revision(through.min(self.latest().revision()));
            match self.shared.client.compact(number, false).await {
                Ok(_) | Err(client::Error::Compacted { .. }) => Ok(()),
                Err(error) => Err(failed(error)),
            }
        })
    }

    fn reindex(&self) -> Later<'_, ()> {
        Box::pin(self.ask(Ask::Reindex))
    }

    fn alive(&self) -> Result<()> {
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        match !self.is_closed() && tasks.iter().any(AbortHandle::is_finished) {
            true => Err(Error::Unavailable(
                "a task that keeps this server in step with etcd failed, and the log says where; restart the server"
                    .into(),
            )),
            false => self.shared.memory.alive(),
        }
    }

    fn healthy(&self) -> Later<'_, ()> {
        Box::pin(async move {
            self.open_only()?;
            if let Some(why) = self.shared.unreadable() {
                return Err(Error::Damaged(why));
            }
            self.shared.client.probe().await.map_err(failed)
        })
    }

    fn close(&self) -> Later<'_, ()> {
        Box::pin(async move {
            self.closed.store(true, Ordering::Release);
            self.shared.memory.close();
            for task in self.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
                task.abort();
            }
            Ok(())
        })
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.shared.memory.close();
        for task in self.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
    }
}
