//! `groundplane search`: objects by anything one knows of them.

use std::io::Write;

use super::get::{TABLE_ACCEPT, headed, now};
use crate::client::Ask;
use crate::failure::Failure;
use crate::print::{Output, Table, TableOptions};
use crate::session::Session;

/// Search objects by name, label, serial, MAC or IP address.
///
/// An object matches if it has all words: in its name, labels, or in the fields that its type declares as searchable, such
/// as serial number and asset tag. MAC addresses match in any notation. An IP address also finds the prefixes that contain
/// it. Results include only objects that you are allowed to read.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Words to search for.
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,

    /// Search objects of this type. Can be repeated.
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    types: Vec<String>,

    /// Number of results, up to 500.
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,

    /// Output format: wide, json, yaml, name, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,

    /// Print no headers.
    #[arg(long)]
    no_headers: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane search rack-7
  groundplane search aabb.cc00.1122              a MAC address, in any notation
  groundplane search 10.1.2.3                    an address, and its prefixes
  groundplane search app=web -t configmaps -n default";

/// Searches.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let output = Output::parse(arguments.output.as_deref(), arguments.no_headers)?;
    let discovery = session.discovery().await?;
    let quoted = |word: &String| if word.contains(' ') { format!("\"{word}\"") } else { word.clone() };
    let words: Vec<String> = arguments.words.iter().map(quoted).collect();
    let mut ask = Ask::get("/apis/groundplane.dev/v1alpha1/search")
        .query("q", words.join(" "))
        .query("limit", arguments.limit.to_string())
        .query_if("namespace", session.asked_namespace().await?);
    for word in &arguments.types {
        ask = ask.query("resource", discovery.resource(word)?.full_name());
    }
    let is_table = output.is_table();
    if is_table {
        ask = ask.accept(TABLE_ACCEPT);
    }
    let found = session.client().await?.value(&ask).await.map_err(|failure| failure.without("search"))?;
    if !is_table {
        let mut found = found;
        // Names are printed by what objects are called everywhere else.
        if matches!(output, Output::Name) {
            for item in found["items"].as_array_mut().into_iter().flatten() {
                item["metadata"] = serde_json::json!({"name": item["name"]});
            }
        }
        return output.print(&mut session.console.out, &found);
    }
    let table = Table::read(&found, now());
    let is_incomplete = found["incomplete"] == true;
    if table.rows.is_empty() {
        session.console.say(match is_incomplete {
            true => "no objects found among those that you may read",
            false => "no objects found",
        });
        return Ok(());
    }
    let options = TableOptions {
        wide: matches!(output, Output::Table { wide: true }),
        no_headers: arguments.no_headers,
        width: session.console.table_width(),
        ..TableOptions::default()
    };
    let text = headed(&session.console, &table.print(None, &options, &mut Vec::new()), arguments.no_headers);
    session.console.out.write_all(text.as_bytes())?;
    if found["truncated"] == true
        || found["metadata"]["remainingItemCount"].as_u64().is_some_and(|more| more > 0)
    {
        session.console.say("there are more results; add a word, or raise --limit");
    }
    if is_incomplete {
        session.console.say("incomplete: you may not read everything that was searched");
    }
    Ok(())
}
