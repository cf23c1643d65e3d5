//! `groundplane undo`: changes taken back, of one object or of many.

use std::io::Write;

use http::Method;
use serde_json::{Value, json};

use crate::client::Ask;
use crate::commands::{found, plan};
use crate::failure::Failure;
use crate::flags::{self, DryRun};
use crate::locate;
use crate::session::Session;

/// Take back changes.
///
/// Of one object: the last change, the last few (--steps), or everything since a revision (--to-revision). It is a new change, through the same
/// rules, so that it can be undone as well.
///
/// Of many objects at once: everything that one commit did (--revision), or everything that was done after a time (--after), by
/// somebody (--user), with a program (--manager), to some types, with some labels. What was made is deleted, what was deleted is restored, what
/// was changed is set back; all in one commit. A field that has been changed again since is a conflict, unless --force.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE NAME or TYPE/NAME; with --revision or --after only TYPE[,TYPE…]
    #[arg(value_name = "TYPE NAME | TYPE/NAME")]
    words: Vec<String>,

    /// Make it what it was right after this revision.
    #[arg(long, value_name = "REVISION", conflicts_with_all = ["steps", "revision", "after"])]
    to_revision: Option<String>,

    /// Take back the last so many changes.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["revision", "after"])]
    steps: Option<u64>,

    /// Take back everything that the commit of this revision did.
    #[arg(long, value_name = "REVISION", conflicts_with = "after")]
    revision: Option<String>,

    /// Take back everything that was done after this time or revision.
    #[arg(long, value_name = "TIME|REVISION")]
    after: Option<String>,

    /// With --after: only what this user did.
    #[arg(long = "by-user", value_name = "USER", requires = "after")]
    by_user: Option<String>,

    /// With --after: only what was done with this program.
    #[arg(long = "by-manager", value_name = "NAME", requires = "after")]
    by_manager: Option<String>,

    /// With --after: only objects with these labels.
    #[arg(long, short = 'l', value_name = "LABELS", requires = "after")]
    selector: Option<String>,

    /// With --after: in all namespaces.
    #[arg(long, short = 'A', requires = "after")]
    all_namespaces: bool,

    /// Leave out types whose past reaches not far enough back, instead of taking nothing back.
    #[arg(long)]
    skip_forgotten: bool,

    /// Set back fields that somebody else has changed since, too.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    dry_run: DryRun,

    /// Why, for the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane undo kettle whistler -n kitchen                  its last change
  groundplane undo kettle whistler --to-revision 458752
  groundplane undo --revision 524287 --dry-run=server          what taking back that commit would do
  groundplane undo --revision 524287 --message \"wrong row\"
  groundplane undo configmaps --after 2h --by-user eve -A";

/// Takes back.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.revision.is_some() || arguments.after.is_some() {
        true => of_many(&arguments, session).await,
        false => of_objects(&arguments, session).await,
    }
}

async fn of_objects(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    if arguments.words.is_empty() {
        return Err(Failure::usage("undo what?")
            .hint("TYPE NAME for the last change of an object, --revision R for everything a commit did"));
    }
    let client = session.client().await?;
    let mut failures = Vec::new();
    for place in found::named(&arguments.words, session).await? {
        let mut body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "UndoOptions"});
        if let Some(revision) = &arguments.to_revision {
            body["toRevision"] = revision.as_str().into();
        }
        if let Some(steps) = arguments.steps {
            body["steps"] = steps.into();
        }
        if let Some(message) = &arguments.message {
            body["message"] = message.as_str().into();
        }
        let ask = Ask::new(Method::POST, format!("{}/undo", place.path()))
            .query_if("dryRun", dry_run(&arguments.dry_run))
            .query("fieldManager", "groundplane")
            .json(&body);
        let before = place.fetch(&client).await.map(|object| object["metadata"]["resourceVersion"].clone());
        match client.value(&ask).await {
            Ok(after) => {
                let is_same = before.is_ok_and(|before| before == after["metadata"]["resourceVersion"]);
                let done = if is_same && arguments.dry_run.is_real() { "unchanged" } else { "undone" };
                writeln!(session.console.out, "{} {done}{}", place.shown(), arguments.dry_run.suffix())?;
            }
            Err(failure) if failure.is_not_found() && before.is_err() => {
                failures.push(failure.hint(format!(
                    "if it was deleted: groundplane restore {} {}",
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
    let mut spec = json!({"undo": undo, "fieldManager": "groundplane"});
    if let Some(message) = &arguments.message {
        spec["message"] = message.as_str().into();
    }
    let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": spec});
    let ask = Ask::new(Method::POST, "/apis/groundplane.dev/v1alpha1/transactions")
        .query_if("dryRun", dry_run(&arguments.dry_run))
        .query("diff", "true")
        .json(&body);
    let answer = client.value(&ask).await.map_err(|failure| {
        let is_forgotten =
            failure.refusal().is_some_and(|refusal| refusal.message().contains("skipForgotten"));
        match is_forgotten {
            true => failure.hint("--skip-forgotten takes back the rest"),
            false => failure.without("transactions"),
        }
    })?;
    let status = &answer["status"];
    for skipped in status["skipped"].as_array().into_iter().flatten() {
        let text = |field: &str| skipped[field].as_str().unwrap_or("");
        let name = match text("group") {
            "" => text("resource").to_owned(),
            group => format!("{}.{group}", text("resource")),
        };
        session
            .console
            .warn(&format!("{name} are left out: their past is kept from {} on", text("keptFrom")));
    }
    plan::show(status, session)?;
    summarize(status, arguments, session)
}

fn summarize(status: &Value, arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let items = status["items"].as_array().map_or(0, Vec::len);
    if status["refused"] == true {
        session.console.flush()?;
        let mut failures: Vec<Failure> = crate::commands::apply::failed_items(status, &[]);
        failures.push(Failure::Bare(format!("{} of {items} objects can't be set back", failures.len())));
        return Err(Failure::Several(failures));
    }
    let objects = if items == 1 { "object" } else { "objects" };
    let line = match arguments.dry_run.is_real() {
        true => format!(
            "{items} {objects} set back in one commit (revision {})",
            status["revision"].as_str().unwrap_or("")
        ),
        false => format!("{items} {objects} would be set back in one commit"),
    };
    session.console.say(&line);
    Ok(())
}
