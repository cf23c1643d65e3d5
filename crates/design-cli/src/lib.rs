//! The commands under `groundplane design`: they read a site from files, and need no server; without files they ask one.
//!
//! One file per command, named as it is typed. Every command takes the streams it writes to, and answers with what the shell
//! shall see: 0 when all is well, 1 when the design is not, 2 when it could not be looked at.

mod check_hardware;
mod compile;
mod diff;
mod documents;
mod effective;
mod elsewhere;
mod explain;
mod hardware_files;
mod import;
mod outcome;
mod pages;
mod promote;
mod rollback;
mod server;
mod sources;
mod validate;

pub use outcome::{Ended, Streams};

use clap::{Args, Subcommand};

/// Arguments of `groundplane design`.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print what a site comes to: every node with all that it inherits.
    Compile(compile::Arguments),
    /// Say what is wrong with a site, with file and line.
    Validate(validate::Arguments),
    /// Print one node or host profile, and who set each of its values.
    Effective(effective::Arguments),
    /// Say which nodes differ between two states of a site, and in what.
    Diff(diff::Arguments),
    /// List the documents of a site, of any kind, by what they hold.
    Documents(documents::Arguments),
    /// Bring a site: onto the server in one commit, or rendered into three folders.
    Import(import::Arguments),
    /// Keep the documents on the server as a revision, and put it in force.
    Promote(promote::Arguments),
    /// Put an earlier revision in force again.
    Rollback(rollback::Arguments),
    /// Compare machines as they were built with the site as it was designed.
    CheckHardware(check_hardware::Arguments),
    /// Print the page about a code that `validate` told.
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
