//! `groundplane referrers`: who points at an object.

use std::io::Write;

use serde_json::json;

use crate::commands::found;
use crate::failure::Failure;
use crate::names;
use crate::print::{self, Output};
use crate::session::Session;

/// List the objects that refer to an object.
///
/// References that block the deletion of the object are marked.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane referrers namespace default\n  groundplane referrers namespace/default -o json"
)]
pub struct Arguments {
    /// TYPE NAME or TYPE/NAME
    #[arg(value_name = "TYPE NAME | TYPE/NAME", required = true)]
    words: Vec<String>,

    /// Output format: json, yaml, name, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,

    /// Print no headers.
    #[arg(long)]
    no_headers: bool,
}

/// Prints them.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let output = Output::parse(arguments.output.as_deref(), arguments.no_headers)?;
    let client = session.client().await?;
    for place in found::named(&arguments.words, session).await? {
        let found = client.inner().referrers(&place.path()).await?;
        if matches!(output, Output::Json | Output::Yaml | Output::JsonPath(_) | Output::JsonPathAsJson(_)) {
            output.print(&mut session.console.out, &found)?;
            continue;
        }
        let items = found["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        // Projects may refer to objects of the root.
        let has_projects = items.iter().any(|item| item["project"].is_string());
        let mut text = match (arguments.no_headers, has_projects) {
            (true, _) => String::new(),
            (false, true) => "PROJECT\tNAMESPACE\tNAME\tFIELD\tBLOCKS DELETION\n".to_owned(),
            (false, false) => "NAMESPACE\tNAME\tFIELD\tBLOCKS DELETION\n".to_owned(),
        };
        for item in items {
            let part = |field: &str| item[field].as_str().unwrap_or("");
            let object = json!({"apiVersion": part("apiVersion"), "kind": part("kind"), "metadata": {"name": part("name")}});
            let name = names::of_object(&object);
            match output {
                Output::Name => writeln!(session.console.out, "{name}")?,
                _ => {
                    let blocks = item["blocksDeletion"] == true;
                    if has_projects {
                        text += &format!("{}\t", part("project"));
                    }
                    text += &format!("{}\t{name}\t{}\t{blocks}\n", part("namespace"), part("fieldPath"));
                }
            }
        }
        let is_incomplete = found["incomplete"] == true;
        if items.is_empty() {
            let object = if is_incomplete { "object that you may read" } else { "object" };
            session.console.say(&format!("no {object} refers to {}", place.shown()));
        } else if output.is_table() {
            let text = print::fitted(&text, session.console.table_width());
            session.console.out.write_all(text.as_bytes())?;
        }
        if is_incomplete {
            session.console.say("incomplete: objects that you may not read refer to it too");
        }
    }
    Ok(())
}
