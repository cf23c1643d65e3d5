//! `compute destroy`: deletes a workload with all its instances.

use std::time::{Duration, Instant};

use cli::{Failure, Session};
use serde_json::Value;

use crate::api::{Compute, name};
use crate::gate::confirmed;
use crate::text::{at, counted, list, number, took};

/// How long the command waits for the last instance.
const PATIENCE: Duration = Duration::from_secs(300);

/// Delete a workload and all its instances.
///
/// Asks first; without a terminal, --yes is needed. Waits until the last instance is gone. "groundplane restore" brings a
/// deleted workload back.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane compute destroy web\n  groundplane compute destroy web --yes --no-wait"
)]
pub struct Arguments {
    /// Name of the workload.
    #[arg(value_name = "WORKLOAD")]
    name: String,

    /// Do not ask.
    #[arg(long, short)]
    yes: bool,

    /// Return as soon as the workload is marked for deletion.
    #[arg(long)]
    no_wait: bool,
}

/// Deletes a workload.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let workload = compute.workload(&arguments.name).await?;
    if !arguments.yes {
        describe(&workload, session);
        if !session.console.can_ask {
            return Err(Failure::usage("nothing was deleted: without a terminal, --yes is needed"));
        }
        if !confirmed("This will delete workload and all its instances. Continue? (y/N): ", false, session) {
            session.console.say("Aborted.");
            return Ok(());
        }
    }
    compute.delete(&arguments.name).await?;
    if !arguments.no_wait {
        until_gone(&workload, compute, session).await?;
    }
    session.console.say(&format!("workload/{} deleted.", arguments.name));
    Ok(())
}

fn describe(workload: &Value, session: &mut Session) {
    let placements: Vec<&Value> = list(workload, "/spec/placements").collect();
    let cities: Vec<&str> = placements
        .iter()
        .flat_map(|placement| list(placement, "/cityCodes"))
        .filter_map(Value::as_str)
        .collect();
    let least =
        placements.iter().map(|placement| number(placement, "/scaleSettings/minReplicas")).max().unwrap_or(0);
    session.console.say(&format!("Workload:     {}", name(workload)));
    session.console.say(&format!("Placements:   {}  Cities: {}", placements.len(), cities.join(", ")));
    session.console.say(&format!("Min replicas: {least}\n"));
}

async fn until_gone(workload: &Value, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut told = None;
    loop {
        let left = compute.instances(Some(workload)).await?.len();
        let is_gone = compute
            .find_workload(name(workload))
            .await?
            .is_none_or(|found| at(&found, "/metadata/uid") != at(workload, "/metadata/uid"));
        if is_gone && left == 0 {
            return Ok(());
        }
        if told != Some(left) && left > 0 {
            let left = i64::try_from(left).unwrap_or(i64::MAX);
            session.console.say(&format!("Waiting for {} to stop...", counted(left, "instance")));
        }
        told = Some(left);
        if begun.elapsed() > PATIENCE {
            return Err(Failure::other(format!(
                "workload {:?} is being deleted, but not gone after {}",
                name(workload),
                took(PATIENCE.as_secs())
            ))
            .hint(format!("it goes on; see what is left with: {}", compute.program.command("instances"))));
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
