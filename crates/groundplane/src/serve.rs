//! `groundplane serve`: the control plane.

mod bootstrap;
mod controllers;
pub mod data;
pub mod open;
mod supervisor;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use apiserver::api::Api;
use apiserver::audit::{AuditLog, Policy, Rotation};
use apiserver::authn::{
    Anonymous, AuthenticationConfig, Authenticator, Issuer, ServiceAccountTokens, TokenFile,
};
use apiserver::first_start::{Credentials, ServerNames};
use apiserver::handle::other::Other;
use apiserver::limits::{self, Limits};
use apiserver::pipeline::{Audit, Pipeline};
use apiserver::population::Room;
use apiserver::tls::ServerTls;
use apiserver::{accounts, server};
use platform::activity::answers::{Activities, Answers};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::failure::Failure;
use crate::log;

#[cfg(test)]
pub use controllers::CHOICES as CONTROLLERS;
pub use open::EtcdAccess;

/// Run the control plane: its API over HTTPS, with everything it needs in one folder.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane serve\n  groundplane serve --data /var/lib/groundplane --listen 0.0.0.0:6443 \
    --name gp.example.com\n  groundplane serve --etcd https://10.0.0.1:2379,https://10.0.0.2:2379,https://10.0.0.3:2379"
)]
pub struct Arguments {
    /// Where everything is kept: data, keys, certificates and the kubeconfig of the administrator.
    #[arg(long, value_name = "DIR", env = "GROUNDPLANE_DATA")]
    data: Option<PathBuf>,

    /// Where to listen; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:6443")]
    listen: SocketAddr,

    /// Further names and addresses by which clients reach the server.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,

    /// Keep the data on an etcd cluster instead of in the folder.
    #[arg(long, value_name = "URL,…", value_delimiter = ',')]
    etcd: Vec<String>,

    #[command(flatten)]
    etcd_access: open::EtcdAccess,

    /// A file of tokens, one per line: token,user,uid,"group1,group2".
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,

    /// Who issues the tokens of service accounts, and for whom: the same on all servers of one store.
    #[arg(long, value_name = "URL", default_value = "https://kubernetes.default.svc")]
    service_account_issuer: String,

    /// Issuers whose tokens are believed, as in Kubernetes' AuthenticationConfiguration.
    #[arg(long, value_name = "FILE")]
    authentication_config: Option<PathBuf>,

    /// Where requests are noted down; "none" for nowhere. The data folder's audit.log unless said.
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,

    /// Which requests are noted down, as in Kubernetes' audit policy.
    #[arg(long, value_name = "FILE")]
    audit_policy: Option<PathBuf>,

    /// A new audit log is begun when it has this many megabytes.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    audit_log_megabytes: u64,

    /// How many old audit logs are kept.
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    audit_log_files: u32,

    /// Put a small fleet into the inventory, to look round in.
    #[arg(long)]
    demo: bool,

    /// Which controllers run here: a list of names, "all" or "none".
    #[arg(long, value_name = "NAMES", default_value = "all")]
    controllers: String,

    /// Requests answered at once, watches apart.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().requests)]
    max_requests: usize,

    /// Requests of one user answered at once, watches apart.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().requests_per_user)]
    max_requests_per_user: usize,

    /// Watches of one user at once.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().watches_per_user)]
    max_watches_per_user: usize,

    /// Watches in one project at once.
    #[arg(long, value_name = "NUMBER", default_value_t = limits::Settings::default().watches_per_project)]
    max_watches_per_project: usize,

    /// Objects of all kinds in one project.
    #[arg(long, value_name = "NUMBER", default_value_t = Room::default().objects)]
    max_objects_per_project: usize,

    /// Definitions of kinds in one project.
    #[arg(long, value_name = "NUMBER", default_value_t = Room::default().definitions)]
    max_definitions_per_project: usize,

    /// What to log, as in "info,apiserver=debug".
    #[arg(long, value_name = "FILTER", env = "GROUNDPLANE_LOG", default_value = "info")]
    log: String,

    /// How to log.
    #[arg(long, value_enum, default_value_t = log::Format::Text)]
    log_format: log::Format,
}

/// Runs until it is told to stop.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    log::start(&arguments.log, arguments.log_format);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new("starting", error))?;
    runtime.block_on(serve(arguments))
}

async fn serve(arguments: Arguments) -> Result<(), Failure> {
    let folder = data::folder(arguments.data.as_deref())?;
    let listener = TcpListener::bind(arguments.listen).await.map_err(|error| {
        Failure::new(
            format_args!("listening on {}", arguments.listen),
            format_args!("{error}; choose another address with --listen"),
        )
    })?;
    let address = listener.local_addr().map_err(|error| Failure::new("listening", error))?;
    let names = arguments.names.iter().map(String::as_str);
    let names = ServerNames::of_this_host(names).map_err(|error| Failure::new("naming the server", error))?;
    let credentials = Credentials::open_or_create(&folder, names).map_err(|error| {
        Failure::new(format_args!("reading the certificates in {}", folder.display()), error)
    })?;
    let tls =
        Arc::new(ServerTls::new(&credentials, &[]).map_err(|error| Failure::new("setting up TLS", error))?);
    let url = format!("https://{}", reachable(address));
    let (store, kinds) = open::store(&folder, &arguments.etcd, &arguments.etcd_access).await?;
    let failed = |error: store::Error| Failure::new("reading what is stored", error);
    let iam =
        Arc::new(platform::iam::Iam::new(kinds.clone()).for_audience(&arguments.service_account_issuer));
    let started = Api::start_beside(store.clone(), kinds, vec![iam.clone()]).await;
    let (api, following) = started.map_err(failed)?;
    api.followers().population.give_room(Room {
        objects: arguments.max_objects_per_project,
        definitions: arguments.max_definitions_per_project,
    });
    bootstrap::run(&api).await?;
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
    authenticator = authenticator.with_signers(iam.clone());
    if let Some(path) = &arguments.token_auth_file {
        let file = TokenFile::open(path)
            .map_err(|error| Failure::new(format_args!("reading {}", path.display()), error))?;
        authenticator = authenticator.with_token_file(file);
    }
    if let Some(path) = &arguments.authentication_config {
        let (issuers, anonymous) = believed(path)?;
        authenticator = authenticator.with_issuers(issuers).with_anonymous(anonymous);
    }
    let audit = audit(&folder, &arguments)?;
    let log = audit.as_ref().map(|audit| audit.log.clone());
    let activities =
        Activities::new(log.as_ref().map(|log| log.path().to_owned()), !arguments.etcd.is_empty());
    let stopping = Arc::new(AtomicBool::new(false));
    let pipeline = Arc::new(Pipeline {
        api: api.clone(),
        authenticator,
        limits: Limits::new(limits::Settings {
            requests: arguments.max_requests,
            requests_per_user: arguments.max_requests_per_user,
            watches_per_user: arguments.max_watches_per_user,
            watches_per_project: arguments.max_watches_per_project,
        }),
        other: Other {
            version: env!("CARGO_PKG_VERSION"),
            metrics: Arc::default(),
            tokens,
            stopping: stopping.clone(),
            openapi: apiserver::openapi::Documents::default(),
        },
        audit,
        worked_out: vec![Arc::new(Answers(activities))],
    });
    controllers::start(&api, &iam, &arguments.controllers)?;
    let (stop, stopped) = watch::channel(false);
    let serving = tokio::spawn(server::serve(listener, tls.clone(), pipeline, stopped));
    tokio::spawn(renew(credentials, tls, url.clone()));
    if arguments.demo {
        crate::demo::load(&api).await?;
    }
    tell(&url, &kubeconfig, arguments.demo);
    supervisor::ready();

    wait_for_signal().await;
    api.controllers().stop().await;
    tracing::info!("stopping");
    supervisor::stopping();
    stopping.store(true, Ordering::Relaxed);
    let _ = stop.send(true);
    // Closing the store ends the watches, so that their connections can end too.
    store.close().await.map_err(|error| Failure::new("closing the store", error))?;
    let _ = serving.await;
    let _ = following.await;
    if let Some(log) = log
        && !log.close().await
    {
        tracing::warn!("the end of the audit log may be missing");
    }
    Ok(())
}

/// The issuers that a configuration names, and what may be asked without any proof.
fn believed(path: &std::path::Path) -> Result<(Vec<Issuer>, Anonymous), Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::new(format_args!("reading {}", path.display()), why);
    let bytes = std::fs::read(path).map_err(|error| failed(&error))?;
    let yaml = krm::decode::read_yaml(&bytes).map_err(|error| failed(&error))?;
    let config = AuthenticationConfig::from_json(&yaml.value).map_err(|error| failed(&error))?;
    let issuers = Issuer::all(&config).map_err(|error| failed(&error))?;
    Ok((issuers, config.anonymous))
}

/// Looks after the certificates: those that near their end are made anew and used at once.
async fn renew(mut credentials: Credentials, tls: Arc<ServerTls>, url: String) {
    loop {
        tokio::time::sleep(std::time::Duration::from_secs(6 * 3600)).await;
        match credentials.renewed(std::time::SystemTime::now()) {
            Ok(None) => {}
            Ok(Some(renewed)) => {
                let used = tls.replace(&renewed).map_err(|error| error.to_string());
                let told = renewed.write_kubeconfig(&url).map_err(|error| error.to_string());
                match used.and(told.map(drop)) {
                    Ok(()) => tracing::info!("the certificates were renewed"),
                    Err(error) => tracing::error!(error, "the renewed certificates can't be used"),
                }
                credentials = renewed;
            }
            Err(error) => tracing::error!(%error, "the certificates can't be renewed"),
        }
    }
}

/// Where requests are noted down: in the data folder unless another place is asked for.
fn audit(folder: &std::path::Path, arguments: &Arguments) -> Result<Option<Audit>, Failure> {
    let path = arguments.audit_log.clone().unwrap_or_else(|| folder.join("audit.log"));
    if path.as_os_str() == "none" {
        return Ok(None);
    }
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

/// What there is to see in the demo fleet; each line works as it stands, in any shell.
const TO_TRY: [&str; 8] = [
    "inventory summary",
    "inventory rack show --site fra1 --row A",
    "inventory trace fra1-a01-node01 eth0",
    "inventory impact networkdevice/fra1-spine1",
    "inventory find-space --units 2 --watts 500",
    "inventory export racks -o csv",
    "history rack.inventory.miloapis.com/fra1-a01",
    "delete rack fra1-a01",
];

/// How a shell finds this program: by its name where the PATH leads to it, by its place elsewhere.
fn called() -> String {
    const NAME: &str = "groundplane";
    let Ok(own) = std::env::current_exe() else { return NAME.to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(NAME)).find(|file| file.is_file());
    match found.and_then(|found| found.canonicalize().ok()).is_some_and(|found| found == own) {
        true => NAME.to_owned(),
        false => {
            let own = own.display().to_string();
            let is_plain = own.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
            if is_plain { own } else { format!("'{}'", own.replace('\'', "'\\''")) }
        }
    }
}

/// Where clients on this machine reach a listener.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip().is_unspecified() {
        true => SocketAddr::new([127, 0, 0, 1].into(), address.port()),
        false => address,
    }
}

/// Data goes to stdout: scripts may `eval` it.
#[expect(clippy::print_stdout, reason = "this is what the command gives")]
fn tell(url: &str, kubeconfig: &std::path::Path, demo: bool) {
    eprintln!("Groundplane is ready at {url}. To use it:");
    println!("export KUBECONFIG={}", kubeconfig.display());
    if demo {
        let called = called();
        eprintln!("In another terminal, after that line, look round in the small fleet that is in it:");
        for line in TO_TRY {
            eprintln!("  {called} {line}");
        }
        eprintln!("The last is refused, and says why. kubectl works too: kubectl get racks");
    }
}

async fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
