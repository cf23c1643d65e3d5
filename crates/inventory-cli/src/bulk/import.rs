//! `groundplane inventory import`: YAML and spreadsheets in, shown first, then done in one commit.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use cli::{Ask, Client, Failure, FileFlags, Session};
use inventory::bulk::{self, Fault};
use serde_json::Value;

use super::desired::{Desired, Existing, set};
use super::export::kind_of;
use super::transact::{self, Transaction};
use super::{ORDER, as_written};
use crate::list::{self, Listed, kinds};
use crate::output::ROOT;

/// Bring YAML and CSV files in: show what would change, then do it in one commit.
///
/// An object that is there is changed to what the file says, one that is not is made, and nothing is deleted. In a spreadsheet a row is an
/// object, found by its name: an empty cell clears the field, a column that is left out leaves it as it is. Which kind a CSV file is
/// of is told by its name (racks.csv), or by --kind. What is wrong is told by file, row and column, and then nothing is changed.
///
/// On a terminal you are asked before anything is done; elsewhere it takes --yes.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Files: .csv, .yaml, .json; - for YAML on stdin.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// The kind of spreadsheets whose name does not tell.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Do it without asking.
    #[arg(long, short)]
    yes: bool,

    /// Only show what would change.
    #[arg(long, conflicts_with = "yes")]
    plan: bool,

    /// Why, for the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory import racks.csv
  groundplane inventory import sheets/*.csv --plan
  groundplane inventory import inventory.yaml --yes --message \"from the audit\"
  groundplane inventory import audit-2026.csv --kind nodes";

/// Brings files in.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let sources = arguments
        .files
        .iter()
        .map(|file| Source::of(file, arguments.kind.as_deref()))
        .collect::<Result<Vec<Source>, Failure>>()?;
    let client = session.client().await?;
    let mut existing = Existing::new();
    let mut desired = Vec::new();
    for source in &sources {
        desired.extend(source.read(&client, &mut existing, session).await?);
    }
    told_once(&desired)?;
    let changes: Vec<(&Desired, Value)> =
        desired.iter().filter_map(|one| Some((one, one.item(&existing)?))).collect();
    let unchanged = desired.len() - changes.len();
    if changes.is_empty() {
        session
            .console
            .say(&format!("{unchanged} objects, all of them as they should be: nothing was changed"));
        return Ok(());
    }
    let items: Vec<Value> = changes.iter().map(|(_, item)| item.clone()).collect();
    let transaction = Transaction {
        items: &items,
        field_manager: "groundplane-import",
        force: true,
        message: arguments.message.as_deref(),
    };
    let told = |index: usize, field: &str, message: &str| match changes.get(index) {
        Some((one, _)) => Failure::other(one.told(field, message)),
        None => Failure::other(message),
    };
    let status = transaction.send(&client, false).await?;
    transact::refused(transact::failures(&status, told), changes.len(), "imported")?;
    cli::show_plan(&status, session)?;
    if unchanged > 0 {
        session.console.say(&format!("= {unchanged} unchanged"));
    }
    if arguments.plan || !(arguments.yes || session.console.can_ask) {
        session.console.say("nothing was changed; --yes does it");
        return Ok(());
    }
    let count = changes.len();
    if !arguments.yes && !session.console.confirm(&format!("Do this to {count} objects?")) {
        session.console.say("nothing was changed");
        return Ok(());
    }
    let status = transaction.send(&client, true).await?;
    transact::refused(transact::failures(&status, told), count, "imported")?;
    let revision = status["revision"].as_str().unwrap_or("");
    session.console.say(&format!(
        "{count} objects in one commit (revision {revision}); to take it back: groundplane undo --revision {revision}"
    ));
    Ok(())
}

/// A file, and what it is.
struct Source {
    file: String,
    /// The kind of a spreadsheet.
    sheet: Option<&'static Listed>,
}

impl Source {
    fn of(file: &str, kind: Option<&str>) -> Result<Source, Failure> {
        let is_sheet = Path::new(file).extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
        if !is_sheet {
            return Ok(Source { file: file.to_owned(), sheet: None });
        }
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let word = kind.map_or_else(|| stem.unwrap_or_default(), str::to_owned);
        let sheet = kinds::named(&word).map_err(|failure| match kind {
            Some(_) => failure,
            None => Failure::usage(format!("the name of {file} does not tell of which kind its rows are"))
                .hint("add --kind, as in --kind nodes, or call it nodes.csv"),
        })?;
        Ok(Source { file: file.to_owned(), sheet: Some(sheet) })
    }

    async fn read(
        &self,
        client: &Client,
        existing: &mut Existing,
        session: &mut Session,
    ) -> Result<Vec<Desired>, Failure> {
        let Some(listed) = self.sheet else { return self.read_manifests(client, existing, session).await };
        let mut text = String::new();
        let unreadable = |error| Failure::other(format!("reading {}: {error}", self.file));
        std::fs::File::open(&self.file)
            .and_then(|mut file| file.read_to_string(&mut text))
            .map_err(unreadable)?;
        know(listed, client, existing).await?;
        let kind = kind_of(listed)?;
        let rows = bulk::read(&kind, &text).map_err(|faults| self.faulty(&faults))?;
        let (mut desired, mut faults) = (Vec::new(), Vec::new());
        for row in rows {
            let key = (listed.kind.to_owned(), row.object.name().to_owned());
            let object = match existing.get(&key) {
                Some(before) => changed(before, &row),
                None => {
                    faults.extend(bulk::faults_of_new(&kind, &row));
                    Value::Object(row.object.0)
                }
            };
            desired.push(Desired { object, file: self.file.clone(), row: Some(row.number) });
        }
        if faults.is_empty() { Ok(desired) } else { Err(self.faulty(&faults)) }
    }

    async fn read_manifests(
        &self,
        client: &Client,
        existing: &mut Existing,
        session: &mut Session,
    ) -> Result<Vec<Desired>, Failure> {
        let files = FileFlags { filenames: vec![self.file.clone()], recursive: false };
        let mut desired = Vec::new();
        for manifest in files.read(&mut session.console)? {
            let kind = manifest.object["kind"].as_str().unwrap_or("");
            let listed = list::all().iter().find(|listed| listed.kind == kind).ok_or_else(|| {
                Failure::other(format!(
                    "unsupported kind {} in {} (import handles: {})",
                    krm::field::quote(kind),
                    self.file,
                    ORDER.join(", ")
                ))
            })?;
            know(listed, client, existing).await?;
            let object = as_written(&manifest.object);
            desired.push(Desired { object, file: manifest.place(), row: None });
        }
        Ok(desired)
    }

    fn faulty(&self, faults: &[Fault]) -> Failure {
        let mut told: Vec<Failure> =
            faults.iter().map(|fault| Failure::other(format!("{} {fault}", self.file))).collect();
        told.push(Failure::Bare("nothing was changed".to_owned()));
        Failure::Several(told)
    }
}

/// An object with what a row says of it: given cells are set, empty ones cleared, the rest stays.
fn changed(before: &Value, row: &bulk::Row) -> Value {
    let mut object = as_written(before);
    let Some(map) = object.as_object_mut() else { return object };
    for column in &row.given {
        let path = if column == "labels" { "metadata.labels" } else { column };
        set(map, path, row.object.at(path).cloned());
    }
    object
}

/// Lists what there is of a kind, once.
async fn know(listed: &Listed, client: &Client, existing: &mut Existing) -> Result<(), Failure> {
    // A mark for a kind that was listed: no object has an empty name.
    let mark = (listed.kind.to_owned(), String::new());
    if existing.contains_key(&mark) {
        return Ok(());
    }
    let found =
        list::every(client, &Ask::get(format!("{ROOT}/{}", listed.plural))).await.map_err(|failure| {
            failure.during(&format!("could not list {}", listed.plural)).without("inventory")
        })?;
    existing.insert(mark, Value::Null);
    for object in found {
        let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        existing.insert((listed.kind.to_owned(), name), object);
    }
    Ok(())
}

/// No object may be told of twice.
fn told_once(desired: &[Desired]) -> Result<(), Failure> {
    let mut seen: BTreeMap<(String, String), &Desired> = BTreeMap::new();
    for one in desired {
        if let Some(first) = seen.insert(one.key(), one) {
            let (kind, name) = one.key();
            return Err(Failure::other(format!(
                "{kind} {name} is in {} and in {}; leave one of them out",
                first.place(),
                one.place()
            )));
        }
    }
    Ok(())
}

impl Desired {
    /// `racks.csv row 4`, or the file and line.
    fn place(&self) -> String {
        self.row.map_or_else(|| self.file.clone(), |row| format!("{} row {row}", self.file))
    }

    /// What is wrong, with its place.
    fn told(&self, field: &str, message: &str) -> String {
        let (kind, name) = self.key();
        // The object is named already.
        let message = message.strip_prefix(&format!("{kind} {name}: ")).unwrap_or(message);
        match (field, self.row) {
            ("", _) => format!("{}: {kind} {name}: {message}", self.place()),
            (field, Some(_)) => format!("{}, column {field}: {message}", self.place()),
            (field, None) => format!("{}: {kind} {name}: {field}: {message}", self.place()),
        }
    }
}
