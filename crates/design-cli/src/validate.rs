//! `groundplane design validate`: reports errors and warnings of a design.

use clap::{Args, ValueEnum};
use design::{
    compile::compile,
    user_kinds::UserKinds,
    validate::{Diagnostic, Severity, diagnose},
};
use serde_json::json;

use crate::{
    hardware_files::HardwareFiles,
    outcome::{Ended, Streams, Trouble},
    sources::Sources,
};

#[derive(Args)]
#[command(after_help = "Exit code: 0 without errors, 1 with errors, 2 if the files cannot be read.\n\
    See `groundplane design explain CODE` for the documentation of a finding.\n\n\
    Examples:\n  groundplane design validate site/\n  groundplane design validate treasuremap --site airsloop --strict\n  groundplane design validate -n airsloop")]
pub(crate) struct Arguments {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    hardware: HardwareFiles,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,
    /// Print errors only.
    #[arg(short, long)]
    quiet: bool,
    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Text: `file:line:column: severity[CODE]: message`.
    Text,
    /// JSON.
    Json,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let documents = arguments.sources.read(streams)?;
    let lshw = arguments.hardware.read(&documents)?;
    let compiled = compile(&documents, &lshw).validated();
    let mut told = diagnose(&compiled);
    told.extend(UserKinds::of(&documents).check(&documents));
    let count = |severity| told.iter().filter(|one| one.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    match arguments.output {
        Form::Text => {
            for one in told.iter().filter(|one| !arguments.quiet || one.severity == Severity::Error) {
                writeln!(streams.out, "{one}")?;
            }
            writeln!(streams.out, "{}, {}", counted(errors, "error"), counted(warnings, "warning"))?;
        }
        Form::Json => {
            let printed = json!({
                "errors": errors,
                "warnings": warnings,
                "findings": told.iter().map(Diagnostic::to_json).collect::<Vec<_>>(),
            });
            writeln!(streams.out, "{printed:#}")?;
        }
    }
    Ok(Ended::well_if(errors == 0 && (warnings == 0 || !arguments.strict)))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
