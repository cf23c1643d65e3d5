//! `compute rollout history`: the revisions of a workload, as the server keeps them.

use cli::{Ask, Failure, Session};
use serde_json::{Value, json};

use crate::api::{Compute, name, path};
use crate::output::{self, Flags, line, row};
use crate::text::{NOTHING, age, at, list, number, or_nothing};

/// Revisions that are shown unless more are asked for.
const SHOWN: usize = 20;

/// List the revisions of a workload: when, what changed, by whom.
///
/// Every change of a workload is a revision, made by any user with any tool. "rollout undo" brings one back.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane compute rollout history web\n  groundplane compute rollout history web --diff --limit 3"
)]
pub struct Arguments {
    /// Name of the workload.
    #[arg(value_name = "WORKLOAD")]
    name: String,

    /// Show every changed field with its old and new value.
    #[arg(long)]
    diff: bool,

    /// Number of revisions to list, newest first, 1 to 500.
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN)]
    limit: usize,

    #[command(flatten)]
    output: Flags,
}

/// Lists revisions.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let workload = compute.workload(&arguments.name).await?;
    let revisions = revisions(&workload, arguments.limit, arguments.diff, compute).await?;
    if !arguments.output.output.is_for_people() {
        let names: Vec<String> = revisions.iter().map(|one| number(one, "/revision").to_string()).collect();
        let names = names.iter().map(String::as_str);
        return output::machine(arguments.output.output, &json!(revisions), names, session);
    }
    if revisions.is_empty() {
        return line(&format!("No revision history found for workload {:?}.", arguments.name), session);
    }
    if arguments.diff {
        return differences(&revisions, session);
    }
    let mut rows = vec![row(["REV", "WHEN", "IMAGE", "CHANGES", "BY", "STATUS"])];
    for revision in &revisions {
        rows.push(row([
            &format!("#{}", number(revision, "/revision")),
            &format!("{} ago", age(at(revision, "/time"))),
            at(revision, "/image"),
            changes(revision),
            &or_nothing(at(revision, "/user")),
            if revision["active"] == true { "active" } else { NOTHING },
        ]));
    }
    output::table(&rows, arguments.output.no_headers, session)
}

fn differences(revisions: &[Value], session: &mut Session) -> Result<(), Failure> {
    for revision in revisions {
        line(
            &format!(
                "#{}  {} ago  {}  {}",
                number(revision, "/revision"),
                age(at(revision, "/time")),
                at(revision, "/user"),
                changes(revision)
            ),
            session,
        )?;
        for one in list(revision, "/diff") {
            let (before, after) = (shown(&one["before"]), shown(&one["after"]));
            line(&format!("  {}: {before} → {after}", at(one, "/path")), session)?;
        }
    }
    Ok(())
}

/// What somebody said of a revision, or else what it changed.
fn changes(revision: &Value) -> &str {
    match at(revision, "/message") {
        "" => at(revision, "/changes"),
        message => message,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The last revisions of a workload, newest first.
pub async fn revisions(
    workload: &Value,
    limit: usize,
    with_diff: bool,
    compute: &Compute,
) -> Result<Vec<Value>, Failure> {
    let ask = Ask::get(format!("{}/rollout-history", path("workloads", name(workload))))
        .query("limit", limit.to_string())
        .query_if("diff", with_diff.then_some("true"));
    let mut answer = compute.client().value(&ask).await?;
    Ok(answer["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
}

/// The specification in a revision; nothing if there is no such revision.
pub async fn spec(workload: &Value, revision: i64, compute: &Compute) -> Result<Option<Value>, Failure> {
    let ask = Ask::get(format!("{}/rollout-history", path("workloads", name(workload))))
        .query("revision", revision.to_string());
    match compute.client().value(&ask).await {
        Ok(mut answer) => Ok(Some(answer["spec"].take())),
        Err(failure) if failure.is_not_found() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// When the specification was last changed.
pub async fn last_change(workload: &Value, compute: &Compute) -> Result<String, Failure> {
    let last = revisions(workload, 1, false, compute).await?.into_iter().next();
    let time = last.as_ref().map(|one| at(one, "/time")).filter(|time| !time.is_empty());
    Ok(time.unwrap_or(at(workload, "/metadata/creationTimestamp")).to_owned())
}
