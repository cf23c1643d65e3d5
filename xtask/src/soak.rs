//! `cargo xtask soak`: the tests that grow stronger with time, for as long as one likes.

use clap::Args;

use crate::setup;
use crate::step::{self, Failure};

/// How long the tests go on.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Minutes that each concurrency test keeps its writers going.
    #[arg(long, value_name = "MINUTES", default_value_t = 10)]
    minutes: u32,

    /// Number of times that the crash test kills its writers.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    crash_rounds: u32,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask soak                                    ten minutes for each concurrency test, 1,000 kills
  cargo xtask soak --minutes 60 --crash-rounds 10000  a night";

/// Test binaries whose tests read GROUNDPLANE_SOAK_SECONDS or GROUNDPLANE_CRASH_ROUNDS, by package.
const TESTS: [(&str, &[&str]); 2] = [
    ("store", &["kill", "concurrency", "cluster", "torn", "full_disk"]),
    ("groundplane", &["many_clients", "two_servers"]),
];

pub fn run(options: &Options) -> Result<(), Failure> {
    setup::everything()?;
    for (package, tests) in TESTS {
        let mut command = step::cargo(["test", "--package", package, "--no-fail-fast"]);
        for test in tests {
            command.args(["--test", test]);
        }
        command
            .env("GROUNDPLANE_REQUIRE", "1")
            .env("GROUNDPLANE_CRASH_ROUNDS", options.crash_rounds.to_string())
            .env("GROUNDPLANE_SOAK_SECONDS", (options.minutes * 60).to_string());
        step::run(&mut command)?;
    }
    Ok(())
}
