//! `get --watch`: what is there, and then what changes.

use std::io::Write;

use serde_json::Value;

use super::{Query, tables};
use crate::client::{Ask, Client};
use crate::failure::{Failure, Refusal};
use crate::locate::Target;
use crate::print::{Output, Table};
use crate::session::Session;

/// Shows objects and goes on to show their changes, until it is interrupted or the server says no.
pub async fn run(query: &Query, targets: &[Target], session: &mut Session) -> Result<(), Failure> {
    let [target] = targets else {
        return Err(Failure::usage(
            "watch is only supported on individual resources and resource collections",
        )
        .hint("name one type, and at most one object"));
    };
    let client = session.client().await?;
    let mut shown = Shown { query, target, widths: Vec::new(), columns: None };
    let mut version = match query.output.is_table() {
        true => {
            let is_list = target.name.is_none();
            let (table, version) =
                tables::fetch(&client, &tables::ask(query, target), query.arguments.chunk_size, is_list)
                    .await?;
            let version = match table.rows.first().filter(|_| !is_list) {
                Some(row) => row.object["metadata"]["resourceVersion"].as_str().unwrap_or("").to_owned(),
                None => version,
            };
            if !query.arguments.watch_only && !table.rows.is_empty() {
                shown.table("ADDED", table, session)?;
            }
            version
        }
        false => first(query, target, &client, &mut shown, session).await?,
    };
    let limit = session.global.timeout()?;
    loop {
        let resumed = follow(query, target, &client, &mut version, &mut shown, session, limit).await?;
        if !resumed || limit.is_some() {
            return Ok(());
        }
    }
}

async fn first(
    query: &Query,
    target: &Target,
    client: &Client,
    shown: &mut Shown<'_>,
    session: &mut Session,
) -> Result<String, Failure> {
    let mut found = client.value(&query.ask(target)).await?;
    let version = found["metadata"]["resourceVersion"].as_str().unwrap_or("").to_owned();
    let objects = match target.name {
        Some(_) => vec![found],
        None => crate::commands::selection::items(&mut found),
    };
    for object in objects.into_iter().filter(|_| !query.arguments.watch_only) {
        shown.object("ADDED", object, session)?;
    }
    Ok(version)
}

/// Follows changes from a version on; false when the server refuses to go on from there.
async fn follow(
    query: &Query,
    target: &Target,
    client: &Client,
    version: &mut String,
    shown: &mut Shown<'_>,
    session: &mut Session,
    limit: Option<std::time::Duration>,
) -> Result<bool, Failure> {
    let collection = target.resource.collection(query.namespace.as_deref());
    let mut ask = match &target.name {
        None => query.arguments.selection.on(Ask::get(collection)),
        Some(name) => Ask::get(collection).query("fieldSelector", format!("metadata.name={name}")),
    };
    if query.output.is_table() {
        ask = ask.accept(tables::ACCEPT);
    }
    ask = ask
        .query("watch", "true")
        .query("resourceVersion", version.clone())
        .query("allowWatchBookmarks", "true")
        .query_if("timeoutSeconds", limit.map(|limit| limit.as_secs().max(1).to_string()));
    let mut lines = client.lines(&ask).await?;
    session.console.flush()?;
    while let Some(mut event) = lines.next().await? {
        let kind = event["type"].as_str().unwrap_or("").to_owned();
        let object = event["object"].take();
        match kind.as_str() {
            "ERROR" => return Err(Failure::Server(Box::new(Refusal { status: object, during: None }))),
            "BOOKMARK" => {
                let seen = match object["kind"] == "Table" {
                    true => &object["rows"][0]["object"]["metadata"]["resourceVersion"],
                    false => &object["metadata"]["resourceVersion"],
                };
                if let Some(seen) = seen.as_str() {
                    seen.clone_into(version);
                }
            }
            kind => {
                if object["kind"] == "Table" && query.output.is_table() {
                    let table = Table::read(&object, tables::now());
                    if let Some(seen) =
                        table.rows.last().and_then(|row| row.object["metadata"]["resourceVersion"].as_str())
                    {
                        seen.clone_into(version);
                    }
                    shown.table(kind, table, session)?;
                } else {
                    if let Some(seen) = object["metadata"]["resourceVersion"].as_str() {
                        seen.clone_into(version);
                    }
                    shown.object(kind, object, session)?;
                }
            }
        }
        session.console.flush()?;
    }
    Ok(true)
}

/// What has been shown already.
struct Shown<'a> {
    query: &'a Query,
    target: &'a Target,
    widths: Vec<usize>,
    columns: Option<Table>,
}

impl Shown<'_> {
    fn table(&mut self, event: &str, table: Table, session: &mut Session) -> Result<(), Failure> {
        let mut options = self.query.table_options(&self.target.resource, false, None);
        let table = match &self.columns {
            Some(before) => table.with_columns_of(before),
            None => table,
        };
        options.no_headers |= self.columns.is_some();
        if self.query.arguments.output_watch_events {
            // As wide as the longest of them, so that later lines stand below.
            options.first = Some(("EVENT   ".to_owned(), format!("{event:<8}")));
        }
        let text = table.print(Some(&self.target.resource), &options, &mut self.widths);
        session.console.out.write_all(text.as_bytes())?;
        self.columns.get_or_insert(table);
        Ok(())
    }

    fn object(&mut self, event: &str, mut object: Value, session: &mut Session) -> Result<(), Failure> {
        if !self.query.arguments.show_managed_fields {
            crate::print::without_managed_fields(&mut object);
        }
        let out = &mut session.console.out;
        let with_event = self.query.arguments.output_watch_events;
        if self.columns.is_none() && matches!(self.query.output, Output::Yaml) {
            self.columns = Some(Table::default());
        } else if matches!(self.query.output, Output::Yaml) {
            writeln!(out, "---")?;
        }
        if with_event && matches!(self.query.output, Output::Json | Output::Yaml) {
            return self.query.output.print(out, &serde_json::json!({"object": object, "type": event}));
        }
        if with_event {
            write!(out, "{event:<10} ")?;
        }
        self.query.output.print(out, &object)
    }
}
