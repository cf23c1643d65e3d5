//! The command module trait: the commands of a subject, beside its module in the server.

use std::ffi::OsString;

use clap::ArgMatches;

use crate::Global;

/// The commands of a subject, under one name. The program has one list of them.
pub trait CommandModule {
    /// The command that they are under.
    fn command(&self) -> clap::Command;

    /// Runs what was typed after the command, and returns the exit code. `root` is the whole command line.
    fn run(&self, typed: &ArgMatches, global: Global, root: clap::Command) -> u8;

    /// Runs as another program if these words, the first of which is the program's name, call that one, and returns the
    /// exit code.
    fn run_as_plugin(&self, words: &[OsString]) -> Option<u8> {
        let _ = words;
        None
    }
}
