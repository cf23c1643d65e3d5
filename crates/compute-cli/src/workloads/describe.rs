//! `compute workloads describe`: all of one workload.

use cli::{Failure, Session};
use compute::shown::{self, DeploymentPhase};
use serde_json::{Value, json};

use crate::api::{Compute, city, name};
use crate::deploy::places;
use crate::output::{self, Flags, laid_out, line, row};
use crate::rollout::history;
use crate::text::{age, at, environment, instance_type, list, number, ports, runtime};
use crate::watch::sentence;

/// Describe a workload: health, placements with their cities, containers, and what to do next.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane compute workloads describe web\n  groundplane compute workloads describe web -o yaml"
)]
pub struct Arguments {
    /// Name of the workload.
    #[arg(value_name = "WORKLOAD")]
    name: String,

    #[command(flatten)]
    output: Flags,
}

/// Describes a workload.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let workload = compute.workload(&arguments.name).await?;
    let deployments = compute.deployments(Some(&workload)).await?;
    if !arguments.output.output.is_for_people() {
        let answer = json!({"workload": workload, "deployments": deployments});
        return output::machine(
            arguments.output.output,
            &answer,
            [arguments.name.as_str()].into_iter(),
            session,
        );
    }
    let spec = &workload["spec"]["template"]["spec"];
    let updated = history::last_change(&workload, compute).await?;
    line(&format!("Workload     {:<32}project: {}", name(&workload), compute.project), session)?;
    line(&format!("Type         {}/{}", runtime(spec), instance_type(spec)), session)?;
    line(&format!("Updated      {} ago\n", age(&updated)), session)?;
    line(&format!("Health       {}\n", shown::health(&workload["status"]).1), session)?;
    placements(&workload, &deployments, session)?;
    for container in list(spec, "/runtime/sandbox/containers") {
        describe_container(container, spec, session)?;
    }
    line("\nNext steps:", session)?;
    let name = name(&workload);
    let command = |words: String| compute.program.command(&words);
    let steps = [
        row(["  List instances:", &command(format!("instances --workload {name}"))]),
        row(["  See revisions:", &command(format!("rollout history {name}"))]),
        row(["  Roll back:", &command(format!("rollout undo {name}"))]),
    ];
    line(laid_out(&steps, 3).trim_end(), session)
}

fn placements(workload: &Value, deployments: &[Value], session: &mut Session) -> Result<(), Failure> {
    line("Placements", session)?;
    let mut is_empty = true;
    for placement in list(workload, "/spec/placements") {
        is_empty = false;
        let scale = &placement["scaleSettings"];
        let most = scale["maxReplicas"].as_i64().map_or_else(String::new, |most| format!("..{most}"));
        let scale = format!("scale: {}{most}", number(scale, "/minReplicas"));
        let name = at(placement, "/name");
        line(
            &format!(
                "  {name:<10} {:<34} {scale}",
                places(placement).replace('=', ": ").replace(['[', ']'], "")
            ),
            session,
        )?;
        for deployment in deployments.iter().filter(|one| at(one, "/spec/placementName") == name) {
            let ready = format!(
                "ready: {}/{}",
                number(deployment, "/status/readyReplicas"),
                number(deployment, "/status/desiredReplicas")
            );
            let blocked = match shown::deployment(deployment) {
                (DeploymentPhase::Blocked, Some((reason, message))) => {
                    format!("Blocked — {}", sentence(&reason, &message))
                }
                _ => String::new(),
            };
            line(&format!("    {:<8} {ready:<18} {blocked}", city(deployment)), session)?;
        }
    }
    match is_empty {
        true => line("  (none configured — workload will not run anywhere)", session),
        false => Ok(()),
    }
}

fn describe_container(container: &Value, spec: &Value, session: &mut Session) -> Result<(), Failure> {
    line(&format!("\nContainer {}", at(container, "/name")), session)?;
    line(&format!("  Image      {}", at(container, "/image")), session)?;
    let ports = ports(&json!({"runtime": {"sandbox": {"containers": [container]}}}));
    if !ports.is_empty() {
        line(&format!("  Ports      {}", ports.join(", ")), session)?;
    }
    let variables = environment(container);
    if !variables.is_empty() {
        line("  Env", session)?;
        for (name, value) in variables {
            line(&format!("    {name:<20} {value}"), session)?;
        }
    }
    for attachment in list(container, "/volumeAttachments") {
        line(
            &format!("  Mounts     {} at {}", at(attachment, "/name"), at(attachment, "/mountPath")),
            session,
        )?;
    }
    line(&format!("  Resources  {}", instance_type(spec)), session)
}
