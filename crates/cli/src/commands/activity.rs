//! `groundplane activity`: a feed of changes, one sentence each.

mod follow;

use std::io::Write;

use krm::table::age;
use krm::time::Moment;
use serde_json::{Value, json};

use super::get::{headed, now};
use crate::client::Ask;
use crate::failure::Failure;
use crate::flags;
use crate::print::{Output, Table, TableOptions};
use crate::session::Session;

/// Show who changed what, one sentence per change, newest first.
///
/// Includes changes of objects that you are allowed to read. Times are durations before now (30m, 2h, 7d, 2w), dates
/// (2026-11-10, midnight UTC) or RFC 3339 (2026-11-10T09:00:00Z).
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE, TYPE NAME or TYPE/NAME
    #[arg(value_name = "TYPE [NAME]")]
    words: Vec<String>,

    /// Start: a duration before now, a date or a time.
    #[arg(long, value_name = "TIME", default_value = "24h")]
    since: String,

    /// End: a duration before now, a date or a time.
    #[arg(long, value_name = "TIME", default_value = "now", conflicts_with = "follow")]
    until: String,

    /// Changes of this user.
    #[arg(long, value_name = "USER")]
    actor: Option<String>,

    /// Changes of this kind.
    #[arg(long, value_name = "VERB", value_parser = ["create", "update", "delete"])]
    verb: Option<String>,

    /// Sentences with these words.
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,

    /// Changes made by people (human) or by controllers (system).
    #[arg(long, value_name = "SOURCE", value_parser = ["human", "system"])]
    source: Option<String>,

    /// CEL expression, such as spec.resource.kind in ['Rack', 'Node'].
    #[arg(long, value_name = "EXPRESSION")]
    filter: Option<String>,

    /// Number of changes; 0 for all.
    #[arg(long, value_name = "NUMBER", default_value_t = 25)]
    limit: usize,

    /// Print new changes as they happen.
    #[arg(long, short = 'f')]
    follow: bool,

    /// Output format: wide, json, yaml, name, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,

    /// Print no headers.
    #[arg(long)]
    no_headers: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane activity                           the last 24 hours
  groundplane activity --since 7d --actor alice
  groundplane activity nodes --verb delete --since 2w
  groundplane activity namespace default -o wide
  groundplane activity --follow                  until Ctrl-C";

const QUERIES: &str = "/apis/activity.miloapis.com/v1alpha1/activityqueries";
/// How many one request gives.
const MOST_AT_ONCE: usize = 1000;

/// What is asked for, as a query has it.
struct Asked {
    spec: Value,
    /// What is said of the kind: group and kind.
    kind: Option<(String, String)>,
}

/// Tells activities.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let output = Output::parse(arguments.output.as_deref(), arguments.no_headers)?;
    let asked = asked(&arguments, session).await?;
    if arguments.follow {
        return follow::run(&arguments, &asked, &output, session).await;
    }
    let (found, more) = query(&asked, arguments.limit, session).await?;
    if !output.is_table() {
        let list = json!({
            "apiVersion": "activity.miloapis.com/v1alpha1", "kind": "ActivityList", "metadata": {}, "items": found,
        });
        return output.print(&mut session.console.out, &list);
    }
    if found.is_empty() {
        session.console.say("no changes found in that time that you are allowed to read");
        return Ok(());
    }
    let options = TableOptions {
        wide: matches!(output, Output::Table { wide: true }),
        no_headers: arguments.no_headers,
        width: session.console.width.filter(|_| session.console.out_is_terminal),
        ..TableOptions::default()
    };
    let text = table(&found).print(None, &options, &mut Vec::new());
    let text = headed(&session.console, &text, arguments.no_headers);
    session.console.out.write_all(text.as_bytes())?;
    if more {
        session.console.say("there are more changes; raise --limit, or set --until");
    }
    Ok(())
}

/// Reads what the flags ask for.
async fn asked(arguments: &Arguments, session: &mut Session) -> Result<Asked, Failure> {
    let mut spec = json!({ "startTime": time("--since", &arguments.since)?, "endTime": time("--until", &arguments.until)? });
    let given = [
        ("actorName", &arguments.actor),
        ("verb", &arguments.verb),
        ("search", &arguments.search),
        ("changeSource", &arguments.source),
    ];
    for (field, value) in given {
        if let Some(value) = value {
            spec[field] = value.as_str().into();
        }
    }
    let mut filter: Vec<String> = arguments.filter.iter().cloned().collect();
    let mut kind = None;
    if let Some(first) = arguments.words.first() {
        let (word, named) = match first.split_once('/') {
            Some((word, named)) => (word.to_owned(), Some(named.to_owned())),
            None => (first.clone(), arguments.words.get(1).cloned()),
        };
        if arguments.words.len() > 2 || (first.contains('/') && arguments.words.len() > 1) {
            return Err(Failure::usage("name one type or one object: TYPE, TYPE NAME or TYPE/NAME"));
        }
        let resource = session.discovery().await?.resource(&word)?.clone();
        spec["resourceKind"] = resource.kind.as_str().into();
        if !resource.group.is_empty() {
            spec["apiGroup"] = resource.group.as_str().into();
        }
        if let Some(named) = &named {
            // Texts of names hold no quotes.
            let equal = format!("spec.resource.name == '{}'", named.replace(['\'', '\\'], ""));
            // What was given keeps its place in what the server says of it, as far as that goes.
            filter = filter.into_iter().map(|given| format!("({given})")).collect();
            filter.push(equal);
        }
        kind = Some((resource.group.clone(), resource.kind.clone()));
    }
    if let Some(namespace) = session.asked_namespace().await? {
        spec["namespace"] = namespace.into();
    }
    if !filter.is_empty() {
        spec["filter"] = filter.join(" && ").into();
    }
    Ok(Asked { spec, kind })
}

/// A time as queries take it: `now`, `now-2h`, or RFC 3339.
fn time(flag: &str, text: &str) -> Result<String, Failure> {
    if text == "now" || text.starts_with("now-") {
        return Ok(text.to_owned());
    }
    let is_revision = text.chars().all(|c| c.is_ascii_digit());
    flags::moment(text).ok().filter(|_| !is_revision).ok_or_else(|| {
        Failure::usage(format!("{flag}: \"{text}\" is not a time"))
            .hint("write a duration ago (30m, 2h, 7d), a date (2026-11-10), or a time (2026-11-10T09:00:00Z)")
    })
}

/// Asks for as many as are wanted, page by page; and whether there are more.
async fn query(asked: &Asked, limit: usize, session: &mut Session) -> Result<(Vec<Value>, bool), Failure> {
    let client = session.client().await?;
    let wanted = if limit == 0 { usize::MAX } else { limit };
    let mut spec = asked.spec.clone();
    let mut found = Vec::new();
    loop {
        spec["limit"] = (wanted - found.len()).min(MOST_AT_ONCE).into();
        let body = json!({ "apiVersion": "activity.miloapis.com/v1alpha1", "kind": "ActivityQuery", "metadata": {}, "spec": spec });
        let ask = Ask::new(http::Method::POST, QUERIES).json(&body);
        let mut page = client.value(&ask).await.map_err(in_words_of_flags)?;
        found.extend(page["status"]["results"].as_array_mut().map(std::mem::take).unwrap_or_default());
        let next = page["status"]["continue"].as_str().unwrap_or_default().to_owned();
        if next.is_empty() || found.len() >= wanted {
            return Ok((found, !next.is_empty()));
        }
        spec["continue"] = next.into();
    }
}

/// A field that the server refuses was given as a flag.
fn in_words_of_flags(failure: Failure) -> Failure {
    let causes = failure.refusal().and_then(|refusal| refusal.status["details"]["causes"].as_array());
    let told = causes.into_iter().flatten().find_map(|cause| {
        let flag = match cause["field"].as_str()? {
            "spec.startTime" => "--since",
            "spec.endTime" => "--until",
            "spec.filter" => "--filter",
            _ => return None,
        };
        Some(format!("{flag}: {}", cause["message"].as_str()?))
    });
    told.map_or_else(|| failure.without("activities"), Failure::usage)
}

/// Activities as a table.
fn table(found: &[Value]) -> Table {
    let column = |name: &str, priority: i64| json!({ "name": name, "type": "string", "format": "", "description": "", "priority": priority });
    let columns = [
        column("Age", 0),
        column("Actor", 1),
        column("Verb", 1),
        column("Kind", 1),
        column("Namespace", 1),
        column("Name", 1),
        column("Revision", 1),
        column("Summary", 0),
    ];
    let now = now();
    let rows: Vec<Value> = found
        .iter()
        .map(|activity| {
            let (spec, metadata) = (&activity["spec"], &activity["metadata"]);
            let made = metadata["creationTimestamp"].as_str().and_then(|text| Moment::parse(text).ok());
            let made = made.map_or_else(|| "<unknown>".to_owned(), |made| age(made, now));
            let verb = metadata["labels"]["activity.miloapis.com/verb"].as_str().unwrap_or_default();
            json!({
                "cells": [
                    made, spec["actor"]["name"], verb, spec["resource"]["kind"],
                    spec["resource"]["namespace"].as_str().unwrap_or_default(), spec["resource"]["name"],
                    metadata["resourceVersion"], spec["summary"],
                ],
                "object": null,
            })
        })
        .collect();
    Table::read(&json!({ "kind": "Table", "columnDefinitions": columns, "rows": rows }), now)
}
