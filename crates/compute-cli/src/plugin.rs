//! The datumctl plugin `datumctl-compute`: the same commands under another program name.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser};
use cli::{Console, Global, Plugin};

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: "compute",
    description: "Deploy and manage containerized workloads on Datum Cloud",
    is_of_project: true,
};

/// Deploy and manage containerized workloads.
#[derive(Parser)]
#[command(name = "compute", bin_name = "datumctl compute", version, about)]
struct Whole {
    #[command(flatten)]
    global: Global,

    #[command(flatten)]
    arguments: crate::Arguments,
}

/// Runs as the plugin and returns the exit code.
pub fn run(words: Vec<OsString>, console: Console) -> u8 {
    if Plugin::asks_for_manifest(&words) {
        return PLUGIN.manifest(console);
    }
    let root = Whole::command();
    let words = cli::plain_booleans(&root, words);
    let matches = root.clone().get_matches_from(words);
    let whole = Whole::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let mut global = whole.global;
    cli::run_with(global.clone(), console, root, async move |session| {
        PLUGIN.in_context(&mut global)?;
        session.global = global;
        crate::run(whole.arguments, session).await
    })
}
