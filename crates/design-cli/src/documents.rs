//! `groundplane design documents`: the documents of a site, of any kind, by what they hold.

use clap::{Args, ValueEnum};
use design::{document::Document, yaml::Node};

use crate::{
    outcome::{Ended, Streams, Trouble},
    sources::Sources,
};

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    groundplane design documents site/ --kind BaremetalNode --where metadata.rack=rack1\n  \
    groundplane design documents site/ --kind SoftwareVersions --field charts.kubernetes -o json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    sources: Sources,
    /// Only documents of this kind, such as `Network` or `pegleg/SoftwareVersions/v1`.
    #[arg(short, long)]
    kind: Option<String>,
    /// Only documents of this name. (`-n` is the namespace, for all commands.)
    #[arg(long)]
    name: Option<String>,
    /// Only documents whose data hold this value at this path; all that are given must hold.
    #[arg(short = 'w', long = "where", value_name = "PATH=VALUE", value_parser = path_and_value)]
    conditions: Vec<(String, String)>,
    /// Print only what stands at this path of the data.
    #[arg(short, long, value_name = "PATH")]
    field: Option<String>,
    /// What is printed.
    #[arg(short, long, value_enum, default_value_t = Form::Name)]
    output: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Schema, name and place.
    Name,
    /// The documents.
    Json,
}

fn path_and_value(text: &str) -> Result<(String, String), String> {
    let (path, value) = text.split_once('=').ok_or("write a path and a value, as in metadata.rack=rack1")?;
    Ok((path.to_owned(), value.to_owned()))
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let documents = arguments.sources.read(streams)?.documents;
    let found: Vec<&Document> = documents.iter().filter(|document| arguments.asks_for(document)).collect();
    match arguments.output {
        Form::Name => {
            for document in found {
                write!(streams.out, "{}  {}", document.id, document.at)?;
                if let Some(value) = arguments.field.as_ref().and_then(|path| at(&document.data, path)) {
                    write!(streams.out, "  {}", serde_json::to_string(value)?)?;
                }
                writeln!(streams.out)?;
            }
        }
        Form::Json => {
            let mut printed = Vec::new();
            for document in found {
                let data = match &arguments.field {
                    Some(path) => at(&document.data, path),
                    None => Some(&document.data),
                };
                printed.push(serde_json::json!({
                    "schema": document.schema(),
                    "name": document.name(),
                    "data": serde_json::to_value(data)?,
                }));
            }
            writeln!(streams.out, "{:#}", serde_json::Value::Array(printed))?;
        }
    }
    Ok(Ended::Well)
}

impl Arguments {
    fn asks_for(&self, document: &Document) -> bool {
        let is_kind = |kind: &String| document.schema() == kind || document.id.kind() == Some(kind.as_str());
        self.kind.as_ref().is_none_or(is_kind)
            && self.name.as_ref().is_none_or(|name| document.name() == name)
            && self.conditions.iter().all(|(path, value)| holds(&document.data, path, value))
    }
}

/// Whether a value stands at a path, or in the list there.
fn holds(data: &Node, path: &str, value: &str) -> bool {
    let Some(found) = at(data, path) else { return false };
    match found.value.as_list() {
        Some(items) => items.iter().any(|item| item.value.text().as_deref() == Some(value)),
        None => found.value.text().as_deref() == Some(value),
    }
}

/// What stands at a path such as `interfaces.bond0.networks[0]`; names may hold dots.
fn at<'d>(data: &'d Node, path: &str) -> Option<&'d Node> {
    if path.is_empty() {
        return Some(data);
    }
    if let Some(rest) = path.strip_prefix('[') {
        let (index, rest) = rest.split_once(']')?;
        let item = data.value.as_list()?.get(index.parse::<usize>().ok()?)?;
        return at(item, rest.strip_prefix('.').unwrap_or(rest));
    }
    let map = data.value.as_map()?;
    let mut ends =
        path.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(i, _)| i).chain([path.len()]);
    ends.find_map(|end| {
        let (key, rest) = path.split_at(end);
        at(map.get(key)?, rest.strip_prefix('.').unwrap_or(rest))
    })
}
