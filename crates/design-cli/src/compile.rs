//! `groundplane design compile`: the effective settings of every node.

use std::{
    io::{self, Write},
    sync::Arc,
};

use clap::{Args, ValueEnum};
use design::{
    compile::{Compiled, Node, Outcome, compile, unparsable_as_drydock_json},
    document::LoadError,
    provenance,
};

use crate::{
    hardware_files::HardwareFiles,
    outcome::{Ended, Streams, Trouble},
    server::Secrecy,
    sources::Sources,
};

#[derive(Args)]
#[command(after_help = "Exit code: 0 if the design compiles, 1 if not.\n\nExamples:\n  \
    groundplane design compile site.yaml -o tree\n  \
    groundplane design compile treasuremap --site airsloop -o drydock-json\n  \
    groundplane design compile site/ --lshw controller01=lshw.xml -o drydock-json\n  \
    groundplane design compile -n airsloop --at live -o yaml")]
pub(crate) struct Arguments {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    hardware: HardwareFiles,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Form::Tree)]
    output: Form,
    /// Do not run the validators for `drydock-json`: report parse errors only.
    #[arg(long)]
    no_validate: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Text: every value of every node, and the document that set it.
    Tree,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// The JSON format of Drydock, including secrets.
    DrydockJson,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    // Drydock's format includes secrets.
    let secrecy = match arguments.output {
        Form::DrydockJson => Secrecy::Read,
        Form::Tree | Form::Json | Form::Yaml => Secrecy::Hidden,
    };
    let documents = match arguments.sources.read_with(secrecy, streams) {
        Err(Trouble::Load(LoadError::Yaml(error))) if matches!(arguments.output, Form::DrydockJson) => {
            writeln!(streams.out, "{:#}", unparsable_as_drydock_json(&error))?;
            return Ok(Ended::NotWell);
        }
        read => read?,
    };
    let lshw = arguments.hardware.read(&documents)?;
    let compiled = compile(&documents, &lshw);
    match arguments.output {
        Form::DrydockJson => {
            let compiled = if arguments.no_validate { compiled } else { compiled.validated() };
            writeln!(streams.out, "{:#}", compiled.to_drydock_json())?;
            return Ok(Ended::well_if(compiled.site().is_some()));
        }
        Form::Tree | Form::Json | Form::Yaml if compiled.site().is_none() => {
            return Ok(refused(&compiled, streams));
        }
        Form::Tree => {
            for node in compiled.site().into_iter().flat_map(|site| &site.nodes) {
                provenance::write_node(streams.out, node)?;
            }
        }
        Form::Json | Form::Yaml => {
            let mut nodes: Vec<_> = compiled.site().into_iter().flat_map(|site| &site.nodes).collect();
            nodes.sort_by(|a, b| a.name().cmp(b.name()));
            let is_yaml = matches!(arguments.output, Form::Yaml);
            write_nodes(streams.out, &nodes, is_yaml)?;
        }
    }
    Ok(Ended::Well)
}

/// Writes nodes one by one: all of them at once would be many times as large as the design.
fn write_nodes(out: &mut dyn Write, nodes: &[&Arc<Node>], is_yaml: bool) -> io::Result<()> {
    if nodes.is_empty() {
        return writeln!(out, "{}", if is_yaml { "nodes: {}" } else { "{\n  \"nodes\": {}\n}" });
    }
    writeln!(out, "{}", if is_yaml { "nodes:" } else { "{\n  \"nodes\": {" })?;
    for (index, node) in nodes.iter().enumerate() {
        let printed = provenance::node_json(node);
        if is_yaml {
            let text = krm::encode::to_yaml(&serde_json::json!({ node.name(): printed }));
            text.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
            continue;
        }
        let text = format!("{printed:#}").replace('\n', "\n    ");
        let comma = if index + 1 < nodes.len() { "," } else { "" };
        writeln!(out, "    {}: {text}{comma}", serde_json::Value::from(node.name()))?;
    }
    if is_yaml { Ok(()) } else { writeln!(out, "  }}\n}}") }
}

/// Prints why the design does not compile.
pub(crate) fn refused(compiled: &Compiled, streams: &mut Streams<'_>) -> Ended {
    for outcome in compiled.design.outcomes.iter().filter(|outcome| !outcome.is_accepted()) {
        for problem in outcome.problems.iter().filter(|problem| problem.fault.refuses()) {
            streams.note(format_args!("{problem} ({})", outcome.document));
        }
    }
    if let Outcome::Refused(refusals) = &compiled.outcome {
        refusals.iter().for_each(|refusal| streams.note(refusal));
    }
    Ended::NotWell
}
