//! `groundplane source`: other systems whose hosts are copied.

use cli::{Failure, Session};
use client::{DeleteOptions, ListOptions, Patch};
use serde_json::json;
use sources::Source;

use crate::output::{self, Form, or_dash};
use crate::{accept, access, add, diff, doctor};

/// Manage sources of hosts: Ironic, BCM, Redfish, NetBox.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundplane source add ironic-fra1 --adapter ironic --endpoint https://ironic.example:6385
  groundplane source list
  groundplane source diff ironic-fra1
  groundplane source doctor ironic-fra1";

#[derive(clap::Subcommand, Debug)]
enum Command {
    Add(add::Arguments),
    /// List sources, and how they fare.
    #[command(after_help = "Examples:\n  groundplane source list\n  groundplane source list -o json")]
    List(List),
    /// Show a source, its conditions and its numbers.
    #[command(after_help = "Examples:\n  groundplane source describe ironic-fra1")]
    Describe(Named),
    Diff(diff::Arguments),
    Accept(accept::Arguments),
    Confirm(accept::Confirm),
    Doctor(doctor::Arguments),
    /// Remove a source and its identity. Its hosts stay as they are.
    #[command(after_help = "Examples:\n  groundplane source remove ironic-fra1 --message 'Ironic is gone'")]
    Remove(Remove),
}

#[derive(clap::Args, Debug)]
struct List {
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(clap::Args, Debug)]
struct Named {
    /// Name of the source.
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(clap::Args, Debug)]
struct Remove {
    /// Name of the source.
    #[arg(value_name = "NAME")]
    name: String,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Command::Add(arguments) => add::run(arguments, session).await,
        Command::List(arguments) => list(arguments.output, session).await,
        Command::Describe(arguments) => describe(&arguments.name, session).await,
        Command::Diff(arguments) => diff::run(&arguments, session).await,
        Command::Accept(arguments) => accept::run(&arguments, session).await,
        Command::Confirm(arguments) => accept::confirm(&arguments, session).await,
        Command::Doctor(arguments) => doctor::run(&arguments, session).await,
        Command::Remove(arguments) => remove(&arguments, session).await,
    }
}

fn condition<'a>(source: &'a Source, kind: &str) -> Option<&'a krm::condition::Condition> {
    source.status.as_ref()?.conditions.iter().find(|condition| condition.kind == kind)
}

async fn list(form: Form, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?.inner().in_root();
    let all: Vec<Source> = client.kind::<Source>().list(ListOptions::default()).all().await?;
    if form != Form::Table {
        return output::value(form, &json!(all), session);
    }
    if all.is_empty() {
        session.console.say("No sources found.");
        return Ok(());
    }
    let headings =
        ["NAME", "ADAPTER", "HOSTS", "MISSING", "CONFLICTS", "DRIFTED", "SYNCED", "BELIEVED", "LAST SUCCESS"];
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    for source in &all {
        let status = source.status.clone().unwrap_or_default();
        let counts = status.counts.unwrap_or_default();
        let told = |kind: &str| or_dash(condition(source, kind).map_or("", |condition| &condition.status));
        rows.push(vec![
            source.metadata.name.clone(),
            format!("{:?}", source.spec.adapter),
            counts.owned.to_string(),
            counts.missing.to_string(),
            counts.conflicts.to_string(),
            counts.drifted.to_string(),
            told("Synced"),
            told("Believed"),
            or_dash(status.last_success.as_deref().unwrap_or_default()),
        ]);
    }
    output::table(&rows, session)
}

async fn describe(name: &str, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?.inner().in_root();
    let source = client.kind::<Source>().get(name).await?;
    let status = source.status.clone().unwrap_or_default();
    output::line(&format!("Name:       {name}"), session)?;
    output::line(&format!("Adapter:    {:?} at {}", source.spec.adapter, source.spec.endpoint), session)?;
    if let Some(system) = &status.system {
        output::line(&format!("System:     {system}"), session)?;
    }
    if let Some(counts) = status.counts {
        let text = format!(
            "{} observed, {} owned, {} missing, {} in conflict, {} drifted, {} failed",
            counts.observed, counts.owned, counts.missing, counts.conflicts, counts.drifted, counts.failed
        );
        output::line(&format!("Hosts:      {text}"), session)?;
    }
    if let Some(last) = &status.last_success {
        output::line(&format!("Success:    {last}"), session)?;
    }
    for condition in &status.conditions {
        let text =
            format!("{}={} {}: {}", condition.kind, condition.status, condition.reason, condition.message);
        output::line(&format!("Condition:  {text}"), session)?;
    }
    for error in &status.errors {
        output::line(&format!("Error:      {}: {}", error.host, error.message), session)?;
    }
    Ok(())
}

async fn remove(arguments: &Remove, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?.inner().in_root();
    let name = &arguments.name;
    let sources =
        client.kind::<Source>().because(arguments.message.as_deref().unwrap_or("removed the source"));
    let source = sources.get(name).await?;
    // Paused first: a synchronizer that still runs writes nothing more.
    sources.patch(name, &Patch::Merge(json!({"spec": {"paused": true}}))).await?;
    for (api_version, plural, namespace, object) in access::objects_of(name) {
        let collection = client.resource(api_version, plural).in_namespace(namespace);
        match collection.delete(&object, &DeleteOptions::default()).await {
            Err(error) if error.is_not_found() => {}
            deleted => deleted?,
        }
    }
    let options = DeleteOptions { uid: Some(source.metadata.uid), ..DeleteOptions::default() };
    sources.delete(name, &options).await?;
    output::line(&format!("source.{}/{name} removed; its hosts stay as they are", sources::GROUP), session)
}
