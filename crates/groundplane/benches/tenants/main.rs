//! What many bindings and many projects cost a running server: `cargo xtask bench platform [--bindings N] [--projects N]`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

mod decisions;
#[path = "../time/planes.rs"]
mod planes;
#[path = "../time/report.rs"]
mod report;

use clap::Parser;
use report::Report;

/// The binary that is measured.
const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

/// Measures whole requests with and without bindings, and as many projects.
#[derive(Parser)]
#[command(name = "cargo xtask bench platform")]
struct Arguments {
    /// How many bindings there are.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    bindings: usize,

    /// How many projects there are.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    projects: usize,

    /// How many requests are made to each server, of each sort.
    #[arg(long, value_name = "NUMBER", default_value_t = 20_000)]
    requests: usize,

    /// Fails when a floor is missed.
    #[arg(long)]
    check: bool,

    /// What cargo says to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    /// How many projects are made in the place of ten thousand.
    fn scaled(&self, _whole: usize) -> usize {
        self.projects
    }
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::default();
    decisions::measure(&arguments, &mut report).await;
    planes::measure(&arguments, &mut report).await;
    println!("\n{} bindings, {} projects\n\n{}", arguments.bindings, arguments.projects, report.table());
    match arguments.check && !report.keeps_floors() {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}
