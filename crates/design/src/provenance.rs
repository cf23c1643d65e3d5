//! Text and JSON output of values with the document that set them.

use std::io::{self, Write};

use crate::{
    compile::Node,
    document::Writers,
    inherit::{Change, Effective, Explanation, Ledger, Manner},
    model::Origin,
};
use serde_json::{Value, json};

/// A node with every value, one to a line, and under it what was overridden.
pub fn write_node(out: &mut dyn Write, node: &Node, writers: &Writers) -> io::Result<()> {
    writeln!(out, "{}  ({})", node.document, chain(&node.effective))?;
    writeln!(out, "  fqdn = {}", node.fqdn)?;
    for (alias, name) in &node.logical_names {
        writeln!(out, "  device {alias} = {name}")?;
    }
    write_values(out, &node.explain(), &node.effective, writers)
}

/// The values of a profile or node.
pub fn write_values(
    out: &mut dyn Write,
    values: &[Explanation],
    effective: &Effective,
    writers: &Writers,
) -> io::Result<()> {
    let left = |one: &Explanation| format!("{} = {}", one.path, one.shown());
    let width = values.iter().map(|one| left(one).chars().count()).max().unwrap_or_default().min(60);
    for one in values {
        writeln!(out, "  {:width$}  {}", left(one), setter(one.by.as_ref(), writers))?;
        for change in &one.overrode {
            writeln!(out, "      {}", told(change, writers))?;
        }
    }
    for change in removed(values, effective) {
        writeln!(out, "  {} is gone: {}", change.path, told(change, writers))?;
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

fn setter(by: Option<&Origin>, writers: &Writers) -> String {
    by.map_or_else(|| "default".to_owned(), |by| by_whom(by, writers))
}

/// The document that a value was written in; the one that brought it here, where that is another.
fn by_whom(by: &Origin, writers: &Writers) -> String {
    match writers.of_place(&by.at).filter(|writer| **writer != *by.document) {
        Some(writer) => {
            let layer = writer.layer.as_ref().map_or_else(String::new, |layer| format!(" in layer {layer}"));
            format!("{writer} ({}){layer}, via {}", by.at, by.document)
        }
        None => by.to_string(),
    }
}

fn told(change: &Change, writers: &Writers) -> String {
    let verb = match change.manner {
        Manner::Overridden => "overrides",
        Manner::Removed => "removes",
    };
    let (by, lost_by) = (by_whom(&change.by, writers), by_whom(&change.lost_by, writers));
    format!("{by} {verb} {} of {lost_by}", change.shown())
}

/// A node for programs.
pub fn node_json(node: &Node, writers: &Writers) -> Value {
    let mut printed = values_json(&node.explain(), &node.effective, writers);
    printed["fqdn"] = json!(node.fqdn);
    printed["devices"] =
        node.logical_names.iter().map(|(alias, name)| (alias.clone(), json!(name))).collect();
    printed
}

/// The values of a profile or node for programs.
pub fn values_json(values: &[Explanation], effective: &Effective, writers: &Writers) -> Value {
    let change = |one: &Change| change_json(one, writers);
    let documents: Vec<String> = effective.chain().map(ToString::to_string).collect();
    let one = |one: &Explanation| {
        json!({
            "path": one.path,
            "value": one.shown(),
            "by": one.by.as_ref().map(|by| origin(by, writers)),
            "overrode": one.overrode.iter().map(&change).collect::<Vec<_>>(),
        })
    };
    json!({
        "chain": documents,
        "values": values.iter().map(one).collect::<Vec<_>>(),
        "removed": removed(values, effective).into_iter().map(&change).collect::<Vec<_>>(),
    })
}

fn change_json(change: &Change, writers: &Writers) -> Value {
    let manner = match change.manner {
        Manner::Overridden => "overridden",
        Manner::Removed => "removed",
    };
    json!({
        "path": change.path,
        "manner": manner,
        "value": change.shown(),
        "setBy": origin(&change.lost_by, writers),
        "by": origin(&change.by, writers),
    })
}

fn origin(by: &Origin, writers: &Writers) -> Value {
    let writer = writers.of_place(&by.at).unwrap_or(&by.document);
    let mut origin = json!({"document": by.document.to_string(), "writtenIn": writer.to_string()});
    if by.at.line == 0 {
        origin["source"] = json!(by.at.file.strip_prefix("source ").unwrap_or(&by.at.file));
        return origin;
    }
    origin["layer"] = json!(writer.layer);
    origin["file"] = json!(by.at.file.as_ref());
    origin["line"] = json!(by.at.line);
    origin
}
