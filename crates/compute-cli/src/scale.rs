//! `compute scale`: changes the number of instances.

use cli::{Failure, Session};
use serde_json::Value;

use crate::api::Compute;
use crate::deploy::{Scale, Wait};
use crate::text::{at, counted, list, number};

/// Change the number of instances in every city, or between which bounds autoscaling chooses it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of the workload.
    #[arg(value_name = "WORKLOAD")]
    name: String,

    /// Instances in each city; with autoscaling, the least number.
    #[arg(long, value_name = "NUMBER")]
    min: Option<i32>,

    /// Most instances that autoscaling starts in each city; 0 ends autoscaling.
    #[arg(long, value_name = "NUMBER")]
    max: Option<i32>,

    /// CPU usage that autoscaling keeps, in percent of what an instance has; 0 removes it.
    #[arg(long, value_name = "PERCENT")]
    cpu_percent: Option<i32>,

    /// Only this placement. Defaults to all.
    #[arg(long, value_name = "NAME")]
    placement: Option<String>,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,

    /// Wait until all instances are ready.
    #[arg(long)]
    wait: bool,

    #[command(flatten)]
    following: Wait,
}

const EXAMPLES: &str = "\
Examples:
  groundplane compute scale web --min 4
  groundplane compute scale web --min 2 --max 10 --cpu-percent 70 --wait";

/// Scales a workload.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let scale = Scale { min: arguments.min, max: arguments.max, cpu_percent: arguments.cpu_percent };
    if scale.min.is_none() && scale.max.is_none() && scale.cpu_percent.is_none() {
        return Err(Failure::usage("at least one of --min, --max or --cpu-percent must be set"));
    }
    arguments.following.limit()?;
    let name = &arguments.name;
    let before = compute.workload(name).await?;
    let mut workload = before.clone();
    let mut scaled = 0;
    let placements = workload["spec"]["placements"].as_array_mut();
    for placement in placements.into_iter().flatten() {
        if arguments.placement.as_ref().is_none_or(|wanted| at(placement, "/name") == wanted) {
            scale.change(&mut placement["scaleSettings"])?;
            scaled += 1;
        }
    }
    match (&arguments.placement, scaled) {
        (Some(wanted), 0) => {
            return Err(Failure::other(format!("workload {name:?} has no placement {wanted:?}")));
        }
        (None, 0) => return Err(Failure::other("workload has no placements; nothing to scale")),
        _ => {}
    }
    let written = compute.change(&before, &workload, arguments.message.as_deref(), false).await?;
    let text = told(&written, arguments.placement.as_deref());
    session
        .console
        .say(&format!("Scaled workload {name:?} — {text} across {}.", counted(scaled, "placement")));
    if arguments.wait {
        return arguments.following.follow(&written, compute, session).await;
    }
    let command = compute.program.command(&format!("rollout status {name}"));
    session.console.say(&format!("Watch progress with: {command}"));
    Ok(())
}

fn told(workload: &Value, placement: Option<&str>) -> String {
    let scaled = list(workload, "/spec/placements")
        .find(|one| placement.is_none_or(|wanted| at(one, "/name") == wanted))
        .map(|one| &one["scaleSettings"]);
    let Some(scale) = scaled else { return String::new() };
    let least = number(scale, "/minReplicas");
    match scale["maxReplicas"].as_i64() {
        None => format!("min replicas set to {least}"),
        Some(most) => {
            let percent = number(scale, "/metrics/0/resource/target/averageUtilization");
            format!("min={least}, max={most} (cpu@{percent}%)")
        }
    }
}
