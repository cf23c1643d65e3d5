//! `groundplane inventory import`: YAML and spreadsheets in, shown first, then done in one commit, or in parts.

use cli::{Client, Failure, Session};
use serde_json::Value;

use super::desired::{Desired, Existing};
use super::source::{Reading, Source};
use super::transact::{self, Transaction};
use super::{parts, source};

/// Bring YAML and CSV files in: show what would change, then do it in one commit.
///
/// An object that is there is changed to what the file says, one that is not is made, and nothing is deleted. In a spreadsheet a row is an
/// object, found by its name: an empty cell clears the field, a column that is left out leaves it as it is. Which kind a CSV file is
/// of is told by its name (racks.csv), or by --kind. What is wrong is told by file, row and column, and then nothing is changed.
///
/// A spreadsheet that "export" wrote has a column with the revision of that moment. Cells that you did not change are then left as they are
/// now, and a field that somebody else has changed since is told as a conflict, unless --overwrite is given.
///
/// One commit takes 20,000 objects, fewer on etcd. --in-parts makes several commits of more: each is whole in itself and comes after
/// those it refers to. When one is refused, those before it stay; the same command goes on from there, since what is as it should be is passed over.
///
/// On a terminal you are asked before anything is done; elsewhere it takes --yes.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Files: .csv, .yaml, .json; folders of such files; - for YAML on stdin.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// The kind of spreadsheets whose name does not tell.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Do it without asking.
    #[arg(long, short)]
    yes: bool,

    /// Only show what would change.
    #[arg(long, visible_alias = "dry-run", conflicts_with = "yes")]
    plan: bool,

    /// Set fields to what a spreadsheet says, also where somebody has changed them since it was exported.
    #[arg(long)]
    overwrite: bool,

    /// Several commits of so many objects at most, instead of one; 2000 unless said.
    #[arg(long, value_name = "OBJECTS", num_args = 0..=1, require_equals = true, default_missing_value = "2000",
        value_parser = clap::value_parser!(u32).range(1..))]
    in_parts: Option<u32>,

    /// Why, for the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory import racks.csv
  groundplane inventory import sheets/ --plan
  groundplane inventory import inventory.yaml --yes --message \"from the audit\"
  groundplane inventory import audit-2026.csv --kind nodes
  groundplane inventory import everything.yaml --in-parts --yes";

/// Brings files in.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let sources = Source::all(&arguments.files, arguments.kind.as_deref())?;
    let client = session.client().await?;
    let mut reading = Reading::new(&client, arguments.overwrite);
    let mut desired = Vec::new();
    for source in &sources {
        desired.extend(source.read(&mut reading, session).await?);
    }
    source::told_once(&desired)?;
    let existing = reading.existing;
    let changes: Vec<Change> =
        desired.iter().filter_map(|one| Some(Change { item: one.item(&existing)?, desired: one })).collect();
    let unchanged = desired.len() - changes.len();
    if changes.is_empty() {
        let objects = counted(unchanged);
        session.console.say(&format!("{objects}, all as they should be: nothing was changed"));
        return Ok(());
    }
    match arguments.in_parts {
        None => at_once(&arguments, &changes, unchanged, &client, session).await,
        Some(most) => {
            let parts = parts::Parts::of(changes, usize::try_from(most).unwrap_or(usize::MAX));
            in_parts(&arguments, &parts, (unchanged, &existing), &client, session).await
        }
    }
}

/// What has to be done for an object, and where that is written.
pub struct Change<'a> {
    /// For a transaction.
    pub item: Value,
    /// What is wanted.
    pub desired: &'a Desired,
}

async fn at_once(
    arguments: &Arguments,
    changes: &[Change<'_>],
    unchanged: usize,
    client: &Client,
    session: &mut Session,
) -> Result<(), Failure> {
    let status = send(changes, arguments, client, false).await.map_err(too_much)?;
    cli::show_plan(&status, session)?;
    if unchanged > 0 {
        session.console.say(&format!("= {unchanged} unchanged"));
    }
    if !is_wanted(arguments, &format!("Do this to {}?", counted(changes.len())), session) {
        return Ok(());
    }
    let status = send(changes, arguments, client, true).await.map_err(too_much)?;
    let (objects, revision) = (counted(changes.len()), status["revision"].as_str().unwrap_or(""));
    session.console.say(&format!(
        "{objects} in one commit (revision {revision}); to take it back: groundplane undo --revision {revision}"
    ));
    Ok(())
}

async fn in_parts(
    arguments: &Arguments,
    parts: &parts::Parts<'_>,
    there: (usize, &Existing),
    client: &Client,
    session: &mut Session,
) -> Result<(), Failure> {
    let (unchanged, existing) = there;
    parts.check()?;
    parts.show(existing, session)?;
    if unchanged > 0 {
        session.console.say(&format!("= {unchanged} unchanged"));
    }
    let question = format!("Do this to {} in {} commits?", counted(parts.len()), parts.count());
    if !is_wanted(arguments, &question, session) {
        return Ok(());
    }
    let mut done = 0;
    let mut rest = parts.to_do();
    while let Some(part) = rest.pop() {
        match send(part, arguments, client, true).await {
            Ok(status) => {
                done += part.len();
                let revision = status["revision"].as_str().unwrap_or("");
                let objects = counted(part.len());
                session
                    .console
                    .say(&format!("{objects} (revision {revision}); {done} of {} are done", parts.len()));
            }
            // How much fits is known to the server alone.
            Err(failure) if is_too_much(&failure) && part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                rest.extend([second, first]);
            }
            Err(failure) => {
                let left = parts.len() - done;
                let told = format!("{done} objects are done, {left} are not");
                return Err(Failure::Several(vec![failure, Failure::Bare(told)]).hint(
                    "mend it and run the same command again: it goes on from there, and passes over what is done",
                ));
            }
        }
    }
    Ok(())
}

/// Tries it, or does it; what is wrong is told with the file, the row and the column.
async fn send(
    changes: &[Change<'_>],
    arguments: &Arguments,
    client: &Client,
    is_real: bool,
) -> Result<Value, Failure> {
    let items: Vec<Value> = changes.iter().map(|change| change.item.clone()).collect();
    let transaction = Transaction {
        items: &items,
        field_manager: "groundplane-import",
        force: true,
        message: arguments.message.as_deref(),
    };
    let told = |index: usize, field: &str, message: &str| match changes.get(index) {
        Some(change) => Failure::other(change.desired.told(field, message)),
        None => Failure::other(message),
    };
    let status = transaction.send(client, is_real).await?;
    transact::refused(transact::failures(&status, told), changes.len(), "imported")?;
    Ok(status)
}

/// Whether it shall be done: asked on a terminal, said by a flag elsewhere.
fn is_wanted(arguments: &Arguments, question: &str, session: &mut Session) -> bool {
    let console = &mut session.console;
    if arguments.plan || !(arguments.yes || console.can_ask) {
        console.say("nothing was changed; --yes does it");
        return false;
    }
    let is_wanted = arguments.yes || console.confirm(question);
    if !is_wanted {
        console.say("nothing was changed");
    }
    is_wanted
}

fn counted(objects: usize) -> String {
    if objects == 1 { "1 object".to_owned() } else { format!("{objects} objects") }
}

fn is_too_much(failure: &Failure) -> bool {
    failure.refusal().is_some_and(|refusal| refusal.reason() == "RequestEntityTooLarge")
}

/// With the way out for what does not fit into one commit.
fn too_much(failure: Failure) -> Failure {
    match is_too_much(&failure) {
        true => failure.hint(
            "nothing was changed; --in-parts makes several commits of it, each after those it refers to, and can be taken up again",
        ),
        false => failure,
    }
}
