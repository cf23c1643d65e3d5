//! The commands of designs as a command module.

use std::io::{self, BufWriter, Write as _};

use clap::{ArgMatches, Args as _, FromArgMatches as _};
use cli::{CommandModule, Global};

use crate::{Arguments, Streams};

/// `groundplane design`.
pub struct Commands;

impl CommandModule for Commands {
    fn command(&self) -> clap::Command {
        Arguments::augment_args(clap::Command::new("design"))
    }

    /// The commands write much and are done: what they write is gathered, and flushed at the end.
    fn run(&self, typed: &ArgMatches, global: Global, _: clap::Command) -> u8 {
        let arguments = Arguments::from_arg_matches(typed).unwrap_or_else(|error| error.exit());
        let (mut out, mut err) = (BufWriter::new(io::stdout()), io::stderr());
        let ended = crate::run(&arguments, &mut Streams::new(&mut out, &mut err, global));
        // Whoever does not listen any more has seen enough.
        let _ = out.flush();
        ended.exit_code()
    }
}
