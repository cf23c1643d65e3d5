//! The commands under `groundplane design`. They read a design from files without a server, or from a server without files.
//!
//! One file per command. Exit codes: 0 for success, 1 for a design with errors or differences, 2 if the command failed.

mod check_hardware;
mod compile;
mod diff;
mod documents;
mod effective;
mod elsewhere;
mod explain;
mod hardware_files;
mod import;
mod module;
mod outcome;
mod pages;
mod promote;
mod rollback;
mod server;
mod sources;
mod validate;

pub use module::Commands;
pub use outcome::{Ended, Streams};

use clap::{Args, Subcommand};

/// Compile, validate, compare and promote site designs.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile a site design and print the effective settings of every node.
    Compile(compile::Arguments),
    /// Validate a site design; report errors and warnings with file and line.
    Validate(validate::Arguments),
    /// Print the effective settings of a node or host profile, and which document set each.
    Effective(effective::Arguments),
    /// Compare two states of a design node by node.
    Diff(diff::Arguments),
    /// List the documents of a design, filtered by kind, name and values.
    Documents(documents::Arguments),
    /// Import a design into the server in one commit, or render it into a directory.
    Import(import::Arguments),
    /// Create a revision of the documents on the server and activate it.
    Promote(promote::Arguments),
    /// Activate an earlier revision.
    Rollback(rollback::Arguments),
    /// Compare the hardware of machines with the design.
    CheckHardware(check_hardware::Arguments),
    /// Explain a finding code of "validate".
    Explain(explain::Arguments),
}

/// Runs one command.
pub fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Ended {
    let ended = match &arguments.command {
        Command::Compile(arguments) => compile::run(arguments, streams),
        Command::Validate(arguments) => validate::run(arguments, streams),
        Command::Effective(arguments) => effective::run(arguments, streams),
        Command::Diff(arguments) => diff::run(arguments, streams),
        Command::Documents(arguments) => documents::run(arguments, streams),
        Command::Import(arguments) => import::run(arguments, streams),
        Command::Promote(arguments) => promote::run(arguments, streams),
        Command::Rollback(arguments) => rollback::run(arguments, streams),
        Command::CheckHardware(arguments) => check_hardware::run(arguments, streams),
        Command::Explain(arguments) => explain::run(arguments, streams),
    };
    ended.unwrap_or_else(|trouble| streams.trouble(&trouble))
}
