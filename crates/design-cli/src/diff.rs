//! `groundplane design diff`: compares two states of a design node by node.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use design::{
    compile::{Compiled, LshwInputs, compile},
    document::Document,
    reach::{NodeChange, reach},
    secrets,
};
use serde_json::json;

use crate::{
    compile::refused,
    outcome::{Ended, Streams, Trouble},
    server::{Secrecy, ServerDesign, State},
    sources::Layers,
};

#[derive(Args)]
#[command(
    after_help = "A state is a file or directory, or a state of the design on the server: @3 (a revision), @live (the active \
    revision) or @documents (the current documents). Without arguments, @live is compared with @documents; with one, @documents \
    is compared with it.\n\nExit code: 0 if no node differs, 1 if one does.\n\nExamples:\n  groundplane design diff before/ after/\n  \
    groundplane design diff -n airsloop @3 @4\n  groundplane design diff -n airsloop site/"
)]
pub(crate) struct Arguments {
    /// Earlier and later state.
    #[arg(value_name = "STATE", num_args = 0..=2)]
    states: Vec<String>,
    #[command(flatten)]
    layers: Layers,
    /// Design on the server. Defaults to the only one of the namespace.
    #[arg(long, value_name = "NAME")]
    design: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Text.
    Text,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// The names of the nodes.
    Name,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let (before, after) = match &arguments.states[..] {
        [before, after] => (before.as_str(), after.as_str()),
        [after] => ("@documents", after.as_str()),
        _ => ("@live", "@documents"),
    };
    let is_mixed = before.starts_with('@') != after.starts_with('@');
    let mut state = |text: &str| -> Result<Compiled, Trouble> {
        let mut documents = arguments.documents(text, streams)?;
        // Secrets of files are not compared with those of a server: the user may not be allowed to read the latter.
        if is_mixed {
            documents.iter_mut().for_each(without_secrets);
        }
        Ok(compile(&documents, &LshwInputs::new()))
    };
    let (before, after) = (state(before)?, state(after)?);
    let (Some(old), Some(new)) = (before.site(), after.site()) else {
        refused(&before, streams);
        refused(&after, streams);
        return Ok(Ended::InTrouble);
    };
    let changes = reach(old, new);
    let printed = || json!({ "nodes": changes.iter().map(NodeChange::to_json).collect::<Vec<_>>() });
    match arguments.output {
        Form::Name => changes.iter().try_for_each(|one| writeln!(streams.out, "{}", one.node()))?,
        Form::Json => writeln!(streams.out, "{:#}", printed())?,
        Form::Yaml => write!(streams.out, "{}", krm::encode::to_yaml(&printed()))?,
        Form::Text => {
            changes.iter().try_for_each(|one| writeln!(streams.out, "{one}"))?;
            writeln!(streams.out, "{} of {} nodes differ", changes.len(), new.nodes.len())?;
        }
    }
    Ok(Ended::well_if(changes.is_empty()))
}

impl Arguments {
    fn documents(&self, text: &str, streams: &mut Streams<'_>) -> Result<Vec<Document>, Trouble> {
        let Some(state) = text.strip_prefix('@') else {
            return self.layers.read(&[PathBuf::from(text)], streams);
        };
        let state: State = state.parse().map_err(Trouble::Asked)?;
        let place = ServerDesign::find(self.design.as_deref(), streams)?;
        place.read(state, Secrecy::Hidden, streams)
    }
}

/// Replaces secrets with a placeholder.
fn without_secrets(document: &mut Document) {
    document.data = secrets::without_secrets(&document.data, &|path, _| secrets::is_secret_path(path));
}
