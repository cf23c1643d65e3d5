//! `groundplane history`: who changed an object, when, and why.

use std::io::Write;

use serde_json::Value;

use super::get::{TABLE_ACCEPT, headed, now};
use crate::client::Ask;
use crate::commands::found;
use crate::failure::Failure;
use crate::print::{self, Output, Table, TableOptions};
use crate::session::Session;

/// Show the revisions of an object: who changed it, when, why, and what.
///
/// Deleted objects have a history too, for as long as it is kept.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE NAME or TYPE/NAME
    #[arg(value_name = "TYPE NAME | TYPE/NAME", required = true)]
    words: Vec<String>,

    /// What each revision changed, with the values before and after.
    #[arg(long)]
    diff: bool,

    /// One revision: what it changed, and the whole object after it.
    #[arg(long, value_name = "REVISION", conflicts_with = "diff")]
    revision: Option<String>,

    /// At most so many revisions, the newest first; 0 for all.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    limit: usize,

    /// The form: wide, json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORM")]
    output: Option<String>,

    /// No line of headings.
    #[arg(long)]
    no_headers: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane history kettle whistler -n kitchen
  groundplane history kettle whistler --diff --limit 3
  groundplane history kettle whistler --revision 458752 -o yaml
  groundplane get kettle whistler --as-of 458752          the object as it was then";

/// How many revisions one request gives.
const MOST_AT_ONCE: usize = 1000;

/// Shows the history of each object that is named.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let output = Output::parse(arguments.output.as_deref(), arguments.no_headers)?;
    let places = found::named(&arguments.words, session).await?;
    for place in &places {
        let path = format!("{}/history", place.path());
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
    let wanted = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let (mut pages, mut count, mut resume) = (Vec::new(), 0, None::<String>);
    loop {
        let mut ask = Ask::get(path)
            .query("limit", (wanted - count).min(MOST_AT_ONCE).to_string())
            .query_if("diff", arguments.diff.then_some("true"))
            .query_if("continue", resume.clone());
        if is_table {
            ask = ask.accept(TABLE_ACCEPT);
        }
        let page = client.value(&ask).await.map_err(|failure| failure.without("history to read"))?;
        count += page["items"].as_array().or(page["rows"].as_array()).map_or(0, Vec::len);
        resume = page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()).map(str::to_owned);
        pages.push(page);
        if resume.is_none() || count >= wanted {
            return Ok(pages);
        }
    }
}

async fn one(path: &str, revision: &str, output: &Output, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let mut found = client.value(&Ask::get(path).query("revision", revision)).await?;
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
