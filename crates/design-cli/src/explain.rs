//! `groundplane design explain`: documentation of a finding code.

use clap::Args;
use design::validate::codes;

use crate::{
    outcome::{Ended, Streams, Trouble},
    pages,
};

#[derive(Args)]
#[command(after_help = "Examples:\n  groundplane design explain\n  groundplane design explain GP2003")]
pub(crate) struct Arguments {
    /// Code, such as GP2005. Without it, all codes are listed.
    code: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let Some(asked) = &arguments.code else {
        for code in codes() {
            writeln!(streams.out, "{}  {}", code.code, code.title)?;
        }
        return Ok(Ended::Well);
    };
    let asked = asked.to_ascii_uppercase();
    let page = pages::PAGES.iter().find(|(code, _)| *code == asked);
    let Some((_, page)) = page else {
        return Err(Trouble::Asked(format!(
            "unknown code {asked}; list all codes with `groundplane design explain`"
        )));
    };
    write!(streams.out, "{page}")?;
    Ok(Ended::Well)
}
