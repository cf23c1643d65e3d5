//! `cargo xtask test`: what has to hold before a change lands, in the order in which it fails fastest.

use clap::{Args, ValueEnum};

use crate::step::{self, Failure, Outcome, Steps};
use crate::{fuzz, setup};

/// What to run, and how long the long tests go on.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only format, lints and the short tests; needs nothing but the toolchain.
    #[arg(long, conflicts_with_all = ["crash_rounds", "soak", "fuzz"])]
    quick: bool,

    /// How often the crash test kills its writers.
    #[arg(long, value_name = "N", default_value_t = 100)]
    crash_rounds: u32,

    /// How long each concurrency test keeps its writers going.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    soak: u32,

    /// How long each fuzz target goes on, two at a time.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    fuzz: u32,

    /// Fetch the database of advisories and check the dependencies against it too.
    #[arg(long)]
    advisories: bool,

    /// Leave a step out; may be given several times.
    #[arg(long, value_name = "STEP")]
    skip: Vec<Step>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                              everything
  cargo xtask test --quick                      the short round while editing
  cargo xtask test --skip deny --soak 10        no dependency check, short soaks
  cargo xtask test --crash-rounds 2000          a night's crash loop
  cargo xtask test --skip fuzz                  without the minutes that the fuzzer takes
  cargo xtask test --advisories                 known weaknesses of dependencies too, from the network

A plain `cargo test` passes over tests whose parts (an etcd, a kubectl, a client library) are not on the machine, and
says so. Here such a test fails: GROUNDPLANE_REQUIRE=1 is set, with GROUNDPLANE_CRASH_ROUNDS and GROUNDPLANE_SOAK_SECONDS.

The step fuzz builds crates/fuzz with coverage and runs libFuzzer on every target, for --fuzz seconds each and two at a
time (`cargo xtask fuzz --help` has more). In a plain `cargo test` each target runs without guidance for half a second,
or for GROUNDPLANE_FUZZ_SECONDS.";

/// The stories told with client libraries that take minutes to build.
const CLIENTS: &str = "--features=clients/kube-rs";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Install the programs that tests start, and fetch other people's clients.
    Setup,
    /// Formatting.
    Fmt,
    /// Lints of all targets, warnings denied.
    Clippy,
    /// Licences, bans, sources and advisories of the dependencies.
    Deny,
    /// All tests.
    Test,
    /// Every fuzz target, guided by coverage.
    Fuzz,
}

impl Step {
    const ALL: [Self; 6] = [Self::Setup, Self::Fmt, Self::Clippy, Self::Deny, Self::Test, Self::Fuzz];
    const QUICK: [Self; 3] = [Self::Fmt, Self::Clippy, Self::Test];

    fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Deny => "deny",
            Self::Test => "test",
            Self::Fuzz => "fuzz",
        }
    }

    fn run(self, options: &Options) -> Result<Outcome, Failure> {
        match self {
            Self::Setup => setup::everything(),
            Self::Fmt => passes(&["fmt", "--all", "--check"]),
            Self::Clippy if options.quick => {
                passes(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])
            }
            Self::Clippy => {
                once(&["clippy", "--workspace", "--all-targets", CLIENTS, "--", "--deny", "warnings"])
            }
            Self::Deny => deny(options.advisories),
            Self::Test if options.quick => passes(&["test", "--workspace"]),
            Self::Test => all_tests(options),
            Self::Fuzz => fuzz::run(&fuzz::Options::all(options.fuzz)),
        }
    }
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let mut steps = Steps::default();
    let ended = take_all(&mut steps, options);
    println!("\n{steps}");
    ended
}

fn take_all(steps: &mut Steps, options: &Options) -> Result<(), Failure> {
    let wanted: &[Step] = if options.quick { &Step::QUICK } else { &Step::ALL };
    for &step in wanted {
        if options.skip.contains(&step) {
            steps.leave_out(step.name(), "by --skip");
        } else {
            steps.take(step.name(), || step.run(options))?;
        }
    }
    Ok(())
}

fn passes(args: &[&str]) -> Result<Outcome, Failure> {
    step::run(&mut step::cargo(args))?;
    Ok(Outcome::Passed)
}

/// As [`passes`], on a machine that builds this once: what only the next build would profit from takes half the disk.
fn once(args: &[&str]) -> Result<Outcome, Failure> {
    step::run(step::cargo(args).env(INCREMENTAL, "0"))?;
    Ok(Outcome::Passed)
}

/// Whether cargo keeps what the next build of the same crate can use.
const INCREMENTAL: &str = "CARGO_INCREMENTAL";

fn all_tests(options: &Options) -> Result<Outcome, Failure> {
    step::run(
        step::cargo(["test", "--workspace", "--no-fail-fast", CLIENTS])
            .env(INCREMENTAL, "0")
            .env("GROUNDPLANE_REQUIRE", "1")
            .env("GROUNDPLANE_CRASH_ROUNDS", options.crash_rounds.to_string())
            .env("GROUNDPLANE_SOAK_SECONDS", options.soak.to_string()),
    )?;
    Ok(Outcome::Passed)
}

/// The advisory database is a repository on the network, everything else is in the tree: tests reach for nothing
/// outside the machine unless they are told to.
fn deny(advisories: bool) -> Result<Outcome, Failure> {
    setup::cargo_deny()?;
    step::run(&mut step::cargo(["deny", "check", "licenses", "bans", "sources"]))?;

    if !advisories {
        return Ok(Outcome::Partly("advisories NOT checked: --advisories fetches their database".to_owned()));
    }
    passes(&["deny", "check", "advisories"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_skipped_by_the_name_that_the_summary_prints() {
        for step in Step::ALL {
            assert_eq!(Step::from_str(step.name(), false), Ok(step));
        }
    }
}
