//! `groundplane design effective`: the effective settings of a node or host profile.

use clap::{Args, ValueEnum};
use design::{
    compile::{Site, compile},
    inherit::explain,
    provenance,
};

use crate::{
    compile::refused,
    hardware_files::HardwareFiles,
    outcome::{Ended, Streams, Trouble},
    sources::Sources,
};

#[derive(Args)]
#[command(after_help = "Examples:\n  groundplane design effective controller01 site/\n  \
    groundplane design effective controller01 -n airsloop --at live")]
pub(crate) struct Arguments {
    /// Name of a node or host profile.
    name: String,
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    hardware: HardwareFiles,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Form::Tree)]
    output: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Text with the document that set each value.
    Tree,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let documents = arguments.sources.read(streams)?;
    let lshw = arguments.hardware.read(&documents)?;
    let compiled = compile(&documents, &lshw);
    let Some(site) = compiled.site() else { return Ok(refused(&compiled, streams)) };
    let name = &arguments.name;
    if let Some(node) = site.node(name) {
        match arguments.output {
            Form::Tree => provenance::write_node(streams.out, node)?,
            Form::Json => writeln!(streams.out, "{:#}", provenance::node_json(node))?,
            Form::Yaml => write!(streams.out, "{}", krm::encode::to_yaml(&provenance::node_json(node)))?,
        }
    } else if let Some(profile) = site.profiles.iter().find(|profile| profile.document.name == *name) {
        let values = explain(&profile.effective);
        match arguments.output {
            Form::Tree => {
                writeln!(streams.out, "{}  ({})", profile.document, provenance::chain(&profile.effective))?;
                provenance::write_values(streams.out, &values, &profile.effective)?;
            }
            Form::Json => {
                writeln!(streams.out, "{:#}", provenance::values_json(&values, &profile.effective))?
            }
            Form::Yaml => {
                let printed = provenance::values_json(&values, &profile.effective);
                write!(streams.out, "{}", krm::encode::to_yaml(&printed))?;
            }
        }
    } else {
        return Err(Trouble::Asked(unknown(name, site)));
    }
    Ok(Ended::Well)
}

fn unknown(name: &str, site: &Site) -> String {
    let nodes: Vec<&str> = site.nodes.iter().map(|node| node.name()).take(12).collect();
    let more = if site.nodes.len() > nodes.len() { ", …" } else { "" };
    format!("no node or host profile is named `{name}`; its nodes are {}{more}", nodes.join(", "))
}
