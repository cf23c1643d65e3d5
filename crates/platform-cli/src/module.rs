//! The commands as command modules, one for each name.

use clap::{ArgMatches, Args as _, FromArgMatches as _};
use cli::{CommandModule, Console, Global};

use crate::{access, locations, quota, services};

/// `groundplane quota`.
pub struct Quota;
/// `groundplane access`.
pub struct Access;
/// `groundplane services`.
pub struct Services;
/// `groundplane locations`.
pub struct Locations;

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

command!(Quota, quota, "quota");
command!(Access, access, "access");
command!(Services, services, "services");
command!(Locations, locations, "locations");
