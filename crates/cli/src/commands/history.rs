//! `groundplane history`: who changed an object, when, and why.

use std::io::Write;

use client::HistoryOptions;
use serde_json::Value;

use super::get::{TABLE_ACCEPT, headed, now};
use crate::commands::found;
use crate::failure::Failure;
use crate::print::{self, Output, Table, TableOptions};
use crate::session::Session;

/// List the revisions of an object: who changed what, when and why.
///
/// The history of a deleted object is kept, too, up to the retention period of the server.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE NAME or TYPE/NAME
    #[arg(value_name = "TYPE NAME | TYPE/NAME", required = true)]
    words: Vec<String>,

    /// Show the changed fields of each revision, with old and new values.
    #[arg(long)]
    diff: bool,

    /// Show one revision: its changes, and the object after it.
    #[arg(long, value_name = "REVISION", conflicts_with = "diff")]
    revision: Option<String>,

    /// Number of revisions to list, newest first; 0 for all.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    limit: usize,

    /// Output format: wide, json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,

    /// Print no headers.
    #[arg(long)]
    no_headers: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane history namespace default
  groundplane history namespace default --diff --limit 3
  groundplane get namespace default --as-of 1h -o yaml    an earlier state";

/// Shows the history of each object that is named.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let output = Output::parse(arguments.output.as_deref(), arguments.no_headers)?;
    let places = found::named(&arguments.words, session).await?;
    for place in &places {
        let path = place.path();
        if let Some(revision) = &arguments.revision {
            one(&path, revision, &output, session).await?;
            continue;
        }
        let is_table = output.is_table() && !arguments.diff;
        let found = list(&path, &arguments, is_table, session).await?;
        if is_table {
            let table = found.iter().fold(Table::default(), |mut all, page| {
                all.append(Table::read(page, now()));
                all
            });
            let options = TableOptions {
                wide: matches!(output, Output::Table { wide: true }),
                no_headers: arguments.no_headers,
                width: session.console.table_width(),
                ..TableOptions::default()
            };
            let text = table.print(None, &options, &mut Vec::new());
            let text = headed(&session.console, &text, arguments.no_headers);
            session.console.out.write_all(text.as_bytes())?;
            continue;
        }
        let mut items = Vec::new();
        let mut first = Value::Null;
        for mut page in found {
            items.extend(page["items"].as_array_mut().map(std::mem::take).unwrap_or_default());
            if first.is_null() {
                first = page;
            }
        }
        if output.is_table() {
            for revision in &items {
                tell(revision, session)?;
            }
        } else {
            first["items"] = Value::Array(items);
            if let Some(metadata) = first["metadata"].as_object_mut() {
                metadata.remove("continue");
            }
            output.print(&mut session.console.out, &first)?;
        }
    }
    Ok(())
}

async fn list(
    path: &str,
    arguments: &Arguments,
    is_table: bool,
    session: &mut Session,
) -> Result<Vec<Value>, Failure> {
    let client = session.client().await?;
    let options = HistoryOptions {
        diff: arguments.diff,
        limit: (arguments.limit > 0).then_some(arguments.limit),
        accept: is_table.then(|| TABLE_ACCEPT.to_owned()),
    };
    let pages = client.inner().history(path, &options).await;
    pages.map_err(|error| Failure::from(error).without("history"))
}

async fn one(path: &str, revision: &str, output: &Output, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let mut found = client.inner().revision(path, revision).await?;
    print::without_managed_fields(&mut found["object"]);
    match output.is_table() {
        false => output.print(&mut session.console.out, &found),
        true => tell(&found, session),
    }
}

/// A revision in words, with what it changed.
fn tell(revision: &Value, session: &mut Session) -> Result<(), Failure> {
    let text = |field: &str| revision[field].as_str().unwrap_or("");
    let head = format!("revision {}", text("revision"));
    let head = session.console.painted("\u{1b}[1m", &head);
    let by = match text("manager") {
        "" => String::new(),
        manager => format!(" with {manager}"),
    };
    writeln!(session.console.out, "{head}  {}  {} by {}{by}", text("time"), text("verb"), text("user"))?;
    if !text("message").is_empty() {
        writeln!(session.console.out, "    \"{}\"", text("message"))?;
    }
    let lines = print::diff_lines(&revision["diff"], &session.console);
    for line in lines {
        writeln!(session.console.out, "    {line}")?;
    }
    writeln!(session.console.out)?;
    Ok(())
}
