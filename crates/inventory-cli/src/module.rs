//! The commands of the inventory as a command module.

use std::ffi::OsString;

use clap::{ArgMatches, Args as _, FromArgMatches as _};
use cli::{CommandModule, Console, Global};

use crate::{Arguments, plugin};

/// `groundplane inventory`, and the plugin `datumctl-inventory`.
pub struct Commands;

impl CommandModule for Commands {
    fn command(&self) -> clap::Command {
        Arguments::augment_args(clap::Command::new("inventory"))
    }

    fn run(&self, typed: &ArgMatches, global: Global, root: clap::Command) -> u8 {
        let arguments = Arguments::from_arg_matches(typed).unwrap_or_else(|error| error.exit());
        cli::run_with(global, Console::of_process(), root, async move |session| {
            crate::run(arguments, session).await
        })
    }

    fn run_as_plugin(&self, words: &[OsString]) -> Option<u8> {
        plugin::PLUGIN.is_called(words).then(|| plugin::run(words.to_vec(), Console::of_process()))
    }
}
