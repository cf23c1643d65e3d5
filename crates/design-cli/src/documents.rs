//! `groundplane design documents`: lists documents by kind, name and values.

use clap::{Args, ValueEnum};
use design::{
    document::{Document, native},
    secrets,
    user_kinds::UserKinds,
    yaml::Node,
};

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
    /// List only documents of this kind, such as `Network` or `pegleg/SoftwareVersions/v1`.
    #[arg(short, long)]
    kind: Option<String>,
    /// List only documents with this name. (`-n` is the namespace.)
    #[arg(long)]
    name: Option<String>,
    /// List only documents with this value at this path. Repeat it for several conditions, which must all match.
    #[arg(short = 'w', long = "where", value_name = "PATH=VALUE", value_parser = path_and_value)]
    conditions: Vec<(String, String)>,
    /// Print only the value at this path.
    #[arg(short, long, value_name = "PATH")]
    field: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Form::Name)]
    output: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Schema, name and file position.
    Name,
    /// The documents as JSON.
    Json,
}

fn path_and_value(text: &str) -> Result<(String, String), String> {
    let (path, value) = text.split_once('=').ok_or("use PATH=VALUE, such as metadata.rack=rack1")?;
    Ok((path.to_owned(), value.to_owned()))
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let documents = arguments.sources.read(streams)?;
    let kinds = UserKinds::of(&documents);
    let shown: Vec<Document> = documents.iter().map(|document| without_secrets(document, &kinds)).collect();
    let found: Vec<&Document> = shown.iter().filter(|document| arguments.asks_for(document)).collect();
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

/// A document as it may be shown. Secrets cannot be selected by value either.
fn without_secrets(document: &Document, kinds: &UserKinds<'_>) -> Document {
    let is_of_a_design = native::is_of_a_design(document);
    let is_secret_field = |path: &str, name: &str| match is_of_a_design {
        true => secrets::is_secret_path(path),
        false => {
            let names: Vec<String> = path.split('.').map(str::to_owned).collect();
            secrets::is_secret_key(name) || kinds.is_secret_field(document.schema(), &names)
        }
    };
    Document { data: secrets::without_secrets(&document.data, &is_secret_field), ..document.clone() }
}

impl Arguments {
    fn asks_for(&self, document: &Document) -> bool {
        let is_kind = |kind: &String| document.schema() == kind || document.id.kind() == Some(kind.as_str());
        self.kind.as_ref().is_none_or(is_kind)
            && self.name.as_ref().is_none_or(|name| document.name() == name)
            && self.conditions.iter().all(|(path, value)| holds(&document.data, path, value))
    }
}

/// Whether the value at a path, or an item of the list there, equals `value`.
fn holds(data: &Node, path: &str, value: &str) -> bool {
    let Some(found) = at(data, path) else { return false };
    match found.value.as_list() {
        Some(items) => items.iter().any(|item| item.value.text().as_deref() == Some(value)),
        None => found.value.text().as_deref() == Some(value),
    }
}

/// The value at a path such as `interfaces.bond0.networks[0]`. Names may contain dots.
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
