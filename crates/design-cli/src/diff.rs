//! `groundplane design diff`: which nodes differ between two states of a site, and in what.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use design::{
    compile::{Compiled, LshwInputs, compile},
    reach::{NodeChange, ValueChange, Was, reach},
};
use serde_json::{Value, json};

use crate::{
    compile::refused,
    outcome::{Ended, Streams, Trouble},
    sources::Layers,
};

#[derive(Args)]
#[command(
    after_help = "Ends with 0 if no node differs, with 1 if one does.\n\nExamples:\n  groundplane design diff before/ after/"
)]
pub(crate) struct Arguments {
    /// The earlier state.
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The later state.
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    #[command(flatten)]
    layers: Layers,
    /// What is printed.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// The names of the nodes.
    Name,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let mut state = |path: &PathBuf| -> Result<Compiled, Trouble> {
        let documents = arguments.layers.read(std::slice::from_ref(path), streams)?.documents;
        Ok(compile(&documents, &LshwInputs::new()))
    };
    let (before, after) = (state(&arguments.before)?, state(&arguments.after)?);
    let (Some(old), Some(new)) = (before.site(), after.site()) else {
        refused(&before, streams);
        refused(&after, streams);
        return Ok(Ended::InTrouble);
    };
    let changes = reach(old, new);
    match arguments.output {
        Form::Name => changes.iter().try_for_each(|one| writeln!(streams.out, "{}", one.node()))?,
        Form::Json => {
            let printed = json!({ "nodes": changes.iter().map(as_json).collect::<Vec<_>>() });
            writeln!(streams.out, "{printed:#}")?;
        }
        Form::Text => {
            changes.iter().try_for_each(|one| write_text(streams, one))?;
            writeln!(streams.out, "{} of {} nodes differ", changes.len(), new.nodes.len())?;
        }
    }
    Ok(Ended::well_if(changes.is_empty()))
}

fn write_text(streams: &mut Streams<'_>, change: &NodeChange) -> Result<(), Trouble> {
    match change {
        NodeChange::Added { node } => writeln!(streams.out, "+ {node}")?,
        NodeChange::Removed { node } => writeln!(streams.out, "- {node}")?,
        NodeChange::Changed { node, values } => {
            writeln!(streams.out, "~ {node}")?;
            for value in values {
                writeln!(streams.out, "    {}", line(value))?;
            }
        }
    }
    Ok(())
}

fn line(change: &ValueChange) -> String {
    let by = |was: &Was| was.by.as_ref().map_or_else(String::new, |by| format!("  [{by}]"));
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            format!("{}: {} -> {}{}", change.path, before.shown(), after.shown(), by(after))
        }
        (None, Some(after)) => format!("+ {}: {}{}", change.path, after.shown(), by(after)),
        (Some(before), None) => format!("- {}: {}{}", change.path, before.shown(), by(before)),
        (None, None) => "the same values in another order".to_owned(),
    }
}

fn as_json(change: &NodeChange) -> Value {
    let was = |was: &Option<Was>| was.as_ref().map(|was| was.shown().to_owned());
    match change {
        NodeChange::Added { node } => json!({ "node": node, "change": "added" }),
        NodeChange::Removed { node } => json!({ "node": node, "change": "removed" }),
        NodeChange::Changed { node, values } => {
            let values: Vec<Value> = values
                .iter()
                .map(|one| json!({ "path": one.path, "before": was(&one.before), "after": was(&one.after) }))
                .collect();
            json!({ "node": node, "change": "changed", "values": values })
        }
    }
}
