//! Servers in this process, put together as `groundplane serve` does it, with the kinds of these tests added.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use apiserver::accounts::Accounts;
use apiserver::api::Api;
use apiserver::authn::{Authenticator, ServiceAccountTokens};
use apiserver::catalog::Kinds;
use apiserver::controllers::elected::run_elected;
use apiserver::controllers::garbage::Garbage;
use apiserver::controllers::namespaces::Namespaces;
use apiserver::controllers::projects::Projects;
use apiserver::first_start::{Credentials, ServerNames};
use apiserver::handle::other::Other;
use apiserver::index::Index;
use apiserver::limits::{Limits, Settings};
use apiserver::pipeline::Pipeline;
use apiserver::tls::ServerTls;
use krm::Object;
use store::etcd::{Config, Etcd, Options};
use store::{Embedded, Keys, Model, Store};
use tempfile::TempDir;
use testbed::etcd::Cluster;
use testbed::server::Client;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::kinds;

/// How long anything may take that is to happen by itself; far more than it needs on a quiet machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// One server.
pub struct Server {
    /// Its insides.
    pub api: Api,
    client: Client,
    stop: watch::Sender<bool>,
    _folder: TempDir,
}

impl Server {
    /// A server with a store of its own, and its controllers.
    pub async fn embedded() -> Server {
        let folder = TempDir::with_prefix("shelves-").unwrap();
        let (kinds, model) = model();
        let settings = store::Settings { model: Some(model), ..store::Settings::default() };
        let store = Embedded::open(&folder.path().join("store"), settings).await.unwrap();
        Server::start(store, kinds, folder).await
    }

    async fn start(store: Arc<dyn Store>, kinds: Arc<Kinds>, folder: TempDir) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let names = ServerNames::of_this_host(std::iter::empty()).unwrap();
        let credentials = Credentials::open_or_create(folder.path(), names).unwrap();
        let tls = Arc::new(ServerTls::new(&credentials, &[]).unwrap());
        let kubeconfig = credentials.write_kubeconfig(&url).unwrap();
        let (api, _following) = Api::start(store, kinds).await.unwrap();
        make_default_namespace(&api).await;
        let tokens = ServiceAccountTokens::new(credentials.token_key(), url.clone(), vec![url]).unwrap();
        let tokens = Arc::new(tokens);
        let authenticator = Authenticator::new(tokens.audiences().to_vec())
            .with_service_accounts(tokens.clone(), Arc::new(Accounts::new(api.clone())));
        let pipeline = Pipeline {
            api: api.clone(),
            authenticator,
            limits: Limits::new(Settings::default()),
            other: Other {
                version: env!("CARGO_PKG_VERSION"),
                metrics: Arc::default(),
                tokens,
                stopping: Arc::default(),
                openapi: apiserver::openapi::Documents::default(),
            },
            virtual_resources: Vec::new(),
            audit: None,
        };
        run_controllers(&api);
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(apiserver::server::serve(listener, tls, Arc::new(pipeline), stopped));
        Server { api, client: client(&kubeconfig), stop, _folder: folder }
    }

    /// A client with the administrator's certificate, with connections of its own.
    pub fn client(&self) -> Client {
        self.client.apart()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}

/// Two servers on one etcd.
pub struct Pair {
    /// Both of them.
    pub servers: [Server; 2],
    // After the servers: they talk to it until they are gone.
    _cluster: Cluster,
    _keys: TempDir,
}

impl Pair {
    /// Two servers on a new etcd; `None`, said plainly, when there is no etcd to be had.
    pub async fn on_etcd() -> Option<Pair> {
        if !Cluster::available() {
            testbed::need::passed_over("there is no etcd to be had");
            return None;
        }
        let cluster = tokio::task::spawn_blocking(|| Cluster::start(1)).await.unwrap().unwrap();
        let keys = TempDir::with_prefix("shelves-keys-").unwrap();
        let first = Pair::server(&cluster, keys.path()).await;
        let second = Pair::server(&cluster, keys.path()).await;
        Some(Pair { servers: [first, second], _cluster: cluster, _keys: keys })
    }

    async fn server(cluster: &Cluster, keys: &Path) -> Server {
        let (kinds, model) = model();
        let config = Config::new(cluster.endpoints());
        let mut options = Options::new(config, "/shelves/", Keys::open(keys).unwrap());
        options.model = Some(model);
        let store = Etcd::open(options).await.unwrap();
        Server::start(store, kinds, TempDir::with_prefix("shelves-").unwrap()).await
    }
}

/// The kinds that ship and those of these tests, and how their objects are found.
fn model() -> (Arc<Kinds>, Arc<dyn Model>) {
    let mut all = apiserver::kinds::all();
    all.push(apiserver::kinds::project::kind());
    all.extend(kinds::all());
    let kinds = Arc::new(Kinds::new(all));
    (kinds.clone(), Arc::new(Index(kinds)))
}

fn client(kubeconfig: &Path) -> Client {
    Client::from_kubeconfig(kubeconfig).unwrap()
}

async fn make_default_namespace(api: &Api) {
    let mut namespace = Object::new("v1", "Namespace");
    namespace.set_meta("name", Some("default".into()));
    match apiserver::client::Client::system(api, "tests").create(namespace).await {
        // The other server of the same store was first.
        Err(status) if status.reason == "AlreadyExists" => {}
        made => drop(made.unwrap()),
    }
}

fn run_controllers(api: &Api) {
    let holder = apiserver::write::new_uid();
    let client = |name: &str| apiserver::client::Client::system(api, name);
    tokio::spawn(run_elected(Arc::new(Garbage), client("garbage-collector"), holder.clone()));
    tokio::spawn(run_elected(Arc::new(Namespaces), client("namespace-controller"), holder.clone()));
    tokio::spawn(run_elected(Arc::new(Projects), client("project-controller"), holder));
}

/// Waits until something has come to be.
pub async fn until<F: Future<Output = bool>>(what: &str, look: impl Fn() -> F) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !look().await {
        assert!(tokio::time::Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
