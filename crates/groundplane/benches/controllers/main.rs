//! What controllers cost a server and its users: `cargo xtask bench controllers`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

#[path = "../inventory/fleet.rs"]
#[allow(dead_code, reason = "the bench of the inventory uses the rest")]
mod fleet;
mod foreground;
mod import;
mod planes;
mod queues;
#[path = "../time/report.rs"]
#[allow(dead_code, reason = "other benches use the rest")]
mod report;

use clap::Parser;
use report::Report;

/// The binary that is measured.
const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

/// Measures an import with controllers at work, and a controller in many control planes.
#[derive(Parser)]
#[command(name = "cargo xtask bench controllers")]
struct Arguments {
    /// About how many objects are imported.
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    objects: u32,

    /// How many projects there are.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    projects: usize,

    /// Only these parts: import, planes.
    #[arg(long, num_args = 1.., value_name = "PART")]
    only: Vec<String>,

    /// Fails when a floor is missed.
    #[arg(long)]
    check: bool,

    /// What cargo says to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let wanted = |part: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == part);
    let mut report = Report::default();
    if wanted("import") {
        import::measure(arguments.objects, &mut report).await;
    }
    if wanted("planes") {
        planes::measure(arguments.projects, &mut report).await;
    }
    println!("{}", report.table());
    match arguments.check && !report.keeps_floors() {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}
