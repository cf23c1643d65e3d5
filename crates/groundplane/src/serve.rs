//! `groundplane serve`: the control plane.

mod announce;
mod background;
mod bootstrap;
mod checkpoints;
mod controllers;
pub mod data;
mod demo_folder;
mod listen;
pub mod local;
mod nodes;
pub mod open;
mod supervisor;
mod synchronizers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use apiserver::api::Api;
use apiserver::audit::{AuditLog, Policy, Rotation};
use apiserver::authn::{
    Anonymous, AuthenticationConfig, Authenticator, Issuer, ServiceAccountTokens, TokenFile,
};
use apiserver::controllers::writes::ControllerAudit;
use apiserver::first_start::{Credentials, ServerNames};
use apiserver::handle::other::Other;
use apiserver::in_process::PublicApi;
use apiserver::limits::{self, Limits};
use apiserver::metrics::Metrics;
use apiserver::node::NodeServer;
use apiserver::outgoing::{Destination, Outgoing};
use apiserver::pipeline::{Audit, Pipeline};
use apiserver::population::Room;
use apiserver::route::Routes;
use apiserver::server_module::Environment;
use apiserver::tls::ServerTls;
use apiserver::{accounts, own_service, server};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::demo::load as demo;
use crate::failure::Failure;
use crate::{log, modules};
use background::Background;
use demo_folder::DataFolder;
use listen::Listen;

pub use open::EtcdAccess;

/// Run the control plane: the API over HTTPS, with its data, keys and certificates in one folder.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane serve\n  groundplane serve --data /var/lib/groundplane --listen 0.0.0.0:6443 \
    --name gp.example.com\n  groundplane serve --etcd https://10.0.0.1:2379,https://10.0.0.2:2379,https://10.0.0.3:2379"
)]
pub struct Arguments {
    /// Folder for everything: data, keys, certificates and the administrator's kubeconfig.
    #[arg(long, value_name = "DIR", env = "GROUNDPLANE_DATA")]
    data: Option<PathBuf>,

    /// Address or host name, and port, to listen on, as in 127.0.0.1:6443, localhost:6443, [::1]:6443, or :6443 for
    /// every address of this machine. Port 0 takes any free port.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:6443")]
    listen: Listen,

    /// Further DNS name or IP address for the serving certificate. May be repeated.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,

    /// Keep the data on this etcd cluster instead of in the data folder.
    #[arg(long, value_name = "URL,…", value_delimiter = ',')]
    etcd: Vec<String>,

    #[command(flatten)]
    etcd_access: open::EtcdAccess,

    /// Run the synchronizers of these sources of hosts in the server, each with the identity of its source. For small sites;
    /// "groundplane sync" runs one as a process of its own.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    sources: Vec<String>,

    /// Static tokens, one per line: token,user,uid,"group1,group2".
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,

    /// Issuer and audience of service account tokens. Must be the same on all servers of one store.
    #[arg(long, value_name = "URL", default_value = "https://kubernetes.default.svc")]
    service_account_issuer: String,

    /// Trusted token issuers, as a Kubernetes AuthenticationConfiguration.
    #[arg(long, value_name = "FILE")]
    authentication_config: Option<PathBuf>,

    /// Audit log file, or "none". Defaults to audit.log in the data folder.
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,

    /// Which requests are logged, as a Kubernetes audit policy.
    #[arg(long, value_name = "FILE")]
    audit_policy: Option<PathBuf>,

    /// Rotate the audit log at this size, in MiB.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    audit_log_megabytes: u64,

    /// Number of rotated audit logs to keep.
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    audit_log_files: u32,

    /// Maximum size of the history, in MiB. Beyond it the oldest changes go, whatever their age; verification reports them as
    /// pruned.
    #[arg(long, value_name = "NUMBER", default_value_t = 8192)]
    max_history_megabytes: u64,

    /// File in which the newest signed checkpoint of the history is kept besides in the store. The server refuses a store
    /// that is older. Put it where nobody who can change the store can change it. Defaults to checkpoint.json in the data
    /// folder.
    #[arg(long, value_name = "FILE")]
    checkpoint_file: Option<PathBuf>,

    /// Start with a small demo fleet, in a temporary data folder that is removed when the server stops. With --data or
    /// --etcd, use that store instead; it must hold nothing else.
    #[arg(long)]
    demo: bool,

    /// Keep the temporary data folder of --demo when the server stops.
    #[arg(long, requires = "demo")]
    keep_demo: bool,

    /// Controllers to run: a list of names, "all" or "none". A name after a minus sign is left out, as in
    /// "all,-inventory-controller".
    #[arg(long, value_name = "NAMES", default_value = "all")]
    controllers: String,

    /// Maximum number of concurrent requests, not counting watches.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().requests)]
    max_requests: usize,

    /// Maximum number of concurrent requests of one user, not counting watches.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().requests_per_user)]
    max_requests_per_user: usize,

    /// Maximum number of concurrent requests in one project, not counting watches.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().requests_per_project)]
    max_requests_per_project: usize,

    /// Maximum number of concurrent requests without credentials, not counting health checks.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().anonymous_requests)]
    max_anonymous_requests: usize,

    /// Memory for request bodies that are being sent and handled, in MiB. A quarter of it is kept for administrators.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().body_bytes >> 20)]
    max_body_megabytes: usize,

    /// Memory for request bodies of one user, in MiB.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().body_bytes_per_user >> 20)]
    max_body_megabytes_per_user: usize,

    /// Maximum number of concurrent watches of one user.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().watches_per_user)]
    max_watches_per_user: usize,

    /// Maximum number of concurrent watches in one project.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().watches_per_project)]
    max_watches_per_project: usize,

    #[command(flatten)]
    window: open::WindowFlags,

    /// Maximum number of objects of all kinds in one project.
    #[arg(long, value_name = "NUMBER", default_value_t = Room::default().objects)]
    max_objects_per_project: usize,

    /// Maximum number of CustomResourceDefinitions in one project.
    #[arg(long, value_name = "NUMBER", default_value_t = Room::default().definitions)]
    max_definitions_per_project: usize,

    /// Hosts and networks that conversion webhooks of projects may be at: hooks.example.com, hooks.example.com:8443,
    /// *.example.com, 10.1.0.0/16. A host counts only where it has a public address; others must be listed as networks. None
    /// unless listed.
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    project_webhooks: Vec<Destination>,

    /// Features to turn on or off, as in Name=true,Other=false. AllAlpha and AllBeta stand for all of a stage.
    #[arg(long, value_name = "NAME=BOOL,…", value_delimiter = ',')]
    feature_gates: Vec<String>,

    #[command(flatten)]
    nodes: nodes::NodeFlags,

    #[command(flatten)]
    local: local::LocalFlags,

    /// Log level, or levels by module, as in "info,apiserver=debug".
    #[arg(long, value_name = "FILTER", env = "GROUNDPLANE_LOG", default_value = "info")]
    log: String,

    /// Log format. With json, every line on stderr and stdout is a JSON object.
    #[arg(long, value_enum, default_value_t = log::Format::Text)]
    log_format: log::Format,
}

/// Runs until it is told to stop.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let format = arguments.log_format;
    log::start(&arguments.log, format)?;
    let ended = run_logged(arguments);
    ended.map_err(|failure| log::reported(failure, format))
}

fn run_logged(arguments: Arguments) -> Result<(), Failure> {
    let format = arguments.log_format;
    let data = match arguments.demo && arguments.data.is_none() && arguments.etcd.is_empty() {
        true => DataFolder::temporary(arguments.keep_demo)?,
        false => DataFolder::lasting(arguments.data.as_deref())?,
    };
    if arguments.demo {
        announce::starting_demo(format, data.path(), data.is_temporary());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new("starting", error))?;
    let background = Background::start()?;
    runtime.block_on(serve(arguments, data.path(), background.handle()))?;
    // Nothing of it runs any more when its folder goes.
    drop(background);
    drop(runtime);
    data.close(format)
}

async fn serve(arguments: Arguments, folder: &Path, background: Handle) -> Result<(), Failure> {
    data::refuse_unfinished_restore(folder)?;
    let gates = modules::feature_gates().set(&arguments.feature_gates.join(","));
    let gates = gates.map_err(|error| Failure::new("reading --feature-gates", error))?;
    let listener = arguments.listen.bind().await?;
    let address = listener.local_addr().map_err(|error| Failure::new("listening", error))?;
    let listened = arguments.listen.certificate_name();
    let names = arguments.names.iter().map(String::as_str).chain(listened.as_deref());
    let names = ServerNames::of_this_host(names).map_err(|error| Failure::new("naming the server", error))?;
    let credentials = Credentials::open_or_create(folder, names).map_err(|error| {
        Failure::new(format_args!("reading the certificates in {}", folder.display()), error)
    })?;
    let tls =
        Arc::new(ServerTls::new(&credentials, &[]).map_err(|error| Failure::new("setting up TLS", error))?);
    let url = arguments.listen.url(address);
    let local = arguments.local.choose(folder, arguments.demo || !arguments.etcd.is_empty())?;
    let (store, kinds) = open::store(
        folder,
        &arguments.etcd,
        &arguments.etcd_access,
        &arguments.window,
        &gates,
        arguments.max_history_megabytes << 20,
    )
    .await?;
    let failed = |error: store::Error| Failure::new("reading what is stored", error);
    let parts = modules::parts(&Environment {
        kinds: kinds.clone(),
        gates: gates.clone(),
        audience: arguments.service_account_issuer.clone(),
        audit_log: audit_log(folder, &arguments),
        is_one_of_several: !arguments.etcd.is_empty(),
    });
    let started = Api::start_beside(store.clone(), kinds, parts.plugins.clone()).await;
    let (api, following) = started.map_err(failed)?;
    api.set_feature_gates(gates.clone());
    api.name_key_files(credentials.key_files());
    api.set_outgoing(Outgoing::to(arguments.project_webhooks.clone()));
    api.followers().population.give_room(Room {
        objects: arguments.max_objects_per_project,
        definitions: arguments.max_definitions_per_project,
    });
    let checkpoint_file = arguments.checkpoint_file.clone().unwrap_or_else(|| folder.join("checkpoint.json"));
    checkpoints::keep(&api, checkpoint_file).await?;
    let demo_state = match arguments.demo {
        true => Some(demo::check(&api).await?),
        false => None,
    };
    bootstrap::run(&api).await?;
    local.prepare(&api).await?;
    let advertised = own_service::advertised(address);
    let told = own_service::publish(&api, advertised, !arguments.etcd.is_empty()).await;
    told.map_err(|error| Failure::new("publishing the address of the server", error))?;
    if demo_state == Some(demo::State::Unused) {
        demo::load(&api).await?;
    }
    // Only now is the folder known to be ours: nobody else's kubeconfig is overwritten.
    let kubeconfig =
        credentials.write_kubeconfig(&url).map_err(|error| Failure::new("writing the kubeconfig", error))?;

    let issuer = &arguments.service_account_issuer;
    let tokens = ServiceAccountTokens::new(credentials.token_key(), issuer, vec![issuer.clone()])
        .map_err(|error| Failure::new("reading the key that signs tokens", error))?;
    let tokens = Arc::new(tokens);
    let accounts = Arc::new(accounts::Accounts::new(api.clone()));
    let mut authenticator =
        Authenticator::new(tokens.audiences().to_vec()).with_service_accounts(tokens.clone(), accounts);
    if let Some(signers) = &parts.signers {
        authenticator = authenticator.with_signers(signers.clone());
    }
    if let Some(path) = &arguments.token_auth_file {
        let file = TokenFile::open(path)
            .map_err(|error| Failure::new(format_args!("reading {}", path.display()), error))?;
        authenticator = authenticator.with_token_file(file);
    }
    if let Some(path) = &arguments.authentication_config {
        let (issuers, anonymous) = believed(path)?;
        api.name_token_issuers(issuers.iter().map(|issuer| issuer.url().to_owned()).collect());
        authenticator = authenticator.with_issuers(issuers).with_anonymous(anonymous);
    }
    let audit = audit(folder, &arguments)?;
    let log = audit.as_ref().map(|audit| audit.log.clone());
    if let Some(audit) = &audit {
        let (log, policy) = (audit.log.clone(), audit.policy.clone());
        api.controllers().audit_to(ControllerAudit { log, policy });
    }
    let stopping = Arc::new(AtomicBool::new(false));
    let metrics: Arc<Metrics> = Arc::default();
    let node_server = NodeServer { api: api.clone(), metrics: metrics.clone(), audit: audit.clone() };
    let node_listener = arguments.nodes.listen(&parts, node_server, &tls).await?;
    let machine = local.machine(folder).await?;
    api.name_shortcomings(machine.missing.clone());
    let mut routes = parts.routes.clone();
    routes.push(Arc::new(instance_streams::Streams::new(machine.runtime.clone())));
    let routes = Routes::new(routes)
        .map_err(|conflict| Failure::new("putting the routes of the modules together", conflict))?;
    let pipeline = Arc::new(Pipeline {
        api: api.clone(),
        authenticator,
        sessions: parts.sessions.clone(),
        limits: Limits::new(limits::Settings {
            requests: arguments.max_requests,
            requests_per_user: arguments.max_requests_per_user,
            watches_per_user: arguments.max_watches_per_user,
            watches_per_project: arguments.max_watches_per_project,
            requests_per_project: arguments.max_requests_per_project,
            anonymous_requests: arguments.max_anonymous_requests,
            body_bytes: arguments.max_body_megabytes << 20,
            body_bytes_per_user: arguments.max_body_megabytes_per_user << 20,
            ..limits::Settings::default()
        }),
        other: Other {
            version: env!("CARGO_PKG_VERSION"),
            metrics,
            tokens,
            stopping: stopping.clone(),
            openapi: apiserver::openapi::Documents::default(),
        },
        audit,
        virtual_resources: parts.virtual_resources.clone(),
        routes,
    });
    api.serve_in_process(PublicApi::of(Arc::downgrade(&pipeline)));
    let mut chosen = modules::controllers(api.kinds(), &parts, &gates, credentials.ca_pem());
    chosen.extend(machine.agents);
    api.controllers().work_on(background);
    controllers::start(&api, chosen, &arguments.controllers)?;
    let (stop, stopped) = watch::channel(false);
    let nodes = node_listener.map(|nodes| nodes.serve(stopped.clone()));
    let serving = tokio::spawn(server::serve(listener, tls.clone(), pipeline.clone(), stopped));
    tokio::spawn(renew(credentials, tls, url.clone()));
    // A supervisor may stop the server as soon as it knows that it is ready.
    let signalled = until_signalled();
    announce::ready(arguments.log_format, &url, &kubeconfig, arguments.demo);
    supervisor::ready();
    let synchronizers = synchronizers::start(&arguments.sources, &kubeconfig);

    signalled.await;
    supervisor::stopping();
    synchronizers.cancel();
    api.controllers().stop().await;
    tracing::info!("stopping");
    if !arguments.etcd.is_empty()
        && let Err(error) = own_service::withdraw(&api, advertised).await
    {
        tracing::warn!(%error, "the address of this server stays in the endpoints of default/kubernetes");
    }
    stopping.store(true, Ordering::Relaxed);
    let _ = stop.send(true);
    pipeline.routes.stop();
    if let Some((nodes, _)) = &nodes {
        nodes.stop();
    }
    // Closing the store ends the watches, so that their connections can end too.
    store.close().await.map_err(|error| Failure::new("closing the store", error))?;
    let _ = serving.await;
    if let Some((_, serving)) = nodes {
        let _ = serving.await;
    }
    let _ = following.await;
    if let Some(log) = log
        && !log.close().await
    {
        tracing::warn!("the end of the audit log may be missing");
    }
    Ok(())
}

/// The issuers that a configuration names, and what it allows anonymous users.
fn believed(path: &std::path::Path) -> Result<(Vec<Issuer>, Anonymous), Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::new(format_args!("reading {}", path.display()), why);
    let bytes = std::fs::read(path).map_err(|error| failed(&error))?;
    let yaml = krm::decode::read_yaml(&bytes).map_err(|error| failed(&error))?;
    let config = AuthenticationConfig::from_json(&yaml.value).map_err(|error| failed(&error))?;
    let issuers = Issuer::all(&config).map_err(|error| failed(&error))?;
    Ok((issuers, config.anonymous))
}

/// Renews certificates that are about to expire, and serves the new ones at once. On SIGHUP those in the data folder are read
/// again.
async fn renew(mut credentials: Credentials, tls: Arc<ServerTls>, url: String) {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangup = signal(SignalKind::hangup()).ok();
    loop {
        let asked = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        let now = std::time::SystemTime::now();
        let renewed = tokio::select! {
            () = tokio::time::sleep(std::time::Duration::from_secs(6 * 3600)) => credentials.renewed(now),
            _ = asked => credentials.read_again(now).map(Some),
        };
        match renewed {
            Ok(None) => {}
            Ok(Some(renewed)) => {
                let used = tls.replace(&renewed).map_err(|error| error.to_string());
                let told = renewed.write_kubeconfig(&url).map_err(|error| error.to_string());
                match used.and(told.map(drop)) {
                    Ok(()) => tracing::info!("new certificates are served"),
                    Err(error) => tracing::error!(error, "the new certificates can't be used"),
                }
                credentials = renewed;
            }
            Err(error) => tracing::error!(%error, "the certificates can't be renewed"),
        }
    }
}

/// The file of the audit log, if there is to be one.
fn audit_log(folder: &std::path::Path, arguments: &Arguments) -> Option<PathBuf> {
    let path = arguments.audit_log.clone().unwrap_or_else(|| folder.join("audit.log"));
    (path.as_os_str() != "none").then_some(path)
}

/// Opens the audit log, with its policy.
fn audit(folder: &std::path::Path, arguments: &Arguments) -> Result<Option<Audit>, Failure> {
    let Some(path) = audit_log(folder, arguments) else { return Ok(None) };
    let rotation =
        Rotation { max_bytes: arguments.audit_log_megabytes << 20, keep: arguments.audit_log_files };
    let log = AuditLog::open(&path, rotation)
        .map_err(|error| Failure::new(format_args!("opening the audit log {}", path.display()), error))?;
    let policy = match &arguments.audit_policy {
        None => Policy::default(),
        Some(path) => {
            let failed = |why: &dyn std::fmt::Display| {
                Failure::new(format_args!("reading the audit policy {}", path.display()), why)
            };
            let bytes = std::fs::read(path).map_err(|error| failed(&error))?;
            let yaml = krm::decode::read_yaml(&bytes).map_err(|error| failed(&error))?;
            Policy::from_json(&yaml.value).map_err(|error| failed(&error))?
        }
    };
    Ok(Some(Audit { log: Arc::new(log), policy }))
}

/// Ends when the process is asked to stop. Signals count from this call on, also before the future is awaited: until then
/// they would end the process at once.
pub fn until_signalled() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (terminate, interrupt) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    async move {
        let (Ok(mut terminate), Ok(mut interrupt)) = (terminate, interrupt) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}
