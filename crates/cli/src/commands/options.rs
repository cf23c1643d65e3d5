//! `groundplane options`: the options that all commands take.

use std::io::Write;

use crate::failure::Failure;
use crate::session::Session;

/// Show the options that every command takes.
#[derive(clap::Args, Debug)]
pub struct Arguments {}

/// Prints them.
pub async fn run(_: Arguments, session: &mut Session) -> Result<(), Failure> {
    writeln!(session.console.out, "The following options can be given to every command:\n")?;
    for (flag, help) in crate::docs::global_options(&session.root) {
        writeln!(session.console.out, "  {flag}\n      {help}\n")?;
    }
    Ok(())
}
