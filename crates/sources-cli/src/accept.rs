//! `groundplane source accept` and `confirm`: an operator settles what a source says.

use cli::{Failure, Session};
use client::Patch;
use serde_json::json;
use sources::kinds::source_finding::FindingReason;
use sources::{Source, SourceFinding, labels};

use crate::output;

/// Settle what a source finds about a host.
///
/// By default, what the source found counts: the synchronizer writes it with its next look. If another source owns the host, or
/// nobody, the host becomes the source's. With --expected, what is stored counts, for as long as the source finds the same.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane source accept ironic-fra1 node001\n  \
    groundplane source accept ironic-fra1 node001 --expected --message 'the label on the rack is right'")]
pub struct Arguments {
    /// Name of the source.
    #[arg(value_name = "NAME")]
    name: String,

    /// Name of the host.
    #[arg(value_name = "HOST")]
    host: String,

    /// Keep what is stored.
    #[arg(long)]
    expected: bool,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// Confirm what a source says, although it is not believed.
///
/// Counts for exactly what the source says now: if it says something else, that has to be confirmed again.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane source confirm ironic-fra1 --message 'half of the hall was sold'"
)]
pub struct Confirm {
    /// Name of the source.
    #[arg(value_name = "NAME")]
    name: String,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// Settles a finding.
pub async fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?.inner().in_root();
    let (source, host) = (&arguments.name, fulfillment::identity::name_of(&arguments.host));
    let because = arguments.message.as_deref().unwrap_or("settled what the source finds");
    let findings = client.kind::<SourceFinding>().because(because);
    let name = SourceFinding::name_of(source, &host);
    let Some(finding) = findings.find(&name).await? else {
        let why = format!("source {source} finds nothing about host {host} that was not written");
        return Err(
            Failure::other(why).hint(format!("\"groundplane source diff {source}\" lists what it finds"))
        );
    };
    if finding.spec.reason == FindingReason::SourceConflict && !arguments.expected {
        let hosts = client.resource("fulfillment.groundplane.dev/v1alpha1", "hosts").because(because);
        let label = json!({"metadata": {"labels": {labels::SOURCE: source}}});
        hosts.patch(&host, &Patch::Merge(label)).await?;
        return output::line(&format!("host {host} belongs to source {source} now"), session);
    }
    let decision = if arguments.expected { "Expected" } else { "Found" };
    findings.patch(&name, &Patch::Merge(json!({"spec": {"decision": decision}}))).await?;
    let what = match arguments.expected {
        true => "what is stored counts",
        false => "the source writes what it found with its next look",
    };
    output::line(&format!("host {host}: {what}"), session)
}

/// Confirms what is not believed.
pub async fn confirm(arguments: &Confirm, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?.inner().in_root();
    let because = arguments.message.as_deref().unwrap_or("confirmed what the source says");
    let sources = client.kind::<Source>().because(because);
    let source = sources.get(&arguments.name).await?;
    let Some(doubts) = source.status.and_then(|status| status.doubts) else {
        return Err(Failure::other(format!(
            "source {} is believed; there is nothing to confirm",
            arguments.name
        )));
    };
    let patch = json!({"spec": {"confirmed": doubts.digest}});
    sources.patch(&arguments.name, &Patch::Merge(patch)).await?;
    for reason in &doubts.reasons {
        output::line(&format!("confirmed: {reason}"), session)?;
    }
    Ok(())
}
