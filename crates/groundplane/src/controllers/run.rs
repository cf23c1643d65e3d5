//! `groundplane controllers run`: controllers in a process of their own, over the API.

use std::net::SocketAddr;
use std::sync::Arc;

use cli::{Failure, Session};
use client::{Client, Retries};
use remote::{Catalog, Host, Informers};
use tokio_util::sync::CancellationToken;

use super::listen::{self, Shown};
use crate::{log, modules, serve};

/// Run controllers beside the server.
///
/// They follow the server over its API, with the permissions of the kubeconfig's user; "groundplane controllers role" prints those that a controller needs. Of several processes that run the same controller one works, by lease; when it stops another takes over within a second, when it is killed within ten. The server takes the same lease when it runs a controller itself: start it with --controllers=all,-NAME, or it takes over when none is left beside it.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane controllers run inventory-controller\n  groundplane controllers run inventory-controller design-controller --metrics 127.0.0.1:9100"
)]
pub struct Arguments {
    /// Names of the controllers.
    #[arg(required = true)]
    names: Vec<String>,

    /// Address for /metrics, /livez and /readyz over plain HTTP. Not served when unset.
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,

    /// Identity of this process in leases. Defaults to the name of the host and a random number.
    #[arg(long, value_name = "NAME")]
    identity: Option<String>,

    /// What is logged: a level, or levels by module, as in "info,remote=debug".
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log: String,

    /// Format of the log.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = log::Format::Text)]
    log_format: log::Format,
}

/// Runs them until the process is asked to stop.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let reconcilers = super::chosen(&arguments.names).map_err(Failure::other)?;
    log::start(&arguments.log, arguments.log_format)
        .map_err(|failure| Failure::other(failure.to_string()))?;
    // The kubeconfig is read here; requests are made below, on threads of their own: a plan that takes long must not keep a
    // lease from being renewed.
    let client = session.client().await?.inner().clone();
    let client = client.in_root().with_timeout(None).with_retries(Retries::default());
    let running = tokio::task::spawn_blocking(move || -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| format!("starting: {error}"))?;
        runtime.block_on(work(client, reconcilers, &arguments))
    });
    let ended = running.await.unwrap_or_else(|error| Err(error.to_string()));
    ended.map_err(Failure::other)
}

async fn work(
    client: Client,
    reconcilers: Vec<Arc<dyn reconcile::reconciler::Reconciler>>,
    arguments: &Arguments,
) -> Result<(), String> {
    let stop = CancellationToken::new();
    let catalog = Arc::new(Catalog::new(modules::portable_kinds()));
    let address = client.address().to_owned();
    let informers = Informers::new(client, catalog, stop.clone());
    let identity = arguments.identity.clone().unwrap_or_else(identity);
    let hosts = reconcilers.into_iter().map(|reconciler| Host::new(&informers, reconciler, &identity));
    let hosts: Vec<Host> = hosts.collect::<Result<_, _>>().map_err(|unfit| unfit.to_string())?;
    let mut tasks = tokio::task::JoinSet::new();
    if let Some(listen) = arguments.metrics {
        let shown = Shown { hosts: hosts.clone(), informers: informers.clone() };
        let listener = listen::bind(listen).await?;
        tasks.spawn(listen::serve(listener, shown, stop.clone()));
    }
    tracing::info!(server = address, identity, controllers = arguments.names.join(","), "started");
    for host in hosts {
        let stop = stop.clone();
        tasks.spawn(async move { host.run(&stop).await });
    }
    serve::until_signalled().await;
    tracing::info!("stopping; leases are given back");
    stop.cancel();
    while tasks.join_next().await.is_some() {}
    informers.ended().await;
    Ok(())
}

/// The name of this host and a random number: no other process has it.
fn identity() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = Some(name.trim()).filter(|name| !name.is_empty()).unwrap_or("host").to_owned();
    format!("{name}-{:08x}", reconcile::backoff::system_randomness()() >> 32)
}
