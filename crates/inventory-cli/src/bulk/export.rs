//! `groundplane inventory export`: everything as one YAML, or a kind as a spreadsheet.

use std::path::PathBuf;

use cli::{Failure, Session};
use krm::Object;
use serde_json::Value;

use super::{ORDER, as_written, leans_on_its_own_kind};
use crate::list::select::Selection;
use crate::list::{self, Listed, kinds};
use crate::output;

/// Print the inventory as it would be written: one YAML of all kinds, or a kind as CSV.
///
/// What the server and its controllers add (status, topology labels, revisions) is left out, so that "groundplane inventory
/// import" of the same text changes nothing. Objects come after those that they refer to: "kubectl apply -f" takes it too.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The kinds; all of them unless said.
    #[arg(value_name = "KIND")]
    kinds: Vec<String>,

    /// Only objects with these labels, as in topology.inventory.miloapis.com/site=fra1.
    #[arg(long, short = 'l', value_name = "LABELS")]
    selector: Option<String>,

    /// Only objects with these fields, as in spec.siteRef.name=fra1.
    #[arg(long, value_name = "FIELDS")]
    field_selector: Option<String>,

    /// Write files into this folder, one for each kind, instead of printing.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// How it was then: a time (2026-11-10T09:00:00Z, 2026-11-10, 2h for two hours ago) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// The form: yaml, csv (of one kind, or with --dir).
    #[arg(long, short, value_name = "FORM", default_value = "yaml", value_parser = ["yaml", "csv"])]
    output: String,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory export > inventory.yaml
  groundplane inventory export racks -o csv > racks.csv
  groundplane inventory export nodes -o csv --field-selector spec.siteRef.name=fra1
  groundplane inventory export -o csv --dir sheets/
  groundplane inventory export --as-of 2026-11-10 > how-it-was.yaml";

/// Prints it, or writes files.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let asked: Vec<&Listed> =
        arguments.kinds.iter().map(|word| kinds::named(word)).collect::<Result<_, Failure>>()?;
    let is_csv = arguments.output == "csv";
    if is_csv && asked.len() != 1 && arguments.dir.is_none() {
        return Err(Failure::usage("a spreadsheet is of one kind").hint(
            "name one, as in \"export racks -o csv\", or give a folder: \"export -o csv --dir sheets/\"",
        ));
    }
    let wanted = ORDER.iter().filter_map(|kind| {
        let listed = list::all().iter().find(|listed| listed.kind == *kind)?;
        (asked.is_empty() || asked.iter().any(|asked| asked.kind == *kind)).then_some(listed)
    });
    let as_of = output::moment(arguments.as_of.as_deref())?;
    let client = session.client().await?;
    if as_of.is_some() {
        output::keeps_a_past(session).await?;
    }
    if let Some(dir) = &arguments.dir {
        let failed = |error| Failure::other(format!("making the folder {}: {error}", dir.display()));
        std::fs::create_dir_all(dir).map_err(failed)?;
    }
    for listed in wanted {
        let selection = Selection {
            plural: listed.plural,
            labels: arguments.selector.clone(),
            fields: arguments.field_selector.clone(),
            as_of: as_of.clone(),
        };
        let found = selection.every(&client).await?;
        let mut objects: Vec<Value> = found.items.iter().map(as_written).collect();
        objects.sort_by_key(leans_on_its_own_kind);
        // How it was is written to be brought back: what has changed since is no conflict then.
        let revision = as_of.is_none().then_some(found.revision.as_str());
        let text = if is_csv { csv(listed, &objects, revision)? } else { yaml(&objects) };
        match &arguments.dir {
            None => output::text(&text, session)?,
            Some(_) if objects.is_empty() => {}
            Some(dir) => {
                let path = dir.join(format!("{}.{}", listed.plural, arguments.output));
                let failed = |error| Failure::other(format!("writing {}: {error}", path.display()));
                std::fs::write(&path, text).map_err(failed)?;
                session.console.say(&format!("{}: {} objects", path.display(), objects.len()));
            }
        }
    }
    Ok(())
}

fn yaml(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("---\n{}", krm::encode::to_yaml(object))).collect()
}

fn csv(listed: &Listed, objects: &[Value], revision: Option<&str>) -> Result<String, Failure> {
    let objects: Vec<Object> =
        objects.iter().filter_map(|object| object.as_object().cloned().map(Object)).collect();
    Ok(inventory::bulk::write(&kind_of(listed)?, &objects, revision))
}

/// The declaration of a kind, which says what its fields are.
pub fn kind_of(listed: &Listed) -> Result<krm::kind::Kind, Failure> {
    let kind = inventory::kinds::all().into_iter().find(|kind| kind.names.kind == listed.kind);
    kind.ok_or_else(|| Failure::other(format!("{} has no declaration", listed.kind)))
}
