//! `groundplane undo`: reverts changes of one object or of many.

use std::io::Write;

use client::{Transaction, Undo};
use serde_json::{Value, json};

use crate::commands::{found, plan};
use crate::failure::Failure;
use crate::flags::{self, DryRun};
use crate::locate;
use crate::session::Session;

/// Revert changes of one object, of a commit, or since a time.
///
/// For one object: reverts the last change, the last changes (--steps), or all changes since a revision (--to-revision).
///
/// For many objects: reverts what one commit changed (--revision), or all changes after a time (--after), of one user
/// (--by-user), of one field manager (--by-manager), of some types or labels. Created objects are deleted, deleted objects
/// are restored, changed fields get their old values, all in one transaction. A field that has been changed again since is a
/// conflict, unless --force is set.
///
/// An undo is validated as any other change, is recorded in the history, and can be undone itself. Reverted fields return
/// to the field managers that owned them before.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE NAME or TYPE/NAME; with --revision or --after: TYPE[,TYPE…]
    #[arg(value_name = "TYPE NAME | TYPE/NAME")]
    words: Vec<String>,

    /// Return to the state of this revision.
    #[arg(long, value_name = "REVISION", conflicts_with_all = ["steps", "revision", "after"])]
    to_revision: Option<String>,

    /// Number of changes to revert.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["revision", "after"])]
    steps: Option<u64>,

    /// Revert everything that the commit of this revision changed.
    #[arg(long, value_name = "REVISION", conflicts_with = "after")]
    revision: Option<String>,

    /// Revert all changes after this time (2026-11-10T09:00:00Z, 2h) or revision.
    #[arg(long, value_name = "TIME|REVISION")]
    after: Option<String>,

    /// With --after: changes of this user.
    #[arg(long = "by-user", value_name = "USER", requires = "after")]
    by_user: Option<String>,

    /// With --after: changes of this field manager.
    #[arg(long = "by-manager", value_name = "NAME", requires = "after")]
    by_manager: Option<String>,

    /// With --after: label selector, such as app=web.
    #[arg(long, short = 'l', value_name = "LABELS", requires = "after")]
    selector: Option<String>,

    /// With --after: all namespaces.
    #[arg(long, short = 'A', requires = "after")]
    all_namespaces: bool,

    /// Skip types whose history does not reach back far enough, instead of failing.
    #[arg(long)]
    skip_forgotten: bool,

    /// Revert fields that have been changed again since, too.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    dry_run: DryRun,

    /// Reason for the change, shown in the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane create configmap settings --from-literal=limit=3
  groundplane label configmap settings tier=front
  groundplane undo configmap settings                    removes the label
  groundplane undo configmaps --after 2h --dry-run=server
  groundplane history configmap settings                 lists its revisions";

/// Reverts.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.revision.is_some() || arguments.after.is_some() {
        true => of_many(&arguments, session).await,
        false => of_objects(&arguments, session).await,
    }
}

async fn of_objects(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    if arguments.words.is_empty() {
        return Err(Failure::usage("name an object, or use --revision or --after")
            .hint("\"groundplane undo TYPE NAME\" reverts the last change of an object; \"groundplane undo --help\" has examples"));
    }
    let client = session.client().await?;
    let mut failures = Vec::new();
    for place in found::named(&arguments.words, session).await? {
        let undo = Undo {
            to_revision: arguments.to_revision.clone(),
            steps: arguments.steps,
            message: arguments.message.clone(),
            ..Undo::default()
        };
        let ask = undo
            .request(&place.path())
            .query_if("dryRun", dry_run(&arguments.dry_run))
            .query("fieldManager", "groundplane");
        let before = place.fetch(&client).await.map(|object| object["metadata"]["resourceVersion"].clone());
        match client.value(&ask).await {
            Ok(after) => {
                let is_same = before.is_ok_and(|before| before == after["metadata"]["resourceVersion"]);
                let done = if is_same && arguments.dry_run.is_real() { "unchanged" } else { "undone" };
                writeln!(session.console.out, "{} {done}{}", place.shown(), arguments.dry_run.suffix())?;
            }
            Err(failure) if failure.is_not_found() && before.is_err() => {
                failures.push(failure.hint(format!(
                    "if it was deleted, restore it: groundplane restore {} {}",
                    place.resource.full_name(),
                    place.name
                )));
            }
            Err(failure) => failures.push(failure.without("undo")),
        }
    }
    Failure::all(failures)
}

fn dry_run(dry_run: &DryRun) -> Option<&'static str> {
    (!dry_run.is_real()).then_some("All")
}

async fn of_many(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let mut undo = json!({"force": arguments.force});
    if arguments.skip_forgotten {
        undo["skipForgotten"] = true.into();
    }
    if let Some(revision) = &arguments.revision {
        undo["revision"] = revision.as_str().into();
    }
    if let Some(after) = &arguments.after {
        undo["after"] = flags::moment(after)?.into();
        if !arguments.all_namespaces {
            undo["namespace"] = session.asked_namespace().await?.unwrap_or_default().into();
        }
    }
    for (field, value) in [
        ("user", &arguments.by_user),
        ("manager", &arguments.by_manager),
        ("labelSelector", &arguments.selector),
    ] {
        if let Some(value) = value {
            undo[field] = value.as_str().into();
        }
    }
    if let Some(types) = arguments.words.first() {
        let discovery = session.discovery().await?;
        let resources = locate::resources(&discovery, types)?;
        undo["resources"] = resources
            .iter()
            .map(|resource| json!({"group": resource.group, "resource": resource.plural}))
            .collect();
    }
    let mut transaction = Transaction::new()
        .undo(undo)
        .managed_by("groundplane")
        .dry_run(!arguments.dry_run.is_real())
        .query("diff", "true");
    if let Some(message) = &arguments.message {
        transaction = transaction.because(message);
    }
    let answer = client.value(&transaction.request()).await.map_err(|failure| {
        let says = |text: &str| failure.refusal().is_some_and(|refusal| refusal.message().contains(text));
        if says("skipForgotten") {
            failure.hint("--skip-forgotten reverts the other types")
        } else if says("spec.undo: no change matches") {
            Failure::other("nothing to undo: no change matches")
                .hint("\"groundplane activity\" lists changes, \"groundplane history TYPE NAME\" those of an object")
        } else {
            failure.without("transactions")
        }
    })?;
    let status = &answer["status"];
    for skipped in status["skipped"].as_array().into_iter().flatten() {
        let text = |field: &str| skipped[field].as_str().unwrap_or("");
        let name = match text("group") {
            "" => text("resource").to_owned(),
            group => format!("{}.{group}", text("resource")),
        };
        session.console.warn(&format!("skipping {name}: history is kept since {}", text("keptFrom")));
    }
    plan::show(status, session)?;
    summarize(status, arguments, session)
}

fn summarize(status: &Value, arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let items = status["items"].as_array().map_or(0, Vec::len);
    if status["refused"] == true {
        session.console.flush()?;
        let mut failures: Vec<Failure> = crate::commands::apply::failed_items(status);
        failures.push(Failure::Bare(format!(
            "{} of {items} objects can't be reverted; nothing was changed",
            failures.len()
        )));
        return Err(Failure::Several(failures));
    }
    let objects = if items == 1 { "object" } else { "objects" };
    let line = match arguments.dry_run.is_real() {
        true => format!(
            "{items} {objects} reverted in one commit (revision {})",
            status["revision"].as_str().unwrap_or("")
        ),
        false => format!("{items} {objects} would be reverted in one commit"),
    };
    session.console.say(&line);
    Ok(())
}
