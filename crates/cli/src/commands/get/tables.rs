//! Tables: what `get` prints for people.

use std::io::Write;

use krm::time::Moment;

use super::Query;
use crate::client::{Ask, Client};
use crate::commands::selection;
use crate::discovery::Resource;
use crate::failure::Failure;
use crate::locate::Target;
use crate::print::Table;
use crate::session::Session;

pub const ACCEPT: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,\
    application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

/// Prints a table for each type; what can't be had is told at the end.
pub async fn run(query: &Query, targets: &[Target], session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let mut tables: Vec<(Resource, Table)> = Vec::new();
    let mut failures = Vec::new();
    for target in targets {
        match fetch(&client, &ask(query, target), query.arguments.chunk_size, target.name.is_none()).await {
            Err(failure) if query.arguments.ignore_not_found && failure.is_not_found() => {}
            Err(failure) if target.name.is_none() => {
                failures.push(selection::told(failure, &target.resource, &query.arguments.selection));
            }
            Err(failure) => failures.push(failure),
            Ok((table, _)) => match tables.last_mut() {
                Some((resource, last)) if *resource == target.resource => last.append(table),
                _ => tables.push((target.resource.clone(), table)),
            },
        }
    }
    let has_several = tables.iter().any(|(resource, _)| *resource != tables[0].0);
    let mut has_printed = false;
    for (resource, table) in &mut tables {
        if table.rows.is_empty() {
            continue;
        }
        if let Some(sort) = &query.sort {
            sort.sort(&mut table.rows, |row| &row.object)?;
        }
        let width = session.console.table_width();
        let options = query.table_options(resource, has_several, width);
        let text = table.print(Some(resource), &options, &mut Vec::new());
        if std::mem::replace(&mut has_printed, true) && !options.no_headers {
            writeln!(session.console.out)?;
        }
        let text = headed(&session.console, &text, options.no_headers);
        session.console.out.write_all(text.as_bytes())?;
    }
    if !has_printed && failures.is_empty() && !query.arguments.ignore_not_found {
        let in_namespace = targets.iter().all(|target| target.resource.is_namespaced);
        let line = match query.namespace.as_deref().filter(|_| in_namespace) {
            Some(namespace) => format!("No resources found in {namespace} namespace."),
            None => "No resources found".to_owned(),
        };
        session.console.say(&line);
    }
    Failure::all(failures)
}

/// The line of headings stands out on a terminal.
pub fn headed(console: &crate::Console, text: &str, no_headers: bool) -> String {
    match text.split_once('\n') {
        Some((head, rest)) if !no_headers && console.out_is_terminal => {
            format!("{}\n{rest}", console.painted("\u{1b}[1m", head))
        }
        _ => text.to_owned(),
    }
}

/// The request for a table.
pub fn ask(query: &Query, target: &Target) -> Ask {
    let ask = query.ask(target).accept(ACCEPT);
    // Any field can be what the rows are put in order by.
    if query.sort.is_some() { ask.query("includeObject", "Object") } else { ask }
}

/// Fetches a table, page by page, and the version it is of.
pub async fn fetch(
    client: &Client,
    ask: &Ask,
    chunk: u32,
    is_list: bool,
) -> Result<(Table, String), Failure> {
    let now = now();
    if !is_list {
        let found = client.value(ask).await?;
        let version = found["metadata"]["resourceVersion"].as_str().unwrap_or("").to_owned();
        return Ok((Table::read(&found, now), version));
    }
    let mut table = Table::default();
    let version = selection::pages(client, ask, chunk, |page| {
        table.append(Table::read(&page, now));
        Ok(())
    })
    .await?;
    Ok((table, version))
}

/// The present moment.
pub fn now() -> Moment {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Moment { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanoseconds: since.subsec_nanos() }
}
