//! The ground a story stands on: a store of one of the engines, opened for this story alone.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use store::etcd::{Config, Options};
use store::simulated::{self, Disk, NoFaults};
use store::{Keys, Rules, Settings, Store};
use tempfile::TempDir;
use testbed::etcd::Cluster;

/// A store that can be closed and opened again, as a restart of the server does.
pub trait Ground: Sized {
    /// Whether another server lags while its runtime stands still. The simulated engine hands commits on where they are made.
    const LAGS: bool = true;

    /// A new, empty store.
    async fn open(settings: Settings) -> Self;

    /// The same on an engine of its own, for stories that compact: etcd compacts for all its users at once.
    async fn open_alone(settings: Settings) -> Self;

    /// A new store made from a backup, with the keys of `keys`.
    async fn restored(backup: &[u8], keys: &Path) -> store::Result<Self>;

    fn store(&self) -> Arc<dyn Store>;

    /// Closes the store and opens it again on the same data.
    async fn reopen_with(&mut self, settings: Settings);

    async fn reopen(&mut self) {
        self.reopen_with(quiet()).await;
    }

    /// Another server on the same data, where the engine allows one.
    async fn second_server(&self, settings: Settings) -> Option<Arc<dyn Store>>;

    /// Where the store's private keys are.
    fn keys(&self) -> &Path;
}

/// Settings under which nothing happens by itself, but for expiry.
pub fn quiet() -> Settings {
    let rules = Rules { every: Duration::from_secs(3600), ..Rules::default() };
    Settings { housekeeping: rules, ..Settings::default() }
}

pub struct Embedded {
    folder: TempDir,
    store: Arc<dyn Store>,
}

impl Embedded {
    /// The store's file.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("store.redb")
    }

    /// Lets go of the file, so that a test can look into it.
    pub async fn close(&self) {
        self.store.close().await.unwrap();
    }

    /// Opens again what was closed.
    pub async fn open_again(&mut self) -> store::Result<()> {
        self.store = store::Embedded::open(self.folder.path(), quiet()).await?;
        Ok(())
    }
}

impl Ground for Embedded {
    async fn open(settings: Settings) -> Embedded {
        let folder = tempfile::tempdir().unwrap();
        let store = store::Embedded::open(folder.path(), settings).await.unwrap();
        Embedded { folder, store }
    }

    async fn open_alone(settings: Settings) -> Embedded {
        Embedded::open(settings).await
    }

    async fn restored(backup: &[u8], keys: &Path) -> store::Result<Embedded> {
        let folder = tempfile::tempdir().unwrap();
        copy_keys(keys, folder.path());
        store::Embedded::restore(folder.path(), &mut &*backup).await?;
        let store = store::Embedded::open(folder.path(), quiet()).await?;
        Ok(Embedded { folder, store })
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopen_with(&mut self, settings: Settings) {
        self.close().await;
        self.store = store::Embedded::open(self.folder.path(), settings).await.unwrap();
    }

    async fn second_server(&self, _settings: Settings) -> Option<Arc<dyn Store>> {
        None
    }

    fn keys(&self) -> &Path {
        self.folder.path()
    }
}

pub struct Simulated {
    disk: Disk,
    keys: TempDir,
    store: Arc<simulated::Simulated>,
}

impl Simulated {
    async fn on(disk: Disk, keys: TempDir, settings: Settings) -> store::Result<Simulated> {
        let opened =
            simulated::Simulated::open(&disk, Keys::open(keys.path()).unwrap(), settings, Arc::new(NoFaults));
        Ok(Simulated { store: opened.await?, disk, keys })
    }
}

impl Ground for Simulated {
    const LAGS: bool = false;

    async fn open(settings: Settings) -> Simulated {
        Simulated::on(Disk::new(), tempfile::tempdir().unwrap(), settings).await.unwrap()
    }

    async fn open_alone(settings: Settings) -> Simulated {
        Simulated::open(settings).await
    }

    async fn restored(backup: &[u8], from: &Path) -> store::Result<Simulated> {
        let keys = tempfile::tempdir().unwrap();
        copy_keys(from, keys.path());
        let (disk, _) = Disk::restored(&mut &*backup)?;
        Simulated::on(disk, keys, quiet()).await
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopen_with(&mut self, settings: Settings) {
        self.store.close().await.unwrap();
        let keys = Keys::open(self.keys.path()).unwrap();
        self.store =
            simulated::Simulated::open(&self.disk, keys, settings, Arc::new(NoFaults)).await.unwrap();
    }

    async fn second_server(&self, _settings: Settings) -> Option<Arc<dyn Store>> {
        Some(self.store.another("second"))
    }

    fn keys(&self) -> &Path {
        self.keys.path()
    }
}

pub struct Etcd {
    cluster: Arc<Cluster>,
    prefix: String,
    keys: TempDir,
    store: Arc<dyn Store>,
}

impl Etcd {
    /// Whether the stories can be told on etcd; says so when not.
    pub fn available() -> bool {
        static AVAILABLE: LazyLock<bool> = LazyLock::new(Cluster::available);
        if !*AVAILABLE {
            require::missing("there is no etcd and etcdctl");
        }
        *AVAILABLE
    }

    async fn on(cluster: Arc<Cluster>, keys: TempDir, settings: Settings) -> Etcd {
        let prefix = own_prefix();
        let store = serve(&cluster, &prefix, keys.path(), settings).await.unwrap();
        Etcd { cluster, prefix, keys, store }
    }
}

impl Ground for Etcd {
    async fn open(settings: Settings) -> Etcd {
        Etcd::on(shared_cluster(), tempfile::tempdir().unwrap(), settings).await
    }

    async fn open_alone(settings: Settings) -> Etcd {
        Etcd::on(Arc::new(Cluster::start(1).unwrap()), tempfile::tempdir().unwrap(), settings).await
    }

    async fn restored(backup: &[u8], from: &Path) -> store::Result<Etcd> {
        let (cluster, prefix, keys) = (shared_cluster(), own_prefix(), tempfile::tempdir().unwrap());
        copy_keys(from, keys.path());
        let input = Box::new(std::io::Cursor::new(backup.to_vec()));
        store::etcd::Etcd::restore(options(&cluster, &prefix, keys.path(), quiet()), input).await?;
        let store = serve(&cluster, &prefix, keys.path(), quiet()).await?;
        Ok(Etcd { cluster, prefix, keys, store })
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopen_with(&mut self, settings: Settings) {
        self.store.close().await.unwrap();
        self.store = serve(&self.cluster, &self.prefix, self.keys.path(), settings).await.unwrap();
    }

    async fn second_server(&self, settings: Settings) -> Option<Arc<dyn Store>> {
        Some(serve(&self.cluster, &self.prefix, self.keys.path(), settings).await.unwrap())
    }

    fn keys(&self) -> &Path {
        self.keys.path()
    }
}

/// One member for all stories, each under a prefix of its own. It ends with the last story that holds it.
fn shared_cluster() -> Arc<Cluster> {
    static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let cluster = Arc::new(Cluster::start(1).unwrap());
        *shared = Arc::downgrade(&cluster);
        cluster
    })
}

fn own_prefix() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("story-{}/", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn options(cluster: &Cluster, prefix: &str, keys: &Path, settings: Settings) -> Options {
    let keys = Keys::open(keys).unwrap();
    let Settings { model, window, housekeeping, overflow, .. } = settings;
    Options {
        model,
        window,
        overflow,
        housekeeping,
        ..Options::new(Config::new(cluster.endpoints()), prefix, keys)
    }
}

async fn serve(
    cluster: &Cluster,
    prefix: &str,
    keys: &Path,
    settings: Settings,
) -> store::Result<Arc<dyn Store>> {
    Ok(store::etcd::Etcd::open(options(cluster, prefix, keys, settings)).await?)
}

/// Brings the key files of one store to another.
pub fn copy_keys(from: &Path, to: &Path) {
    for file in ["sealing.keys", "signing.key"] {
        std::fs::copy(from.join(file), to.join(file)).unwrap();
    }
}

/// Tells each story on each engine, as `embedded::story`, `simulated::story` and `etcd::story`.
macro_rules! on_every_engine {
    ($($story:ident),* $(,)?) => {
        mod embedded {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $story() {
                    super::$story::<crate::contract::fixture::Embedded>().await;
                }
            )*
        }

        mod simulated {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $story() {
                    super::$story::<crate::contract::fixture::Simulated>().await;
                }
            )*
        }

        mod etcd {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $story() {
                    if crate::contract::fixture::Etcd::available() {
                        super::$story::<crate::contract::fixture::Etcd>().await;
                    }
                }
            )*
        }
    };
}
