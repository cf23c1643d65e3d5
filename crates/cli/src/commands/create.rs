//! `groundplane create`: new objects, from files or from a few words.

mod data;
mod generated;
mod rbac;
mod token;

use std::io::Write;

use http::Method;
use serde_json::Value;

use super::apply::{self, Prepared};
use crate::client::Ask;
use crate::failure::Failure;
use crate::flags::DryRun;
use crate::manifests::FileFlags;
use crate::names;
use crate::print::{self, Output};
use crate::session::Session;

/// Create objects from manifests or from arguments.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    what: Option<generated::What>,

    #[command(flatten)]
    files: FileFlags,

    #[command(flatten)]
    how: How,
}

/// What all ways to create have.
#[derive(clap::Args, Debug)]
pub struct How {
    #[command(flatten)]
    pub dry_run: DryRun,

    /// Field manager to record as the owner of the fields.
    #[arg(long, value_name = "NAME", default_value = "groundplane")]
    pub field_manager: String,

    /// Reason for the change, shown in the history.
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,

    /// Validation of unknown fields: strict (fail), warn or ignore.
    #[arg(long, value_name = "HOW", default_value = "strict", num_args = 0..=1, require_equals = true,
        default_missing_value = "strict", value_parser = ["strict", "warn", "ignore", "true", "false"], hide_possible_values = true)]
    pub validate: String,

    /// Output format: name, json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    pub output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane create -f rack.yaml
  groundplane create namespace lab
  groundplane create configmap settings --from-literal=limit=3
  groundplane create secret generic bmc --from-file=password=password.txt";

/// Creates.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    if let Some(what) = arguments.what {
        return generated::run(what, session).await;
    }
    if arguments.files.is_empty() {
        return Err(Failure::usage("must specify one of -f and -k")
            .hint("groundplane create -f FILE, or a kind that \"groundplane create --help\" lists"));
    }
    let manifests = arguments.files.read(&mut session.console)?;
    if manifests.is_empty() {
        return Err(Failure::other("no objects passed to create"));
    }
    let mut failures = Vec::new();
    for manifest in manifests {
        // Each is looked up when its turn has come: one before it may define its kind.
        let prepared = match apply::prepare(vec![manifest.clone()], session).await {
            Err(_) => {
                session.discovery_again().await?;
                apply::prepare(vec![manifest], session).await
            }
            found => found,
        };
        match prepared {
            Err(failure) => failures.push(failure),
            Ok(prepared) => {
                for one in &prepared {
                    let during = format!("error when creating \"{}\"", one.manifest.source.name);
                    if let Err(failure) = one_object(one, &arguments.how, session).await {
                        failures.push(one.manifest.shown(failure.during(&during)));
                    }
                }
            }
        }
    }
    Failure::all(failures)
}

async fn one_object(one: &Prepared, how: &How, session: &mut Session) -> Result<(), Failure> {
    let path = one.resource.collection(one.namespace.as_deref());
    send(&path, one.manifest.object.clone(), how, session).await
}

/// Creates an object and tells it.
async fn send(path: &str, object: Value, how: &How, session: &mut Session) -> Result<(), Failure> {
    let created = match how.dry_run.is_client() {
        true => object,
        false => {
            let ask = Ask::new(Method::POST, path)
                .query("fieldManager", how.field_manager.as_str())
                .query("fieldValidation", apply::validation(&how.validate))
                .query_if("dryRun", how.dry_run.parameter())
                .message(how.message.as_deref())
                .json(&object);
            session.client().await?.value(&ask).await?
        }
    };
    match &how.output {
        Some(form) => {
            let mut created = created;
            print::without_managed_fields(&mut created);
            Output::parse(Some(form), false)?.print(&mut session.console.out, &created)
        }
        None => {
            writeln!(session.console.out, "{} created{}", names::of_object(&created), how.dry_run.suffix())?;
            Ok(())
        }
    }
}
