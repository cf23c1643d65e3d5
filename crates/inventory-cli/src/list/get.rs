//! `groundplane inventory get KIND`: a list by the name of its kind, in any of its spellings.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use cli::{Failure, Session};

use super::{Arguments as ListArguments, common, filter};

/// What was asked for.
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
            .about("List objects of a kind, with that kind's filters")
            .after_help(EXAMPLES)
            .arg(
                Arg::new("kind")
                    .value_name("KIND")
                    .required(true)
                    .help("The kind, singular or plural, in any case; also vm, vms, nd."),
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
                .hint(format!("{} are filtered by: {own}", listed.plural)));
        }
    }
    super::run(ListArguments::read(listed, listed.filters, &arguments.matches), session).await
}
