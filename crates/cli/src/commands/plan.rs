//! `groundplane plan`: what applying files would do, without doing it.

mod kept;

pub use kept::apply;

use std::io::Write;

use http::Method;
use serde_json::{Value, json};

use super::apply::{self, How, Prepared};
use crate::client::Ask;
use crate::failure::Failure;
use crate::flags::DryRun;
use crate::manifests::FileFlags;
use crate::names;
use crate::print::{self, Output};
use crate::session::Session;

/// Show what applying files would change, and every rule it would break.
///
/// With --save the plan is kept on the server for a day: "groundplane apply --plan NAME" then does exactly what was shown, or
/// nothing if anything it depends on has changed meanwhile.
///
/// Exit code: 0 when it could be applied, 1 when it could not.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    files: FileFlags,

    /// Keep the plan on the server, under this name or one of its own.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    save: Option<String>,

    /// Why, for the history of what is applied later.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    /// Who the fields will belong to.
    #[arg(long, value_name = "NAME", default_value = "groundplane")]
    field_manager: String,

    /// Take over fields that belong to somebody else.
    #[arg(long)]
    force_conflicts: bool,

    /// The form: json, yaml or jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORM")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane plan -f site/
  groundplane plan -f site/ --save --message \"second row\"
  groundplane apply --plan plan-x7k2p";

const TRANSACTIONS: &str = "/apis/groundplane.dev/v1alpha1/transactions";
const PLANS: &str = "/apis/groundplane.dev/v1alpha1/plans";

/// Plans.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    if arguments.files.is_empty() {
        return Err(Failure::usage("nothing to plan").hint("groundplane plan -f FILE, FOLDER or -"));
    }
    let output = arguments.output.as_deref().map(|form| Output::parse(Some(form), false)).transpose()?;
    if output.as_ref().is_some_and(|output| output.is_table() || matches!(output, Output::Name)) {
        return Err(Failure::usage(
            "a plan is printed as json, yaml or jsonpath=TEMPLATE, or without -o as text",
        ));
    }
    let manifests = arguments.files.read(&mut session.console)?;
    let prepared = apply::prepare(manifests, session).await?;
    if !session.discovery().await?.has_transactions() {
        return Err(Failure::other("this server has no transactions, so nothing can be planned there")
            .hint("groundplane diff -f shows what would change, object by object"));
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
    let answer = match &arguments.save {
        None => {
            let ask = Ask::new(Method::POST, TRANSACTIONS)
                .query("dryRun", "All")
                .query("fieldValidation", "Strict");
            client.value(&ask.json(&apply::transaction("Transaction", &how, &prepared))).await?
        }
        Some(name) => {
            let mut plan = apply::transaction("Plan", &how, &prepared);
            plan["metadata"] = match name.as_str() {
                "" => json!({"generateName": "plan-"}),
                name => json!({"name": name}),
            };
            client
                .value(&Ask::new(Method::POST, PLANS).query("fieldValidation", "Strict").json(&plan))
                .await?
        }
    };
    if let Some(output) = &output {
        output.print(&mut session.console.out, &answer)?;
    } else {
        show(&answer["status"], session)?;
    }
    let failures = apply::failed_items(&answer["status"], &prepared);
    if !failures.is_empty() {
        session.console.flush()?;
        return told(failures, &prepared);
    }
    if let Some(name) = answer["metadata"]["name"].as_str().filter(|_| arguments.save.is_some()) {
        session.console.say(&format!("kept for a day; to do it: groundplane apply --plan {name}"));
    }
    Ok(())
}

fn told(mut failures: Vec<Failure>, prepared: &[Prepared]) -> Result<(), Failure> {
    let line = format!("{} of {} objects can't be applied", failures.len(), prepared.len());
    failures.push(Failure::Bare(line));
    Err(Failure::Several(failures))
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
