//! `groundplane source doctor`: what keeps a source from being read.

use cli::{Failure, Session};
use sources::adapters;
use sources::runner::Server;

use crate::config;
use crate::output;

/// Find out why a source can't be read.
///
/// Reaches the source from this machine and tells apart names, ports, certificates, clocks, credentials, permissions, versions and
/// unexpected answers. Writes nothing.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane source doctor ironic-fra1\n  \
    groundplane source doctor bcm --config bcm-sync.yaml")]
pub struct Arguments {
    /// Name of the source.
    #[arg(value_name = "NAME")]
    name: String,

    /// Configuration file of the synchronizer, for credentials that the server does not have.
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
}

/// Looks at a source.
pub async fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?.inner().in_root();
    let server = Server::new(&client, &arguments.name);
    let mut source = server.source().await?;
    output::line(
        &format!("ok    the server has source {} ({:?})", arguments.name, source.spec.adapter),
        session,
    )?;
    let file = config::read(arguments.config.as_deref())?;
    if let Some(endpoint) = &file.endpoint {
        source.spec.endpoint.clone_from(endpoint);
    }
    let mut credentials = server.credentials(&source).await?;
    credentials.overlay(&file.credentials);
    let failed = |fault: sources::adapter::Fault| {
        let why = format!("{}: {fault}", fault.kind.reason());
        Failure::other(why).hint(fault.kind.next_step())
    };
    let adapter = adapters::of(&arguments.name, &source.spec, &credentials).map_err(failed)?;
    let probe = adapter.probe().await.map_err(failed)?;
    output::line(&format!("ok    {} at {}", probe.version, source.spec.endpoint), session)?;
    let page = adapter.page(None).await.map_err(failed)?;
    let more = if page.next.is_some() { ", and there are more pages" } else { "" };
    output::line(&format!("ok    the first page has {} hosts{more}", page.hosts.len()), session)?;
    for (host, why) in page.unreadable.iter().take(5) {
        output::line(&format!("warn  host {host} can't be read: {why}"), session)?;
    }
    for warning in &probe.warnings {
        output::line(&format!("warn  {warning}"), session)?;
    }
    if source.spec.paused {
        output::line("warn  the source is paused: spec.paused is true", session)?;
    }
    Ok(())
}
