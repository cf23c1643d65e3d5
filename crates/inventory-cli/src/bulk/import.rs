//! `groundplane inventory import`: shows what YAML and CSV files would change, then imports them in one or more commits.

use cli::{Client, Failure, Session};
use serde_json::Value;

use super::desired::{Desired, Existing};
use super::source::{Reading, Source};
use super::transact::{self, Transaction};
use super::{netbox, parts, source};

/// Import YAML and CSV files: show the changes, ask for confirmation, then apply them in one commit.
///
/// Existing objects are updated, missing ones are created, and nothing is deleted. In a CSV file, each row is an object,
/// identified by name. An empty cell clears the field; a field without a column keeps its value. The file name
/// (racks.csv) or --kind determines the kind. Errors name the file, row and column, and nothing is imported.
///
/// A CSV file written by "export" has a revision column. Cells that you did not edit then keep the current value on the
/// server. A cell that you edited is a conflict if somebody else changed the field since the export, unless you pass
/// --overwrite.
///
/// One commit holds up to 20,000 objects, fewer on etcd. With --in-parts, the import is split into several commits in
/// dependency order. If one fails, the earlier ones remain; run the same command again to continue.
///
/// Without a terminal, --yes is required. Exit code: 0 when imported (or nothing to do, or --plan), 1 when not.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Files (.csv, .yaml, .yml, .json), directories of such files, or - for YAML on stdin.
    #[arg(value_name = "FILE", required_unless_present = "from")]
    files: Vec<String>,

    /// Read another system instead of files: regions, sites, racks, devices, interfaces, cables, providers and circuits.
    #[arg(long, value_enum, requires = "url", conflicts_with = "files")]
    from: Option<System>,

    /// URL of the other system.
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// File with the API token of the other system.
    #[arg(long, value_name = "FILE")]
    token_file: Option<std::path::PathBuf>,

    /// Cores of hosts for which the other system does not tell them (NetBox: the custom field cpu_cores).
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    assume_cores: i64,

    /// Memory of such hosts in GiB (NetBox: the custom field memory_gb).
    #[arg(long, value_name = "GIB", default_value_t = 1)]
    assume_memory: i64,

    /// Kind of the CSV files whose name does not name it.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Import without asking for confirmation.
    #[arg(long, short)]
    yes: bool,

    /// Show the changes and exit.
    #[arg(long, visible_alias = "dry-run", conflicts_with = "yes")]
    plan: bool,

    /// Overwrite fields that somebody else changed since the CSV file was exported.
    #[arg(long)]
    overwrite: bool,

    /// Split the import into several commits of at most this many objects. Defaults to 2000 when given without a value.
    #[arg(long, value_name = "OBJECTS", num_args = 0..=1, require_equals = true, default_missing_value = "2000",
        value_parser = clap::value_parser!(u32).range(1..))]
    in_parts: Option<u32>,

    /// Message recorded in the change history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

/// Systems that an inventory is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum System {
    /// NetBox.
    Netbox,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory import racks.csv
  groundplane inventory import sheets/ --plan
  groundplane inventory import inventory.yaml --yes --message \"from the audit\"
  groundplane inventory import audit-2026.csv --kind nodes
  groundplane inventory import everything.yaml --in-parts --yes
  groundplane inventory import --from netbox --url https://netbox.example --token-file token.txt --plan";

/// Imports files.
pub async fn run(mut arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    // It goes with the folder, once everything is imported.
    let _folder = match arguments.from {
        None => None,
        Some(System::Netbox) => Some(from_netbox(&mut arguments, session).await?),
    };
    let sources = Source::all(&arguments.files, arguments.kind.as_deref())?;
    let client = session.client().await?;
    let mut reading = Reading::new(&client, arguments.overwrite);
    let desired = reading.read(&sources, session).await?;
    source::check_unique(&desired)?;
    let existing = reading.existing;
    let changes: Vec<Change> =
        desired.iter().filter_map(|one| Some(Change { item: one.item(&existing)?, desired: one })).collect();
    let unchanged = desired.len() - changes.len();
    if changes.is_empty() {
        let objects = counted(unchanged);
        session.console.say(&format!("{objects} unchanged: nothing to import"));
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

/// Reads a NetBox into a file of manifests, and tells what has no counterpart.
async fn from_netbox(arguments: &mut Arguments, session: &mut Session) -> Result<tempfile::TempDir, Failure> {
    let failed = |fault: sources::adapter::Fault| Failure::other(&fault).hint(fault.kind.next_step());
    let mut credentials = sources::http::Credentials::default();
    if let Some(file) = &arguments.token_file {
        let token = std::fs::read_to_string(file)
            .map_err(|error| Failure::other(format!("reading {}: {error}", file.display())))?;
        credentials.set("token", token.trim().to_owned());
    }
    let url = arguments.url.as_deref().unwrap_or_default();
    let http = sources::adapters::netbox::NetBox::client(url, &credentials).map_err(failed)?;
    let mut listed = netbox::Listed::new();
    for collection in netbox::COLLECTIONS {
        let all = sources::adapters::netbox::NetBox::all(&http, collection, "").await.map_err(failed)?;
        session.console.say(&format!("read {} of {collection}", all.len()));
        listed.insert(collection, all);
    }
    let memory_bytes = arguments.assume_memory.saturating_mul(1 << 30);
    let converted = netbox::convert(&listed, netbox::Assumed { cores: arguments.assume_cores, memory_bytes });
    for assumed in &converted.assumed {
        session.console.say(&format!("assumed: {assumed}"));
    }
    for left_out in &converted.left_out {
        session.console.say(&format!("left out: {left_out}"));
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("netbox.yaml");
    let documents: Vec<String> = converted.objects.iter().map(krm::encode::to_yaml).collect();
    std::fs::write(&file, documents.join("---\n"))?;
    arguments.files = vec![file.display().to_string()];
    Ok(folder)
}

/// The change of an object, and the file that it comes from.
pub struct Change<'a> {
    /// The transaction item.
    pub item: Value,
    /// The desired state.
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
    if arguments.plan {
        return Ok(());
    }
    confirm(arguments, &format!("Import {}?", counted(changes.len())), session)?;
    let status = send(changes, arguments, client, true).await.map_err(too_much)?;
    let (objects, revision) = (counted(changes.len()), status["revision"].as_str().unwrap_or(""));
    session.console.say(&format!(
        "imported {objects} in one commit (revision {revision}); to undo: groundplane undo --revision {revision}"
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
    if arguments.plan {
        return Ok(());
    }
    let question = format!("Import {} in {} commits?", counted(parts.len()), parts.count());
    confirm(arguments, &question, session)?;
    let mut done = 0;
    let mut rest = parts.to_do();
    while let Some(part) = rest.pop() {
        match send(part, arguments, client, true).await {
            Ok(status) => {
                done += part.len();
                let revision = status["revision"].as_str().unwrap_or("");
                let objects = counted(part.len());
                session.console.say(&format!(
                    "imported {objects} (revision {revision}); {done} of {} done",
                    parts.len()
                ));
            }
            // Only the server knows how much fits into one commit.
            Err(failure) if is_too_much(&failure) && part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                rest.extend([second, first]);
            }
            Err(failure) => {
                let left = parts.len() - done;
                let told = format!("{done} objects were imported, {left} were not");
                return Err(Failure::Several(vec![failure, Failure::Bare(told)]).hint(
                    "fix the error and run the same command again: it continues with the objects that are left",
                ));
            }
        }
    }
    Ok(())
}

/// Sends the changes as a dry run or for real. Errors name the file, row and column.
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
        Some(change) => Failure::other(change.desired.error(field, message)),
        None => Failure::other(message),
    };
    let status = transaction.send(client, is_real).await?;
    transact::refused(transact::failures(&status, told), "imported")?;
    Ok(status)
}

/// Fails unless the import is confirmed by --yes or on the terminal, so that scripts notice that nothing happened.
fn confirm(arguments: &Arguments, question: &str, session: &mut Session) -> Result<(), Failure> {
    let console = &mut session.console;
    if arguments.yes || (console.can_ask && console.confirm(question)) {
        return Ok(());
    }
    Err(Failure::other("nothing was imported; pass --yes to import without asking"))
}

fn counted(objects: usize) -> String {
    if objects == 1 { "1 object".to_owned() } else { format!("{objects} objects") }
}

fn is_too_much(failure: &Failure) -> bool {
    failure.refusal().is_some_and(|refusal| refusal.reason() == "RequestEntityTooLarge")
}

/// Adds a hint to the error for an import that does not fit into one commit.
fn too_much(failure: Failure) -> Failure {
    match is_too_much(&failure) {
        true => {
            failure.hint("nothing was imported; pass --in-parts to split the import into several commits")
        }
        false => failure,
    }
}
