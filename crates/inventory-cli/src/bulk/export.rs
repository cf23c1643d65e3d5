//! `groundplane inventory export`: all objects as YAML, or one kind as CSV.

use std::path::PathBuf;

use cli::{Failure, Session};
use krm::Object;
use serde_json::Value;

use super::ports::Ports;
use super::{ORDER, as_written, refers_to_own_kind};
use crate::list::select::Selection;
use crate::list::{self, Listed, kinds};
use crate::output;

/// Export the inventory as YAML manifests or CSV files.
///
/// Fields that the server and its controllers set (status, topology labels, revisions) are omitted, so importing the
/// output changes nothing. Objects are in dependency order; "kubectl apply -f" accepts the YAML too.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Kinds to export. Defaults to all.
    #[arg(value_name = "KIND")]
    kinds: Vec<String>,

    /// Label selector, such as topology.inventory.miloapis.com/site=fra1.
    #[arg(long, short = 'l', value_name = "LABELS")]
    selector: Option<String>,

    /// Field selector, such as spec.siteRef.name=fra1.
    #[arg(long, value_name = "FIELDS")]
    field_selector: Option<String>,

    /// Write one file per kind into this directory instead of stdout.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Read the state at a point in time: a timestamp (2026-11-10T09:00:00Z), a date (2026-11-10), an age (2h) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// Output format: yaml, or csv (one kind, or with --dir).
    #[arg(long, short, value_name = "FORMAT", default_value = "yaml", value_parser = ["yaml", "csv"])]
    output: String,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory export > inventory.yaml
  groundplane inventory export racks -o csv > racks.csv
  groundplane inventory export nodes -o csv --field-selector spec.siteRef.name=fra1
  groundplane inventory export -o csv --dir sheets/
  groundplane inventory export --as-of 2026-11-10 > inventory-2026-11-10.yaml";

/// Prints the objects, or writes files.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let asked: Vec<&Listed> =
        arguments.kinds.iter().map(|word| kinds::named(word)).collect::<Result<_, Failure>>()?;
    let is_csv = arguments.output == "csv";
    if is_csv && asked.len() != 1 && arguments.dir.is_none() {
        return Err(Failure::usage("-o csv needs exactly one kind, or --dir")
            .hint("name a kind: \"export racks -o csv\"; or a directory: \"export -o csv --dir sheets/\""));
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
        let failed =
            |error| Failure::other(format!("cannot create the directory {}: {error}", dir.display()));
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
        objects.sort_by_key(refers_to_own_kind);
        // A past state is exported to be restored: later changes are then no conflict.
        let revision = as_of.is_none().then_some(found.revision.as_str());
        let text = match is_csv {
            true if listed.kind == "Cable" => {
                let ports = Selection { as_of: as_of.clone(), ..Selection::all("ports") };
                let ports = Ports::of(ports.every(&client).await?.items);
                inventory::bulk::write_cables(&kind_of(listed)?, &written(&objects), revision, &|cable| {
                    ports.ends(cable)
                })
            }
            true => inventory::bulk::write(&kind_of(listed)?, &written(&objects), revision),
            false => yaml(&objects),
        };
        match &arguments.dir {
            None => output::text(&text, session)?,
            Some(_) if objects.is_empty() => {}
            Some(dir) => {
                let path = dir.join(format!("{}.{}", listed.plural, arguments.output));
                let failed = |error| Failure::other(format!("cannot write {}: {error}", path.display()));
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

fn written(objects: &[Value]) -> Vec<Object> {
    objects.iter().filter_map(|object| object.as_object().cloned().map(Object)).collect()
}

/// The declaration of a kind with its schema.
pub fn kind_of(listed: &Listed) -> Result<krm::kind::Kind, Failure> {
    let kind = inventory::kinds::all().into_iter().find(|kind| kind.names.kind == listed.kind);
    kind.ok_or_else(|| Failure::other(format!("{} has no declaration", listed.kind)))
}
