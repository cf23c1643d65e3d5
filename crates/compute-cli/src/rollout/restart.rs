//! `compute rollout restart`: replaces all instances, one after another, without a change.

use std::time::{SystemTime, UNIX_EPOCH};

use cli::{Failure, Session};
use compute::names;
use krm::time::Moment;

use crate::api::{Compute, city};
use crate::deploy::Wait;

/// Replace all instances one after another, or those in one city, without changing anything else.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane compute rollout restart web\n  groundplane compute rollout restart web --city DFW"
)]
pub struct Arguments {
    /// Name of the workload.
    #[arg(value_name = "WORKLOAD")]
    name: String,

    /// Only instances in this city.
    #[arg(long, value_name = "CODE")]
    city: Option<String>,

    #[command(flatten)]
    wait: Wait,
}

/// Restarts instances.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    arguments.wait.limit()?;
    let name = &arguments.name;
    let before = compute.workload(name).await?;
    let mut workload = before.clone();
    let wanted = arguments.city.as_ref().map(|city| city.to_uppercase());
    if let Some(wanted) = &wanted {
        let deployments = compute.deployments(Some(&workload)).await?;
        if !deployments.iter().any(|deployment| city(deployment) == wanted) {
            return Err(Failure::other(format!(
                "no deployment found for workload {name:?} in city {wanted:?}"
            )));
        }
    }
    let key = match &wanted {
        Some(city) => format!("{}.{city}", names::RESTARTED_AT),
        None => names::RESTARTED_AT.to_owned(),
    };
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let now = Moment { seconds: i64::try_from(seconds).unwrap_or(i64::MAX), nanoseconds: 0 }.to_string();
    workload["spec"]["template"]["metadata"]["annotations"][key.as_str()] = now.into();
    let place = wanted.as_ref().map(|city| format!(" in {city}")).unwrap_or_default();
    let written = compute.change(&before, &workload, Some(&format!("restart{place}")), false).await?;
    session.console.say(&format!("Restarting workload {name:?}{place} — rolling restart initiated."));
    arguments.wait.follow(&written, compute, session).await
}
