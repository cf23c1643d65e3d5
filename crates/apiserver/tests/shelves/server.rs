//! Servers in this process, put together as `groundplane serve` does it, with the kinds of these tests added.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use apiserver::accounts::Accounts;
use apiserver::api::Api;
use apiserver::audit::{AuditLog, Policy, Rotation};
use apiserver::authn::{Authenticator, ServiceAccountTokens};
use apiserver::catalog::Kinds;
use apiserver::controllers::definitions::DefinitionController;
use apiserver::controllers::garbage::Garbage;
use apiserver::controllers::host;
use apiserver::controllers::namespaces::Namespaces;
use apiserver::controllers::planes::PlaneController;
use apiserver::first_start::{Credentials, ServerNames};
use apiserver::handle::other::Other;
use apiserver::index::Index;
use apiserver::limits::{Limits, Settings};
use apiserver::node::{self, NodeAuthenticator, NodePipeline, NodeRoute, NodeServer};
use apiserver::pipeline::{Audit, Pipeline};
use apiserver::plane::PlaneKind;
use apiserver::route::{Route, Routes};
use apiserver::server_module::Plugins;
use apiserver::tls::ServerTls;
use krm::Object;
use krm::kind::Kind;
use reconcile::feature::FeatureGates;
use store::etcd::{Config, Etcd, Options};
use store::{Embedded, Keys, Model, Store};
use tempfile::TempDir;
use testbed::etcd::Cluster;
use testbed::server::Client;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::served;

/// How long anything may take that is to happen by itself; far more than it needs on a quiet machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The kind whose objects have control planes on these servers.
pub const TENANTS: PlaneKind = PlaneKind {
    group: "tenants.example.groundplane.dev",
    version: "v1alpha1",
    kind: "Tenant",
    plural: "tenants",
    context: [
        "example.groundplane.dev/group",
        "example.groundplane.dev/kind",
        "example.groundplane.dev/name",
    ],
};

/// One server.
pub struct Server {
    /// Its insides.
    pub api: Api,
    /// The administrator's kubeconfig.
    pub kubeconfig: PathBuf,
    client: Client,
    stop: watch::Sender<bool>,
    pipeline: Arc<Pipeline>,
    /// Where it listens for nodes, if it does.
    pub nodes: Option<SocketAddr>,
    folder: TempDir,
}

/// What a server has besides what all have.
#[derive(Default)]
pub struct Extras {
    /// Routes of modules.
    pub routes: Vec<Arc<dyn Route>>,
    /// How much may go on at once.
    pub limits: Settings,
    /// What nodes are served with, if they are.
    pub nodes: Option<NodeExtras>,
    /// Kinds besides those of all servers of a test.
    pub kinds: Vec<Kind>,
    /// Feature gates.
    pub gates: FeatureGates,
    /// Parts of modules beside the server.
    pub plugins: Plugins,
}

/// What nodes are served with.
pub struct NodeExtras {
    pub authenticators: Vec<Arc<dyn NodeAuthenticator>>,
    pub routes: Vec<Arc<dyn NodeRoute>>,
    pub settings: node::Settings,
    pub over_tls: bool,
}

impl Server {
    /// A server with a store of its own, and its controllers.
    pub async fn embedded() -> Server {
        Server::with(Extras::default()).await
    }

    /// The same with more.
    pub async fn with(mut extras: Extras) -> Server {
        let folder = TempDir::with_prefix("shelves-").unwrap();
        let (kinds, model) = model_with(std::mem::take(&mut extras.kinds));
        let settings = store::Settings { model: Some(model), ..store::Settings::default() };
        let store = Embedded::open(&folder.path().join("store"), settings).await.unwrap();
        Server::start(store, kinds, folder, extras).await
    }

    async fn start(store: Arc<dyn Store>, kinds: Arc<Kinds>, folder: TempDir, mut extras: Extras) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let names = ServerNames::of_this_host(std::iter::empty()).unwrap();
        let credentials = Credentials::open_or_create(folder.path(), names).unwrap();
        let tls = Arc::new(ServerTls::new(&credentials, &[]).unwrap());
        let kubeconfig = credentials.write_kubeconfig(&url).unwrap();
        let plugins = std::mem::take(&mut extras.plugins);
        let (api, _following) = Api::start_beside(store, kinds, plugins).await.unwrap();
        api.set_feature_gates(extras.gates);
        make_default_namespace(&api).await;
        let tokens = ServiceAccountTokens::new(credentials.token_key(), url.clone(), vec![url]).unwrap();
        let tokens = Arc::new(tokens);
        let authenticator = Authenticator::new(tokens.audiences().to_vec())
            .with_service_accounts(tokens.clone(), Arc::new(Accounts::new(api.clone())));
        let log = AuditLog::open(&folder.path().join("audit.log"), Rotation::default()).unwrap();
        let audit = Audit { log: Arc::new(log), policy: Policy::default() };
        let pipeline = Arc::new(Pipeline {
            api: api.clone(),
            authenticator,
            sessions: None,
            limits: Limits::new(extras.limits),
            other: Other {
                version: env!("CARGO_PKG_VERSION"),
                metrics: Arc::default(),
                tokens,
                stopping: Arc::default(),
                openapi: apiserver::openapi::Documents::default(),
            },
            virtual_resources: Vec::new(),
            routes: Routes::new(extras.routes).unwrap(),
            audit: Some(audit.clone()),
        });
        run_controllers(&api);
        let (stop, stopped) = watch::channel(false);
        let nodes = match extras.nodes {
            None => None,
            Some(NodeExtras { authenticators, routes, settings, over_tls }) => {
                let server = NodeServer { api: api.clone(), metrics: Arc::default(), audit: Some(audit) };
                let pipeline = NodePipeline::new(server, authenticators, routes, settings).unwrap();
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let stopped = stopped.clone();
                let tls = over_tls.then(|| tls.clone());
                tokio::spawn(apiserver::server::serve_nodes(listener, tls, Arc::new(pipeline), stopped));
                Some(address)
            }
        };
        tokio::spawn(apiserver::server::serve(listener, tls, pipeline.clone(), stopped));
        Server { api, client: client(&kubeconfig), kubeconfig, stop, pipeline, nodes, folder }
    }

    /// The audit events so far.
    pub fn audited(&self) -> Vec<serde_json::Value> {
        let lines = std::fs::read_to_string(self.folder.path().join("audit.log")).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What issues and checks the tokens of service accounts.
    pub fn tokens(&self) -> &ServiceAccountTokens {
        &self.pipeline.other.tokens
    }

    /// Ends what goes on until it is ended, as a stop of the server does.
    pub fn end_streams(&self) {
        self.pipeline.routes.stop();
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
        let folder = TempDir::with_prefix("shelves-").unwrap();
        Server::start(store, kinds, folder, Extras::default()).await
    }
}

/// The kinds that ship and those of these tests, and how their objects are found.
pub fn model() -> (Arc<Kinds>, Arc<dyn Model>) {
    model_with(Vec::new())
}

fn model_with(more: Vec<Kind>) -> (Arc<Kinds>, Arc<dyn Model>) {
    let mut all = apiserver::kinds::all();
    all.extend(more);
    all.push(TENANTS.plain_kind());
    all.extend(served::all());
    let kinds = Arc::new(Kinds::new(all).unwrap().with_planes(Some(TENANTS)));
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
    let planes = PlaneController {
        name: "tenant-controller",
        description: "Empties the control planes of tenants that are being deleted.",
        planes: TENANTS,
        writes: &["tenants", "tenants/status"],
    };
    let all: [Arc<dyn reconcile::reconciler::Reconciler>; 3] =
        [Arc::new(Garbage), Arc::new(Namespaces), Arc::new(planes)];
    tokio::spawn(host::run(Arc::new(DefinitionController), api.clone(), None));
    for reconciler in all {
        tokio::spawn(host::run(reconciler, api.clone(), Some(holder.clone())));
    }
}

/// Waits until something has come to be.
pub async fn until<F: Future<Output = bool>>(what: &str, look: impl Fn() -> F) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !look().await {
        assert!(tokio::time::Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
