//! `groundplane options`: the options that all commands take.

use std::io::Write;

use crate::failure::Failure;
use crate::session::Session;
use crate::wrap::wrapped;

/// List the global options.
#[derive(clap::Args, Debug)]
pub struct Arguments {}

/// Prints them.
pub async fn run(_: Arguments, session: &mut Session) -> Result<(), Failure> {
    writeln!(session.console.out, "The following options can be passed to any command:\n")?;
    let width = session.console.table_width().unwrap_or(80).min(100);
    for (flag, help) in crate::docs::global_options(&session.root) {
        let help = wrapped("      ", &help, 6, width);
        writeln!(session.console.out, "  {flag}\n{help}")?;
    }
    Ok(())
}
