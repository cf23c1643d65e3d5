//! `groundplane design check-hardware`: compares machines with the design.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use design::{
    as_built::{Built, Comparison, InventoryNode, Verdict, compare},
    compile::compile,
    model::{HardwareProfile, text},
    yaml,
};
use serde_json::{Value, json};

use crate::{
    compile::refused,
    hardware_files::{HardwareFiles, NeighbourFiles},
    outcome::{Ended, Streams, Trouble},
    sources::Sources,
};

#[derive(Args)]
#[command(
    after_help = "Exit code: 0 if every checked machine matches the design, 1 if not.\n\nExamples:\n  \
    groundplane design check-hardware site/ --lshw controller01=lshw.xml --inventory nodes.yaml\n  \
    groundplane design check-hardware -n airsloop"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    hardware: HardwareFiles,
    #[command(flatten)]
    neighbours: NeighbourFiles,
    /// Nodes of the inventory, as printed by `kubectl get nodes.inventory.miloapis.com -o yaml`. Defaults to the inventory of
    /// the server, for a design on a server.
    #[arg(long, value_name = "FILE")]
    inventory: Vec<PathBuf>,
    /// Print matching and unknown fields too.
    #[arg(short, long)]
    all: bool,
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
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let asks_server = arguments.sources.is_server() && arguments.inventory.is_empty();
    let has_files = !arguments.hardware.is_empty() || !arguments.neighbours.is_empty();
    if !has_files && arguments.inventory.is_empty() && !asks_server {
        let advice = "no hardware data; pass --lshw NODE=FILE, --lldp NODE=FILE or --inventory FILE";
        return Err(Trouble::Asked(advice.to_owned()));
    }
    let documents = arguments.sources.read(streams)?;
    let lshw = arguments.hardware.read(&documents)?;
    let mut heard = arguments.neighbours.read()?;
    let mut listed = inventory(&arguments.inventory)?;
    if asks_server {
        let nodes = streams.server()?.get("/apis/inventory.miloapis.com/v1alpha1/nodes", &[])?;
        let designed: HashSet<&str> = documents.iter().map(|document| document.name()).collect();
        for object in nodes["items"].as_array().into_iter().flatten() {
            let mut object = object.clone();
            object["apiVersion"] = json!("inventory.miloapis.com/v1alpha1");
            object["kind"] = json!("Node");
            let node = InventoryNode::of(&object).filter(|node| designed.contains(node.name.as_str()));
            listed.extend(node.map(|node| (node.name.clone(), node)));
        }
    }
    let compiled = compile(&documents, &lshw);
    let Some(site) = compiled.site() else { return Ok(refused(&compiled, streams)) };
    let profiles: HashMap<&str, &HardwareProfile> =
        compiled.design.hardware_profiles.iter().map(|profile| (profile.name(), &**profile)).collect();
    let mut found: Vec<(&str, Vec<Comparison>)> = Vec::new();
    for node in &site.nodes {
        let built = Built {
            lshw: lshw.get(node.name()).cloned(),
            lldp: heard.remove(node.name()),
            inventory: listed.remove(node.name()),
        };
        let is_seen = built.lshw.is_some() || built.lldp.is_some() || built.inventory.is_some();
        let rack = text(&node.effective.settings.rack);
        let rack = compiled.design.racks.iter().find(|one| Some(one.document.name.as_str()) == rack);
        let wanted = node.effective.settings.hardware_profile.as_ref();
        let profile = wanted.and_then(|wanted| profiles.get(wanted.value.as_str()));
        if let Some(profile) = profile.filter(|_| is_seen) {
            found.push((node.name(), compare(node, profile, rack.map(AsRef::as_ref), &built)));
        }
    }
    for stranger in listed.keys() {
        streams.note(format_args!("node {stranger} of the inventory is not in the design"));
    }
    let is_well = found.iter().all(|(_, fields)| fields.iter().all(|one| !one.verdict.is_bad()));
    match arguments.output {
        Form::Text => arguments.write_text(&found, streams)?,
        Form::Json => writeln!(streams.out, "{:#}", as_json(&found))?,
    }
    Ok(Ended::well_if(is_well))
}

impl Arguments {
    fn write_text(
        &self,
        found: &[(&str, Vec<Comparison>)],
        streams: &mut Streams<'_>,
    ) -> Result<(), Trouble> {
        for (node, fields) in found {
            let bad = fields.iter().filter(|one| one.verdict.is_bad()).count();
            let seen = fields.iter().filter(|one| one.verdict != Verdict::NotSeen).count();
            writeln!(streams.out, "{node}: {bad} of {seen} fields differ from the design")?;
            for one in fields.iter().filter(|one| self.all || one.verdict.is_bad()) {
                let built = one.built.as_deref().unwrap_or("-");
                let verdict = one.verdict.as_str();
                writeln!(
                    streams.out,
                    "  {verdict:8}  {}: designed {}, built {built}",
                    one.field, one.designed
                )?;
            }
        }
        Ok(())
    }
}

fn as_json(found: &[(&str, Vec<Comparison>)]) -> Value {
    let field = |one: &Comparison| {
        json!({
            "field": one.field,
            "designed": one.designed,
            "built": one.built,
            "verdict": one.verdict.as_str(),
        })
    };
    let nodes =
        found.iter().map(|(node, fields)| ((*node).to_owned(), fields.iter().map(field).collect::<Value>()));
    json!({ "nodes": nodes.collect::<Value>() })
}

/// Nodes by name, from files with objects or lists.
fn inventory(files: &[PathBuf]) -> Result<HashMap<String, InventoryNode>, Trouble> {
    let mut nodes = HashMap::new();
    for file in files {
        let bytes = fs::read(file).map_err(|source| Trouble::file("read", file, source))?;
        let stream = yaml::read(&file.to_string_lossy(), &bytes)
            .map_err(|error| Trouble::Load(design::document::LoadError::Yaml(error)))?;
        for document in stream.documents {
            let object = serde_json::to_value(&document)?;
            let items = object["items"].as_array().cloned().unwrap_or_else(|| vec![object]);
            for node in items.iter().filter_map(InventoryNode::of) {
                nodes.insert(node.name.clone(), node);
            }
        }
    }
    Ok(nodes)
}
