//! `groundplane sync`: the synchronizer of a source, as a process.

use std::path::PathBuf;
use std::sync::Arc;

use cli::{Failure, Session};
use client::Retries;
use sources::adapters;
use sources::runner::{self, Cycle, Metrics, Outcome, Server, Settings};
use sources::sync::Memory;
use tokio_util::sync::CancellationToken;

use crate::config::{self, Config};
use crate::{listen, output};

/// Run the synchronizer of a source.
///
/// Reads the source and writes hosts, until it is stopped. Of several processes of one source one works, by lease; another takes over
/// when it stops. Exits with 0 when it is stopped by a signal.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of the source.
    #[arg(value_name = "NAME")]
    name: String,

    /// Configuration file, in YAML: credentials from files, metrics, webhook.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Show what would be made, changed and marked, and write nothing.
    #[arg(long)]
    dry_run: bool,

    /// Look at the source once, and exit: with 1 if it failed, with 3 if the source is not believed.
    #[arg(long)]
    once: bool,

    /// Filter of the log, such as info or debug.
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane sync ironic-fra1 --kubeconfig ironic-fra1.kubeconfig
  groundplane sync bcm --config bcm-sync.yaml
  groundplane sync ironic-fra1 --dry-run";

/// Runs the synchronizer.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let config = config::read(arguments.config.as_deref())?;
    let client = session.client().await?.inner().in_root().with_retries(Retries::when_busy());
    if arguments.dry_run {
        return rehearse(&client, &arguments.name, &config, session).await;
    }
    start_log(arguments.log.as_deref().or(config.log.as_deref()));
    // Who may not read the Source waits for nothing.
    Server::new(&client, &arguments.name).source().await?;
    let metrics = Arc::new(Metrics::new(&arguments.name));
    let stop = CancellationToken::new();
    let told = listen::start(&config, &metrics, &stop).await?;
    stop_by_signal(stop.clone());
    let settings = Settings {
        name: arguments.name.clone(),
        credentials: config.credentials,
        told,
        adapter: None,
        once: arguments.once,
        endpoint: config.endpoint,
        interval: config.interval,
    };
    match runner::run(&client, settings, metrics, stop).await {
        None => Ok(()),
        Some(Err(error)) => Err(Failure::other(error)),
        Some(Ok(outcome)) => {
            summarize(&outcome, session)?;
            match outcome.doubts {
                Some(_) => Err(Failure::Exit(3)),
                None => Ok(()),
            }
        }
    }
}

async fn rehearse(
    client: &client::Client,
    name: &str,
    config: &Config,
    session: &mut Session,
) -> Result<(), Failure> {
    let server = Server::new(client, name);
    let mut source = server.source().await?;
    if let Some(endpoint) = &config.endpoint {
        source.spec.endpoint.clone_from(endpoint);
    }
    let mut credentials = server.credentials(&source).await?;
    credentials.overlay(&config.credentials);
    let adapter = adapters::of(name, &source.spec, &credentials).map_err(Failure::other)?;
    let metrics = Metrics::new(name);
    let cycle =
        Cycle { server: &server, source: &source, adapter: &*adapter, metrics: &metrics, is_rehearsal: true };
    let outcome = cycle.everything(&mut Memory::default()).await.map_err(Failure::other)?;
    for line in &outcome.lines {
        output::line(line, session)?;
    }
    summarize(&outcome, session)?;
    output::line("Nothing was written.", session)
}

fn summarize(outcome: &Outcome, session: &mut Session) -> Result<(), Failure> {
    let counts = outcome.counts;
    if let Some(doubts) = &outcome.doubts {
        output::line(&format!("not believed: {}", doubts.reasons.join("; ")), session)?;
    }
    let text = format!(
        "{} hosts observed, {} written, {} missing, {} in conflict, {} drifted, {} failed",
        counts.observed, outcome.written, counts.missing, counts.conflicts, counts.drifted, counts.failed
    );
    output::line(&text, session)
}

fn start_log(filter: Option<&str>) {
    let filter = tracing_subscriber::EnvFilter::try_new(filter.unwrap_or("info"));
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter);
    // In tests it may have been started before; then it goes on as it was.
    let _ = lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init();
}

fn stop_by_signal(stop: CancellationToken) {
    tokio::spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return;
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        stop.cancel();
    });
}
