//! `groundplane apply`: what files say, made so; all of it or nothing.

mod broken_off;
mod one_by_one;
mod prepare;
mod together;

use std::io::Write;

use serde_json::Value;

use crate::failure::Failure;
use crate::flags::DryRun;
use crate::manifests::{FileFlags, Manifest};
use crate::names;
use crate::print::{self, Output};
use crate::session::Session;

pub use broken_off::asked_again;
pub use prepare::{Prepared, prepare, unknown_kind};
pub use together::{failed_items, transaction};

/// Make objects be as files say.
///
/// All objects of all files are one transaction: either everything is applied, in one commit, or nothing is. Each
/// field is owned by who applied it (server-side apply), so that several people and programs can each look after their
/// part of an object; a field that somebody else owns is a conflict. On a server without transactions the objects are applied one by one.
///
/// A definition of a kind and objects of that kind can stand side by side: the definitions go first.
///
/// When the server goes away before it has answered, it is asked again what became of the objects.
///
/// Exit code: 0 when everything was applied, 1 when not, 3 when the server went away and it is not known.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub files: FileFlags,

    /// Apply a plan that "groundplane plan --save" has kept.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["filenames", "recursive"])]
    plan: Option<String>,

    /// Only objects with these labels.
    #[arg(long, short = 'l', value_name = "LABELS")]
    selector: Option<String>,

    /// Why, for the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    #[command(flatten)]
    dry_run: DryRun,

    /// Who the fields belong to.
    #[arg(long, value_name = "NAME", default_value = "groundplane")]
    field_manager: String,

    /// Take over fields that belong to somebody else.
    #[arg(long)]
    force_conflicts: bool,

    /// What becomes of fields that nobody knows: strict refuses them, warn tells, ignore drops them.
    #[arg(long, value_name = "HOW", default_value = "strict", num_args = 0..=1, require_equals = true,
        default_missing_value = "strict", value_parser = ["strict", "warn", "ignore", "true", "false"], hide_possible_values = true)]
    validate: String,

    /// The form: name, json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORM")]
    output: Option<String>,

    /// For compatibility: it always is.
    #[arg(long, hide = true)]
    server_side: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane apply -f rack.yaml
  groundplane apply -f site/ -R --message \"second row\"    a folder, in one commit
  groundplane plan -f site/                               what it would do
  groundplane apply -f site/ --dry-run=server
  cat rack.yaml | groundplane apply -f -
  groundplane apply --plan row-2-x7k2p                    exactly what was planned, or nothing";

/// What was decided by flags.
pub struct How<'a> {
    pub message: Option<&'a str>,
    pub dry_run: &'a DryRun,
    pub field_manager: &'a str,
    pub force: bool,
    pub validation: &'a str,
    /// The files, as they are named on the command line.
    pub files: &'a FileFlags,
}

/// What became of an object.
pub struct Outcome {
    /// `created`, `configured` or `unchanged`.
    pub result: String,
    /// The object after it, where it is wanted.
    pub object: Value,
}

/// Applies files, or a plan.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    if let Some(plan) = &arguments.plan {
        return super::plan::apply(plan, session).await;
    }
    if arguments.files.is_empty() {
        return Err(
            Failure::usage("must specify one of -f and -k").hint("groundplane apply -f FILE, FOLDER or -")
        );
    }
    let output = arguments.output.as_deref().map(|form| Output::parse(Some(form), false)).transpose()?;
    let mut manifests = arguments.files.read(&mut session.console)?;
    retain(&mut manifests, arguments.selector.as_deref())?;
    if manifests.is_empty() {
        return Err(Failure::other("no objects passed to apply"));
    }
    let how = How {
        message: arguments.message.as_deref(),
        dry_run: &arguments.dry_run,
        field_manager: &arguments.field_manager,
        force: arguments.force_conflicts,
        validation: validation(&arguments.validate),
        files: &arguments.files,
    };
    // Kinds that are defined here are not served yet: their objects follow in a second round.
    let (definitions, rest): (Vec<Manifest>, Vec<Manifest>) = prepare::split(manifests, session).await?;
    let mut outcomes = Vec::new();
    for (round, manifests) in
        [definitions, rest].into_iter().enumerate().filter(|(_, round)| !round.is_empty())
    {
        let prepared = match prepare(manifests, session).await {
            Err(_) if round == 1 && !arguments.dry_run.is_real() => {
                session
                    .console
                    .say("objects of kinds that are defined in the same files are not tried in a dry run");
                break;
            }
            other => other?,
        };
        let done = apply_round(&how, &prepared, output.as_ref(), session).await?;
        if arguments.dry_run.is_real() {
            prepare::wait_for_definitions(&prepared, session).await?;
        }
        outcomes.extend(done);
    }
    if let Some(output) = &output {
        let objects: Vec<Value> = outcomes.into_iter().map(|outcome| outcome.object).collect();
        let document = match <[Value; 1]>::try_from(objects) {
            Ok([object]) => object,
            Err(objects) => print::as_list(objects),
        };
        output.print(&mut session.console.out, &document)?;
    }
    Ok(())
}

async fn apply_round(
    how: &How<'_>,
    prepared: &[Prepared],
    output: Option<&Output>,
    session: &mut Session,
) -> Result<Vec<Outcome>, Failure> {
    let in_one = prepared.len() > 1 && session.discovery().await?.has_transactions();
    if !in_one || how.dry_run.is_client() {
        return one_by_one::apply(how, prepared, output.is_some(), session).await;
    }
    let (outcomes, summary) = together::apply(how, prepared, output.is_some(), session).await?;
    if output.is_none() {
        for (prepared, outcome) in prepared.iter().zip(&outcomes) {
            tell(prepared, outcome, how, session)?;
        }
    }
    session.console.say(&summary);
    Ok(outcomes)
}

/// The line of an object.
fn tell(prepared: &Prepared, outcome: &Outcome, how: &How<'_>, session: &mut Session) -> Result<(), Failure> {
    let name = match outcome.object["metadata"]["name"].as_str() {
        Some(_) => names::of_object(&outcome.object),
        None => names::of_object(&prepared.manifest.object),
    };
    let colour = match outcome.result.as_str() {
        "created" => "\u{1b}[32m",
        "configured" => "\u{1b}[33m",
        _ => "",
    };
    let result = match colour {
        "" => outcome.result.clone(),
        colour => session.console.painted(colour, &outcome.result),
    };
    writeln!(session.console.out, "{name} {result}{}", how.dry_run.suffix())?;
    Ok(())
}

/// Kubernetes' word for how strictly fields are read.
pub fn validation(text: &str) -> &'static str {
    match text {
        "warn" => "Warn",
        "ignore" | "false" => "Ignore",
        _ => "Strict",
    }
}

fn retain(manifests: &mut Vec<Manifest>, selector: Option<&str>) -> Result<(), Failure> {
    let Some(text) = selector else { return Ok(()) };
    let selector = krm::selector::LabelSelector::parse(text)
        .map_err(|error| Failure::usage(format!("the selector {text} can't be read: {error}")))?;
    manifests.retain(|manifest| {
        let labels = manifest.object["metadata"]["labels"].as_object();
        selector.matches(|key| labels.and_then(|labels| labels.get(key)?.as_str()))
    });
    Ok(())
}
