//! The engine on real etcd members, where a test has to look or to reach inside.

mod failures;
mod format;
mod tampering;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tempfile::TempDir;
use testbed::etcd::Cluster;

use super::client::wire::RequestOp;
use super::layout::txn;
use super::{Config, Etcd, Options};
use crate::entry::{Body, Uid};
use crate::error::Result;
use crate::housekeeping::Rules;
use crate::key::Key;
use crate::keys::Keys;
use crate::store::Store;
use crate::transaction::{Author, Put, Transaction};
use crate::version::Version;

/// A prefix of a cluster, and the keys of the store there.
struct Ground {
    cluster: Arc<Cluster>,
    prefix: String,
    keys: TempDir,
}

impl Ground {
    /// A prefix of its own on a member that is shared with others; `None`, said plainly, where there is no etcd.
    fn shared() -> Option<Ground> {
        static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
        available().then(|| {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            let cluster = shared.upgrade().unwrap_or_else(|| Arc::new(Cluster::start(1).unwrap()));
            *shared = Arc::downgrade(&cluster);
            Ground::on(cluster)
        })
    }

    /// Members of its own, to be broken.
    fn alone(members: usize) -> Option<Ground> {
        available().then(|| Ground::on(Arc::new(Cluster::start(members).unwrap())))
    }

    fn on(cluster: Arc<Cluster>) -> Ground {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let prefix = format!("ground-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Ground { cluster, prefix, keys: TempDir::new().unwrap() }
    }

    /// Options under which nothing happens by itself.
    fn options(&self) -> Options {
        let (client, keys) = (Config::new(self.cluster.endpoints()), Keys::open(self.keys.path()).unwrap());
        let housekeeping = Rules { every: Duration::from_secs(3_600), ..Rules::default() };
        Options { housekeeping, ..Options::new(client, &self.prefix, keys) }
    }

    async fn open(&self) -> Result<Arc<Etcd>> {
        Etcd::open(self.options()).await
    }
}

fn available() -> bool {
    let available = Cluster::available();
    if !available {
        require::missing("there is no etcd");
    }
    available
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

/// One put and nothing else.
fn just(name: &str, text: &str) -> Transaction {
    let put = Put::new(key(name), Uid([1; 16]), Body::plain(text.to_owned()));
    Transaction::by(Author::new("alice", "tests")).put(put)
}

/// Writes an object; gives its version.
async fn write(store: &Etcd, name: &str, text: &str) -> Version {
    store.commit(just(name, text)).await.unwrap().entries[0].as_ref().unwrap().version()
}

/// Does something in etcd that the store knows nothing of.
async fn behind_its_back(store: &Etcd, operations: Vec<RequestOp>) {
    store.shared.client.txn(txn(Vec::new(), operations)).await.unwrap();
}
