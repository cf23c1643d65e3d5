//! `groundplane events`: what has happened lately.

use std::io::Write;

use serde_json::{Value, json};

use super::describe;
use crate::client::Ask;
use crate::commands::found;
use crate::failure::Failure;
use crate::print::{self, Output};
use crate::session::Session;

/// Show what has happened lately, the newest last.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Only what happened to this object.
    #[arg(long = "for", value_name = "TYPE/NAME")]
    about: Option<String>,

    /// Only events of these types: Normal, Warning.
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    types: Vec<String>,

    /// Of all namespaces.
    #[arg(long, short = 'A')]
    all_namespaces: bool,

    /// The form: json, yaml, name, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORM")]
    output: Option<String>,

    /// No line of headings.
    #[arg(long)]
    no_headers: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane events
  groundplane events --types=Warning -A
  groundplane events --for rack/fra1-a01
  groundplane get events -w                     as they come";

/// Prints them.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let output = Output::parse(arguments.output.as_deref(), arguments.no_headers)?;
    let namespace = session.namespace().await?;
    let path = match arguments.all_namespaces {
        true => "/api/v1/events".to_owned(),
        false => format!("/api/v1/namespaces/{}/events", crate::client::segment(&namespace)),
    };
    let mut ask = Ask::get(path);
    if let Some(about) = &arguments.about {
        if !about.contains('/') {
            return Err(Failure::usage("--for must be in resource/name form"));
        }
        for place in found::named(std::slice::from_ref(about), session).await? {
            let selector =
                format!("involvedObject.kind={},involvedObject.name={}", place.resource.kind, place.name);
            ask = ask.query("fieldSelector", selector);
        }
    }
    let mut found = session.client().await?.value(&ask).await?;
    let mut events = found["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let is_wanted = |event: &Value| {
        let own = event["type"].as_str().unwrap_or("");
        arguments.types.is_empty() || arguments.types.iter().any(|wanted| wanted.eq_ignore_ascii_case(own))
    };
    events.retain(is_wanted);
    events.sort_by_key(|event| last_seen(event).to_owned());
    if !output.is_table() {
        let list =
            json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": events});
        return output.print(&mut session.console.out, &list);
    }
    if events.is_empty() {
        session.console.say(&match arguments.all_namespaces {
            true => "No events found.".to_owned(),
            false => format!("No events found in {namespace} namespace."),
        });
        return Ok(());
    }
    let mut text = String::new();
    if !arguments.no_headers {
        text += if arguments.all_namespaces { "NAMESPACE\t" } else { "" };
        text += "LAST SEEN\tTYPE\tREASON\tOBJECT\tMESSAGE\n";
    }
    for event in &events {
        let part = |field: &str| event[field].as_str().unwrap_or("");
        let object = &event["involvedObject"];
        if arguments.all_namespaces {
            text += &format!("{}\t", event["metadata"]["namespace"].as_str().unwrap_or(""));
        }
        text += &format!(
            "{}\t{}\t{}\t{}/{}\t{}\n",
            describe::when(event),
            part("type"),
            part("reason"),
            object["kind"].as_str().unwrap_or(""),
            object["name"].as_str().unwrap_or(""),
            part("message").trim().replace(['\n', '\t', '\u{1b}'], " ")
        );
    }
    let whole = if arguments.all_namespaces { 2 } else { 1 };
    let text = print::fitted(&text, session.console.table_width(), whole);
    session.console.out.write_all(text.as_bytes())?;
    Ok(())
}

fn last_seen(event: &Value) -> &str {
    let times = [&event["series"]["lastObservedTime"], &event["lastTimestamp"], &event["eventTime"]];
    times.into_iter().find_map(Value::as_str).unwrap_or("")
}
