//! The commands as command modules, one for each name.

use clap::{ArgMatches, Args as _, FromArgMatches as _};
use cli::{CommandModule, Console, Global};

use crate::{cluster, dns, edit, host, hub};

/// `groundplane host`.
pub struct Hosts;
/// `groundplane hub`.
pub struct Hubs;
/// `groundplane cluster`.
pub struct Clusters;
/// `groundplane dns`.
pub struct Zones;

macro_rules! command {
    ($module:ident, $commands:ident, $name:literal) => {
        impl CommandModule for $module {
            fn command(&self) -> clap::Command {
                $commands::Arguments::augment_args(clap::Command::new($name))
            }

            fn run(&self, typed: &ArgMatches, global: Global, root: clap::Command) -> u8 {
                let arguments =
                    $commands::Arguments::from_arg_matches(typed).unwrap_or_else(|error| error.exit());
                // An editor is that of `groundplane edit`.
                if let Some(words) = arguments.edits() {
                    return edit::run(words, global, root);
                }
                cli::run_with(global, Console::of_process(), root, async move |session| {
                    $commands::run(arguments, session).await
                })
            }
        }
    };
}

command!(Hosts, host, "host");
command!(Hubs, hub, "hub");
command!(Clusters, cluster, "cluster");
command!(Zones, dns, "dns");
