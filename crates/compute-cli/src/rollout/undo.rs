//! `compute rollout undo`: brings an earlier revision of a workload back, as a new one.

use cli::{Ask, Failure, Session};
use http::Method;
use serde_json::{Value, json};

use super::history::{revisions, spec};
use crate::api::{Compute, path};
use crate::deploy::{self, Wait};
use crate::gate::confirmed;
use crate::text::number;

/// Bring an earlier revision back, as a new one. History is only ever added to.
///
/// The whole specification returns: image, environment, placements, numbers. What it changes is shown before it is done.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane compute rollout undo web\n  groundplane compute rollout undo web --to-revision 7 --yes"
)]
pub struct Arguments {
    /// Name of the workload.
    #[arg(value_name = "WORKLOAD")]
    name: String,

    /// Number of the revision, as "rollout history" lists it; 0 for the one before the last.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    to_revision: i64,

    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,

    /// Do not ask.
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    wait: Wait,
}

/// Takes a rollout back.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    arguments.wait.limit()?;
    let name = &arguments.name;
    let workload = compute.workload(name).await?;
    let active = number(&workload, "/metadata/generation");
    let target = target(&workload, active, arguments, compute).await?;
    let Some(spec) = spec(&workload, target, compute).await? else {
        let command = compute.program.command(&format!("rollout history {name}"));
        return Err(Failure::other(format!("revision #{target} not found; run '{command}'")));
    };
    let mut after = workload.clone();
    after["spec"] = spec;
    for text in deploy::diff_lines(Some(&workload), &after) {
        session.console.say(&format!("  {text}"));
    }
    if arguments.dry_run {
        return Ok(());
    }
    if !arguments.yes && session.console.can_ask && !confirmed("Apply? (Y/n): ", true, session) {
        session.console.say("Aborted.");
        return Ok(());
    }
    session.console.say(&format!("Creating revision #{} (copy of #{target})...", active + 1));
    let body = json!({
        "apiVersion": "groundplane.dev/v1alpha1", "kind": "UndoOptions",
        "toGeneration": target, "message": format!("rollback to rev #{target}"),
    });
    let ask = Ask::new(Method::POST, format!("{}/undo", path("workloads", name))).json(&body);
    let written = compute.client().value(&ask).await?;
    arguments.wait.follow(&written, compute, session).await
}

/// The revision that is meant.
async fn target(
    workload: &Value,
    active: i64,
    arguments: &Arguments,
    compute: &Compute,
) -> Result<i64, Failure> {
    if arguments.to_revision == active {
        return Err(Failure::other(format!("workload is already at revision #{active}")));
    }
    if arguments.to_revision != 0 {
        return Ok(arguments.to_revision);
    }
    let known = revisions(workload, 2, false, compute).await?;
    if known.is_empty() {
        return Err(Failure::other(format!(
            "no revision history for workload {:?}; cannot undo",
            arguments.name
        )));
    }
    let before = known.iter().map(|one| number(one, "/revision")).find(|number| *number < active);
    before.ok_or_else(|| Failure::other("no previous revision to roll back to"))
}
