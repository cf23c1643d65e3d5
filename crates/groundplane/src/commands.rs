//! The commands of the subjects: the twin of [`crate::modules`].

use std::ffi::OsString;

use clap::{ArgMatches, FromArgMatches, Subcommand};
use cli::{CommandModule, Global};

/// All of them.
fn all() -> Vec<Box<dyn CommandModule>> {
    vec![
        Box::new(compute_cli::Commands),
        Box::new(design_cli::Commands),
        Box::new(inventory_cli::Commands),
        Box::new(fulfillment_cli::Hosts),
        Box::new(fulfillment_cli::Hubs),
        Box::new(fulfillment_cli::Clusters),
        Box::new(fulfillment_cli::Zones),
        Box::new(sources_cli::Sources),
        Box::new(sources_cli::Sync),
        Box::new(orchestrator_cli::Tasks),
        Box::new(orchestrator_cli::Nodes),
        Box::new(orchestrator_cli::Why),
        Box::new(platform_cli::Quota),
        Box::new(platform_cli::Access),
        Box::new(platform_cli::Services),
        Box::new(platform_cli::Locations),
        Box::new(portal_cli::Commands),
    ]
}

/// Runs as another program if the words call one, and returns the exit code.
pub fn run_as_plugin(words: &[OsString]) -> Option<u8> {
    all().iter().find_map(|module| module.run_as_plugin(words))
}

/// A command of a subject, as it was typed.
pub struct Typed {
    module: Box<dyn CommandModule>,
    matches: ArgMatches,
}

impl Typed {
    /// Runs it, and returns the exit code. `root` is the whole command line.
    pub fn run(&self, global: Global, root: clap::Command) -> u8 {
        self.module.run(&self.matches, global, root)
    }
}

impl FromArgMatches for Typed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Typed, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let module = all().into_iter().find(|module| module.command().get_name() == name);
        Ok(Typed { module: module.ok_or_else(missing)?, matches: matches.clone() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Typed::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Typed {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        command.subcommands(all().iter().map(|module| module.command()))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Typed::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        all().iter().any(|module| module.command().get_name() == name)
    }
}
