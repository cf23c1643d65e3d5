//! `groundplane design explain`: the page about a code.

use clap::Args;
use design::validate::codes;

use crate::{
    outcome::{Ended, Streams, Trouble},
    pages,
};

#[derive(Args)]
#[command(after_help = "Examples:\n  groundplane design explain DD2003")]
pub(crate) struct Arguments {
    /// The code, such as GP2005; without one all are listed.
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
            "there is no code {asked}; `groundplane design explain` lists all"
        )));
    };
    write!(streams.out, "{page}")?;
    Ok(Ended::Well)
}
