//! The commands as command modules, one for each name.

use clap::{ArgMatches, Args as _, FromArgMatches as _};
use cli::{CommandModule, Console, Global};

use crate::{node, task, why};

/// `groundplane task`.
pub struct Tasks;
/// `groundplane node`.
pub struct Nodes;
/// `groundplane why`.
pub struct Why;

macro_rules! command {
    ($module:ident, $commands:ident, $name:literal) => {
        impl CommandModule for $module {
            fn command(&self) -> clap::Command {
                $commands::Arguments::augment_args(clap::Command::new($name))
            }

            fn run(&self, typed: &ArgMatches, global: Global, root: clap::Command) -> u8 {
                let arguments =
                    $commands::Arguments::from_arg_matches(typed).unwrap_or_else(|error| error.exit());
                cli::run_with(global, Console::of_process(), root, async move |session| {
                    $commands::run(arguments, session).await
                })
            }
        }
    };
}

command!(Tasks, task, "task");
command!(Nodes, node, "node");
command!(Why, why, "why");
