//! `groundplane plan`: what applying files would do, without doing it.

mod kept;

pub use kept::apply;

use std::io::Write;

use serde_json::{Value, json};

use super::apply::{self, How};
use crate::failure::Failure;
use crate::flags::DryRun;
use crate::manifests::FileFlags;
use crate::names;
use crate::print::{self, Output};
use crate::session::Session;

/// Show what "apply" would change, and all validation errors.
///
/// With --save the server keeps the plan for a day. "groundplane apply --plan NAME" then makes exactly the changes that were
/// shown, or fails if an object that the plan depends on has changed since.
///
/// Objects of a kind that is defined in the same files are checked against the schema of that definition.
///
/// Exit code: 0 when the files can be applied, 1 when not.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    files: FileFlags,

    /// Save the plan on the server, under this name or a generated one.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    save: Option<String>,

    /// Reason for the change, shown in the history once the plan is applied.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    /// Field manager to record as the owner of the fields.
    #[arg(long, value_name = "NAME", default_value = "groundplane")]
    field_manager: String,

    /// Take over fields that other field managers own.
    #[arg(long)]
    force_conflicts: bool,

    /// Output format: json, yaml or jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane plan -f site/
  groundplane plan -f site/ --save=second-row --message \"add the second row\"
  groundplane apply --plan second-row";

/// Plans.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    if arguments.files.is_empty() {
        return Err(Failure::usage("must specify one of -f and -k")
            .hint("groundplane plan -f FILE, -f DIRECTORY, -f - for stdin, or -k DIRECTORY"));
    }
    let output = arguments.output.as_deref().map(|form| Output::parse(Some(form), false)).transpose()?;
    if output.as_ref().is_some_and(|output| output.is_table() || matches!(output, Output::Name)) {
        return Err(Failure::usage("-o: the formats of a plan are json, yaml and jsonpath=TEMPLATE"));
    }
    let manifests = arguments.files.read(&mut session.console)?;
    let (known, waiting) = apply::defined::part(manifests, session).await?;
    if !waiting.is_empty() && arguments.save.is_some() {
        return Err(Failure::other(format!(
            "a plan with objects of a kind that is not defined yet can't be saved: {}",
            waiting[0].manifest.name()
        ))
        .hint("apply the CustomResourceDefinitions first, then save a plan of the rest")
        .hint("without --save the plan is shown"));
    }
    let prepared = apply::prepare(known, session).await?;
    if !session.discovery().await?.has_transactions() {
        return Err(Failure::other("plan needs transactions, which this server does not have")
            .hint("\"groundplane diff -f\" shows the changes object by object"));
    }
    let dry_run = DryRun::server();
    let how = How {
        message: arguments.message.as_deref(),
        dry_run: &dry_run,
        field_manager: &arguments.field_manager,
        force: arguments.force_conflicts,
        validation: "Strict",
        files: &arguments.files,
    };
    let client = session.client().await?;
    let transaction = apply::transaction(&how, &prepared);
    let ask = match arguments.save.as_deref() {
        None => transaction.dry_run(true).request(),
        Some("") => transaction.plan_request(None),
        Some(name) => transaction.plan_request(Some(name)),
    };
    let mut answer = client.value(&ask).await?;
    let mut failures = apply::failed_applies(&answer["status"], &prepared, &client).await;
    let namespace = session.namespace().await?;
    for one in &waiting {
        let checked = one.check(&namespace, true);
        let result = if checked.is_ok() { "created" } else { "failed" };
        failures.extend(checked.err());
        if let Some(items) = answer["status"]["items"].as_array_mut() {
            items.push(one.item(&namespace, result));
        }
    }
    if let Some(output) = &output {
        output.print(&mut session.console.out, &answer)?;
    } else {
        show(&answer["status"], session)?;
    }
    if !waiting.is_empty() {
        session.console.say(&apply::defined::caveat(waiting.len()));
    }
    if !failures.is_empty() {
        session.console.flush()?;
        let line =
            format!("{} of {} objects can't be applied", failures.len(), prepared.len() + waiting.len());
        failures.push(Failure::Bare(line));
        return Err(Failure::Several(failures));
    }
    if let Some(name) = answer["metadata"]["name"].as_str().filter(|_| arguments.save.is_some()) {
        session
            .console
            .say(&format!("the plan is saved for a day; to apply it: groundplane apply --plan {name}"));
    }
    Ok(())
}

/// Each object with what would change in it.
pub fn show(status: &Value, session: &mut Session) -> Result<(), Failure> {
    let mut unchanged = 0;
    for item in status["items"].as_array().into_iter().flatten() {
        let result = item["result"].as_str().unwrap_or("");
        if result == "unchanged" {
            unchanged += 1;
            continue;
        }
        let (sign, colour) = match result {
            "created" => ("+", "\u{1b}[32m"),
            "deleted" | "deleting" => ("-", "\u{1b}[31m"),
            "failed" => ("!", "\u{1b}[31;1m"),
            _ => ("~", "\u{1b}[33m"),
        };
        let object = json!({"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": {"name": item["name"]}});
        let namespace = item["namespace"].as_str().filter(|namespace| !namespace.is_empty());
        let namespace = namespace.map_or(String::new(), |namespace| format!(" in {namespace}"));
        let head = format!("{sign} {}{namespace} {result}", names::of_object(&object));
        let head = session.console.painted(colour, &head);
        writeln!(session.console.out, "{head}")?;
        if result == "configured" {
            for line in print::diff_lines(&item["diff"], &session.console) {
                writeln!(session.console.out, "    {line}")?;
            }
        }
    }
    if unchanged > 0 {
        writeln!(session.console.out, "= {unchanged} unchanged")?;
    }
    Ok(())
}
