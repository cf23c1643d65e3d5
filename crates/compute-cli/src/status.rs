//! `compute status`: a workload at a glance, with what keeps it from being well.

use cli::{Failure, Session};
use compute::shown::{self, DeploymentPhase};
use serde_json::{Value, json};

use crate::api::{Compute, city, name};
use crate::output::{self, Flags, laid_out, line, row};
use crate::rollout::history;
use crate::text::{age, at, counted, images, instance_type, list, number};
use crate::watch::sentence;

/// Show a workload at a glance: its health, every city, and what is wrong there.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane compute status web\n  groundplane compute status web -o json"
)]
pub struct Arguments {
    /// Name of the workload.
    #[arg(value_name = "WORKLOAD")]
    name: String,

    #[command(flatten)]
    output: Flags,
}

/// Shows a workload.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let workload = compute.workload(&arguments.name).await?;
    let deployments = compute.deployments(Some(&workload)).await?;
    let (health, text) = shown::health(&workload["status"]);
    if !arguments.output.output.is_for_people() {
        let answer = json!({"name": arguments.name, "project": compute.project, "health": health.word(),
            "message": text, "workload": workload, "deployments": deployments});
        return output::machine(
            arguments.output.output,
            &answer,
            [arguments.name.as_str()].into_iter(),
            session,
        );
    }
    heading(&workload, compute, session).await?;
    line(&format!("Health       {text}\n"), session)?;
    if deployments.is_empty() {
        line("  No placements configured.", session)?;
        return Ok(());
    }
    line(cities(&workload, &deployments).trim_end(), session)?;
    for deployment in &deployments {
        if let Some(trouble) = trouble(deployment) {
            line(&format!("  {}: {trouble}", city(deployment)), session)?;
        }
    }
    let steps = next_steps(&workload, &deployments, compute);
    if !steps.is_empty() {
        line("\n  Next steps:", session)?;
        let rows: Vec<Vec<String>> =
            steps.into_iter().map(|(what, command)| row([&format!("    {what}:"), &command])).collect();
        line(laid_out(&rows, 3).trim_end(), session)?;
    }
    Ok(())
}

async fn heading(workload: &Value, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let spec = &workload["spec"]["template"]["spec"];
    let image = match images(spec).first() {
        Some(image) => (*image).to_owned(),
        None => "(virtual machine)".to_owned(),
    };
    let revision = number(workload, "/metadata/generation");
    let updated = history::last_change(workload, compute).await?;
    line(&format!("Workload     {:<32}project: {}", name(workload), compute.project), session)?;
    line(&format!("Image        {image}"), session)?;
    line(&format!("Updated      {:<32}Revision #{revision}\n", format!("{} ago", age(&updated))), session)
}

/// A table of cities below their placements.
fn cities(workload: &Value, deployments: &[Value]) -> String {
    let size = instance_type(&workload["spec"]["template"]["spec"]);
    let mut rows = vec![row(["", "CITY", "READY", "DESIRED", "TYPE", ""])];
    let mut before = "";
    for deployment in deployments {
        let placement = at(deployment, "/spec/placementName");
        let (ready, desired) =
            (number(deployment, "/status/readyReplicas"), number(deployment, "/status/desiredReplicas"));
        let mark = if ready < desired { "[degraded]" } else { "" };
        let shown = if placement == before { "" } else { placement };
        before = placement;
        rows.push(row([
            &format!("  {shown}"),
            city(deployment),
            &format!("{ready}/{desired}"),
            &desired.to_string(),
            size,
            mark,
        ]));
    }
    laid_out(&rows, 3)
}

/// What is wrong in a city, in a sentence.
fn trouble(deployment: &Value) -> Option<String> {
    let missing = number(deployment, "/status/desiredReplicas") - number(deployment, "/status/readyReplicas");
    if let (DeploymentPhase::Blocked, Some((reason, message))) = shown::deployment(deployment) {
        return Some(format!(
            "{} could not start: {}",
            counted(missing.max(1), "instance"),
            sentence(&reason, &message)
        ));
    }
    if missing <= 0 {
        return None;
    }
    let condition = list(deployment, "/status/conditions")
        .find(|one| one["type"] == "Available" && one["status"] != "True")
        .map(|one| at(one, "/message"))
        .filter(|message| !message.is_empty());
    Some(match condition {
        Some(message) => format!("{} not ready: {message}", counted(missing, "instance")),
        None => format!("{} starting", counted(missing, "instance")),
    })
}

fn next_steps(workload: &Value, deployments: &[Value], compute: &Compute) -> Vec<(&'static str, String)> {
    let blocked: Vec<String> = deployments
        .iter()
        .filter_map(|deployment| shown::deployment(deployment).1.map(|(reason, _)| reason))
        .collect();
    let name = name(workload);
    let command = |words: String| compute.program.command(&words);
    let mut steps = Vec::new();
    if blocked.iter().any(|reason| reason.starts_with("Quota")) {
        steps.push(("Check quota", command("quota".to_owned())));
    } else if !blocked.is_empty() {
        steps.push(("Roll back", command(format!("rollout undo {name}"))));
    }
    let (health, _) = shown::health(&workload["status"]);
    if health != shown::Health::Available {
        steps.push(("View instances", command(format!("instances --workload {name}"))));
    }
    steps
}
