//! `compute open`: the address of a workload, in a browser where there is one.

use cli::{Failure, Session};
use serde_json::Value;

use crate::api::{Compute, city};
use crate::output::line;
use crate::watch::urls;

/// Print the URL of a workload, and open it in a browser where there is one.
///
/// Each city has an address of its own. Without --city, the first city that has one is opened.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane compute open web\n  groundplane compute open web --city IAD\n  curl $(groundplane \
    compute open web --print)"
)]
pub struct Arguments {
    /// Name of the workload.
    #[arg(value_name = "WORKLOAD")]
    name: String,

    /// City to open.
    #[arg(long, value_name = "CODE")]
    city: Option<String>,

    /// Print the URL and open nothing.
    #[arg(long)]
    print: bool,
}

/// Opens a workload.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let workload = compute.workload(&arguments.name).await?;
    let mut deployments = compute.deployments(Some(&workload)).await?;
    if let Some(wanted) = &arguments.city {
        deployments.retain(|deployment| city(deployment).eq_ignore_ascii_case(wanted));
        if deployments.is_empty() {
            let name = &arguments.name;
            return Err(Failure::other(format!("workload {name:?} is not deployed in {wanted}")).hint(
                format!("\"{}\" shows its cities", compute.program.command(&format!("status {name}"))),
            ));
        }
    }
    let Some(url) = urls(&deployments).first().map(|url| (*url).to_owned()) else {
        return Err(no_address(&arguments.name, &workload, compute));
    };
    line(&url, session)?;
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !arguments.print && session.console.out_is_terminal && has_display {
        // Where there is no such program, the URL has been printed.
        let _ = std::process::Command::new("xdg-open").arg(&url).spawn();
    }
    Ok(())
}

fn no_address(name: &str, workload: &Value, compute: &Compute) -> Failure {
    let ports = crate::text::ports(&workload["spec"]["template"]["spec"]);
    let command = |words: String| compute.program.command(&words);
    match ports.is_empty() {
        true => Failure::other(format!("workload {name:?} has no port, and so no address"))
            .hint(format!("give it one with: {}", command(format!("deploy {name} --port PORT")))),
        false => Failure::other(format!("workload {name:?} has no address yet"))
            .hint(format!("see how far it is with: {}", command(format!("status {name}")))),
    }
}
