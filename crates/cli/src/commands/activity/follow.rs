//! Activities as they happen, one to a line.

use std::collections::HashSet;
use std::io::Write;

use serde_json::Value;

use super::{Arguments, Asked, query};
use crate::client::Ask;
use crate::failure::{Failure, Refusal};
use crate::print::Output;
use crate::session::Session;

const ACTIVITIES: &str = "/apis/activity.miloapis.com/v1alpha1/activities";

/// Tells what was done lately, then what is done, until somebody ends it.
pub(super) async fn run(
    arguments: &Arguments,
    asked: &Asked,
    output: &Output,
    session: &mut Session,
) -> Result<(), Failure> {
    if !matches!(output, Output::Table { .. } | Output::Json) {
        return Err(Failure::usage("--follow supports the default format and -o json"));
    }
    let client = session.client().await?;
    let list = client.value(&Ask::get(ACTIVITIES).query("limit", "1")).await;
    let list = list.map_err(|failure| failure.without("activities"))?;
    let mut version = list["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
    let (mut found, _) = query(asked, arguments.limit, session).await?;
    found.reverse();
    let mut told = HashSet::new();
    for activity in &found {
        tell(activity, &mut told, output, session)?;
    }
    session.console.flush()?;
    loop {
        let ask = Ask::get(ACTIVITIES)
            .query("watch", "true")
            .query("resourceVersion", version.clone())
            .query("allowWatchBookmarks", "true")
            .query_if("fieldSelector", selector(arguments, asked))
            .query_if("filter", asked.spec["filter"].as_str().map(str::to_owned))
            .query_if("search", arguments.search.clone())
            .query_if("verb", arguments.verb.clone());
        let mut lines = client.lines(&ask).await?;
        while let Some(mut event) = lines.next().await? {
            let object = event["object"].take();
            if event["type"] == "ERROR" {
                return Err(Failure::Server(Box::new(Refusal { status: object, during: None })));
            }
            if let Some(seen) = object["metadata"]["resourceVersion"].as_str() {
                seen.clone_into(&mut version);
            }
            if event["type"] == "ADDED" && fits(&object, asked) {
                tell(&object, &mut told, output, session)?;
                session.console.flush()?;
            }
        }
    }
}

/// What the server selects by.
fn selector(arguments: &Arguments, asked: &Asked) -> Option<String> {
    let mut terms = Vec::new();
    let escaped = |text: &str| text.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
    if let Some((group, kind)) = &asked.kind {
        terms.push(format!("spec.resource.kind={}", escaped(kind)));
        if !group.is_empty() {
            terms.push(format!("spec.resource.apiGroup={}", escaped(group)));
        }
    }
    for (field, value) in [("spec.actor.name", &arguments.actor), ("spec.changeSource", &arguments.source)] {
        terms.extend(value.iter().map(|value| format!("{field}={}", escaped(value))));
    }
    (!terms.is_empty()).then(|| terms.join(","))
}

/// Whether an activity is asked for, by what the server does not select by.
fn fits(activity: &Value, asked: &Asked) -> bool {
    asked.spec["namespace"].as_str().is_none_or(|asked| activity["spec"]["resource"]["namespace"] == asked)
}

/// One line; what was told already is not told again.
fn tell(
    activity: &Value,
    told: &mut HashSet<String>,
    output: &Output,
    session: &mut Session,
) -> Result<(), Failure> {
    let metadata = &activity["metadata"];
    if !told.insert(metadata["name"].as_str().unwrap_or_default().to_owned()) {
        return Ok(());
    }
    if matches!(output, Output::Json) {
        writeln!(session.console.out, "{activity}")?;
        return Ok(());
    }
    let time = metadata["creationTimestamp"].as_str().unwrap_or_default();
    let line = format!("{time}  {}", activity["spec"]["summary"].as_str().unwrap_or_default());
    let width = session.console.width.filter(|_| session.console.out_is_terminal).unwrap_or(usize::MAX);
    let line = match line.char_indices().nth(width.saturating_sub(1)) {
        Some((end, _)) if line.chars().count() > width => format!("{}…", &line[..end]),
        _ => line,
    };
    writeln!(session.console.out, "{line}")?;
    Ok(())
}
