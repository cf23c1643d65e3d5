//! `groundplane inventory get KIND`: the list of a kind, by any of its names.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use cli::{Failure, Session};

use super::{Arguments as ListArguments, common, filter};

/// The arguments of the command.
#[derive(Debug)]
pub struct Arguments {
    kind: String,
    matches: ArgMatches,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory get node --site fra1
  groundplane inventory get rack fra1-a01 -o yaml
  groundplane inventory get nd -o wide
  groundplane inventory get vms --host fra1-a01-node02";

impl Args for Arguments {
    fn augment_args(command: Command) -> Command {
        command
            .about("List objects of a kind; accepts the filters of that kind")
            .after_help(EXAMPLES)
            .arg(
                Arg::new("kind")
                    .value_name("KIND")
                    .required(true)
                    .help("Kind, singular or plural, ignoring case. Short names: vm, vms, nd."),
            )
            .args(filter::ALL.iter().map(|filter| filter.flag()))
            .args(common())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Arguments::augment_args(command)
    }
}

impl FromArgMatches for Arguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Arguments, clap::Error> {
        let kind = matches.get_one::<String>("kind").cloned().unwrap_or_default();
        Ok(Arguments { kind, matches: matches.clone() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Arguments::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Prints the list.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let listed = super::kinds::named(&arguments.kind)?;
    for filter in filter::ALL.iter().filter(|filter| !listed.filters.contains(filter)) {
        if arguments.matches.get_one::<String>(filter.name()).is_some() {
            let own: Vec<String> = listed.filters.iter().map(|own| format!("--{}", own.name())).collect();
            let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
            return Err(Failure::usage(format!("unknown flag: --{}", filter.name()))
                .hint(format!("filters of {}: {own}", listed.plural)));
        }
    }
    super::run(ListArguments::read(listed, listed.filters, &arguments.matches), session).await
}
