//! What the past, plans and planes cost: `cargo xtask bench time`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

mod activity;
mod history;
mod past;
mod planes;
mod plans;
mod report;

use clap::Parser;
use report::Report;

/// The binary that is measured.
pub const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

/// Measures the past, plans and planes of a running server.
#[derive(Parser)]
#[command(name = "cargo xtask bench time")]
pub struct Arguments {
    /// A tenth of everything: a first look.
    #[arg(long)]
    pub quick: bool,

    /// Only these parts: activity, history, past, plans, planes.
    #[arg(long, num_args = 1.., value_name = "PART")]
    pub only: Vec<String>,

    /// Fails when a floor is missed.
    #[arg(long)]
    pub check: bool,

    /// What cargo says to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    /// A number of things, or a tenth of it.
    pub fn scaled(&self, number: usize) -> usize {
        if self.quick { number / 10 } else { number }
    }
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let wanted = |part: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == part);
    let mut report = Report::default();
    if wanted("activity") {
        activity::measure(&arguments, &mut report).await;
    }
    if wanted("history") {
        history::measure(&arguments, &mut report).await;
    }
    if wanted("past") {
        past::measure(&arguments, &mut report).await;
    }
    if wanted("plans") {
        plans::measure(&arguments, &mut report).await;
    }
    if wanted("planes") {
        planes::measure(&arguments, &mut report).await;
    }
    println!("{}", report.table());
    match arguments.check && !report.keeps_floors() {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}
