//! Text and JSON output of values with the document that set them.

use std::io::{self, Write};

use crate::{
    compile::Node,
    inherit::{Change, Effective, Explanation, Ledger, Manner},
    model::Origin,
};
use serde_json::{Value, json};

/// A node with every value, one to a line, and under it what was overridden.
pub fn write_node(out: &mut dyn Write, node: &Node) -> io::Result<()> {
    writeln!(out, "{}  ({})", node.document, chain(&node.effective))?;
    writeln!(out, "  fqdn = {}", node.fqdn)?;
    for (alias, name) in &node.logical_names {
        writeln!(out, "  device {alias} = {name}")?;
    }
    write_values(out, &node.explain(), &node.effective)
}

/// The values of a profile or node.
pub fn write_values(out: &mut dyn Write, values: &[Explanation], effective: &Effective) -> io::Result<()> {
    let left = |one: &Explanation| format!("{} = {}", one.path, one.shown());
    let width = values.iter().map(|one| left(one).chars().count()).max().unwrap_or_default().min(60);
    for one in values {
        writeln!(out, "  {:width$}  {}", left(one), setter(one.by.as_ref()))?;
        for change in &one.overrode {
            writeln!(out, "      {}", told(change))?;
        }
    }
    for change in removed(values, effective) {
        writeln!(out, "  {} is gone: {}", change.path, told(change))?;
    }
    writeln!(out)
}

/// Values that were removed.
fn removed<'e>(values: &[Explanation], effective: &'e Effective) -> Vec<&'e Change> {
    let changes = effective.ledger.levels().flat_map(Ledger::changes);
    changes
        .filter(|change| change.manner == Manner::Removed && values.iter().all(|one| one.path != change.path))
        .collect()
}

/// The documents that a profile or node inherits through, its own first.
pub fn chain(effective: &Effective) -> String {
    let documents: Vec<String> = effective.chain().map(ToString::to_string).collect();
    documents.join(" < ")
}

fn setter(by: Option<&Origin>) -> String {
    by.map_or_else(|| "default".to_owned(), by_whom)
}

/// The document that a value was written in; the one that brought it here, where that is another.
fn by_whom(by: &Origin) -> String {
    match by.at.file.document().filter(|writer| **writer != by.document) {
        Some(writer) => {
            let layer = writer.layer.as_ref().map_or_else(String::new, |layer| format!(" in layer {layer}"));
            format!("{writer} ({}){layer}, via {}", by.at, by.document)
        }
        None => by.to_string(),
    }
}

fn told(change: &Change) -> String {
    let verb = match change.manner {
        Manner::Overridden => "overrides",
        Manner::Removed => "removes",
    };
    let (by, lost_by) = (by_whom(&change.by), by_whom(&change.lost_by));
    format!("{by} {verb} {} of {lost_by}", change.shown())
}

/// A node for programs.
pub fn node_json(node: &Node) -> Value {
    let mut printed = values_json(&node.explain(), &node.effective);
    printed["fqdn"] = json!(node.fqdn);
    printed["dns"] = json!({"servers": node.name_servers, "search": node.search_domains});
    printed["devices"] =
        node.logical_names.iter().map(|(alias, name)| (alias.clone(), json!(name))).collect();
    printed
}

/// The values of a profile or node for programs.
pub fn values_json(values: &[Explanation], effective: &Effective) -> Value {
    let documents: Vec<String> = effective.chain().map(ToString::to_string).collect();
    let one = |one: &Explanation| {
        json!({
            "path": one.path,
            "value": one.shown(),
            "by": one.by.as_ref().map(origin),
            "overrode": one.overrode.iter().map(change_json).collect::<Vec<_>>(),
        })
    };
    json!({
        "chain": documents,
        "values": values.iter().map(one).collect::<Vec<_>>(),
        "removed": removed(values, effective).into_iter().map(change_json).collect::<Vec<_>>(),
    })
}

fn change_json(change: &Change) -> Value {
    let manner = match change.manner {
        Manner::Overridden => "overridden",
        Manner::Removed => "removed",
    };
    json!({
        "path": change.path,
        "manner": manner,
        "value": change.shown(),
        "setBy": origin(&change.lost_by),
        "by": origin(&change.by),
    })
}

fn origin(by: &Origin) -> Value {
    let file = &by.at.file;
    let writer = file.document().unwrap_or(&by.document);
    let mut origin = json!({
        "document": by.document.to_string(), "writtenIn": writer.to_string(), "layer": writer.layer,
    });
    if let Some(source) = file.source() {
        origin["source"] = json!(source);
    }
    if by.at.line > 0 {
        origin["file"] = json!(&***file);
        origin["line"] = json!(by.at.line);
    }
    origin
}
