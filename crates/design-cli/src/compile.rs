//! `groundplane design compile`: the effective settings of every node.

use clap::{Args, ValueEnum};
use design::{
    compile::{Compiled, Outcome, compile, unparsable_as_drydock_json},
    document::LoadError,
    provenance,
};

use crate::{
    hardware_files::HardwareFiles,
    outcome::{Ended, Streams, Trouble},
    server::Secrecy,
    sources::{Read, Sources},
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
    let Read { documents, writers } = match arguments.sources.read_with(secrecy, streams) {
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
                provenance::write_node(streams.out, node, &writers)?;
            }
        }
        Form::Json | Form::Yaml => {
            let nodes = compiled.site().into_iter().flat_map(|site| &site.nodes);
            let printed: serde_json::Value =
                nodes.map(|node| (node.name().to_owned(), provenance::node_json(node, &writers))).collect();
            let printed = serde_json::json!({ "nodes": printed });
            match arguments.output {
                Form::Yaml => write!(streams.out, "{}", krm::encode::to_yaml(&printed))?,
                _ => writeln!(streams.out, "{printed:#}")?,
            }
        }
    }
    Ok(Ended::Well)
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
