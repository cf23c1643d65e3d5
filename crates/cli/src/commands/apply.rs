//! `groundplane apply`: objects from manifests, all of them or none.

mod broken_off;
mod conflict;
pub mod defined;
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
pub use together::{failed_applies, failed_items, transaction};

/// Create or update objects from manifests (server-side apply).
///
/// All objects of all files are applied in one transaction: all of them or none. Other Kubernetes servers have no
/// transactions; there, objects are applied one by one.
///
/// Each applied field belongs to a field manager, "groundplane" by default. Fields that other groundplane or kubectl
/// commands wrote are taken over. A field that any other manager owns at another value is a conflict, and nothing is
/// applied: remove the field from the file, or take it over with --force-conflicts.
///
/// CustomResourceDefinitions are applied first, so that a directory can have both definitions and their objects.
///
/// Exit code: 0 when everything was applied, 1 when not, 3 when the connection broke before the server answered and the
/// outcome could not be determined.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub files: FileFlags,

    /// Apply a plan that was saved with "groundplane plan --save".
    #[arg(long, value_name = "NAME", conflicts_with_all = ["filenames", "kustomize", "recursive"])]
    plan: Option<String>,

    /// Label selector, such as app=web,tier!=db.
    #[arg(long, short = 'l', value_name = "LABELS")]
    selector: Option<String>,

    /// Reason for the change, shown in the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    #[command(flatten)]
    dry_run: DryRun,

    /// Field manager to record as the owner of the fields.
    #[arg(long, value_name = "NAME", default_value = "groundplane")]
    field_manager: String,

    /// Take over fields that other field managers own.
    #[arg(long)]
    force_conflicts: bool,

    /// Validation of unknown fields: strict (fail), warn or ignore.
    #[arg(long, value_name = "HOW", default_value = "strict", num_args = 0..=1, require_equals = true,
        default_missing_value = "strict", value_parser = ["strict", "warn", "ignore", "true", "false"], hide_possible_values = true)]
    validate: String,

    /// Output format: name, json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,

    /// Accepted for compatibility with kubectl: every apply is server-side.
    #[arg(long, hide = true)]
    server_side: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane plan -f site/                      show what would change
  groundplane apply -f site/ -R --message \"add the second row\"
  groundplane apply -k overlays/production
  cat rack.yaml | groundplane apply -f -";

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
        return Err(Failure::usage("must specify one of -f and -k")
            .hint("groundplane apply -f FILE, -f DIRECTORY, -f - for stdin, or -k DIRECTORY"));
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
    let outcomes = match arguments.dry_run.is_real() {
        true => in_rounds(&how, manifests, output.as_ref(), session).await?,
        false => tried(&how, manifests, output.as_ref(), session).await?,
    };
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

/// Definitions of kinds that are not served yet go first; what needs them follows when they are served.
async fn in_rounds(
    how: &How<'_>,
    manifests: Vec<Manifest>,
    output: Option<&Output>,
    session: &mut Session,
) -> Result<Vec<Outcome>, Failure> {
    let (definitions, rest) = prepare::split(manifests, session).await?;
    let mut outcomes = Vec::new();
    for manifests in [definitions, rest].into_iter().filter(|round| !round.is_empty()) {
        let prepared = prepare(manifests, session).await?;
        outcomes.extend(apply_round(how, &prepared, output, session).await?);
        prepare::wait_for_definitions(&prepared, session).await?;
    }
    Ok(outcomes)
}

/// A dry run defines nothing: objects that need a definition are checked against it here.
async fn tried(
    how: &How<'_>,
    manifests: Vec<Manifest>,
    output: Option<&Output>,
    session: &mut Session,
) -> Result<Vec<Outcome>, Failure> {
    let (known, waiting) = defined::part(manifests, session).await?;
    let prepared = prepare(known, session).await?;
    let mut outcomes = apply_round(how, &prepared, output, session).await?;
    if waiting.is_empty() {
        return Ok(outcomes);
    }
    let namespace = session.namespace().await?;
    let mut failures = Vec::new();
    for one in &waiting {
        if let Err(failure) = one.check(&namespace, how.validation == "Strict") {
            failures.push(failure);
            continue;
        }
        let outcome = Outcome { result: "created".to_owned(), object: one.manifest.object.clone() };
        if output.is_none() {
            tell(&one.manifest, &outcome, how, session)?;
        }
        outcomes.push(outcome);
    }
    session.console.say(&defined::caveat(waiting.len()));
    Failure::all(failures).map(|()| outcomes)
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
            tell(&prepared.manifest, outcome, how, session)?;
        }
    }
    session.console.say(&summary);
    Ok(outcomes)
}

/// The line of an object.
fn tell(manifest: &Manifest, outcome: &Outcome, how: &How<'_>, session: &mut Session) -> Result<(), Failure> {
    let name = match outcome.object["metadata"]["name"].as_str() {
        Some(_) => names::of_object(&outcome.object),
        None => names::of_object(&manifest.object),
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
        .map_err(|error| Failure::usage(format!("-l {text}: invalid label selector: {error}")))?;
    manifests.retain(|manifest| {
        let labels = manifest.object["metadata"]["labels"].as_object();
        selector.matches(|key| labels.and_then(|labels| labels.get(key)?.as_str()))
    });
    Ok(())
}
