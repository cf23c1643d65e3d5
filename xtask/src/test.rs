//! `cargo xtask test`: what has to hold before a change lands, in the order in which it fails fastest.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::binaries::{self, Binary, Report};
use crate::setup;
use crate::step::{self, Failure, Outcome, Steps};

/// What to run, and how long the long tests go on.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only format, lints and the short tests; needs nothing but the toolchain.
    #[arg(long, conflicts_with_all = ["crash_rounds", "soak"])]
    quick: bool,

    /// Only test binaries whose name contains this, such as `store::kill` or `inventory`; may be given several times.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,

    /// Number of times that the crash test kills its writers.
    #[arg(long, value_name = "N", default_value_t = 50)]
    crash_rounds: u32,

    /// Seconds for which each concurrency test keeps its writers going.
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    soak: u32,

    /// Fail when all steps together take longer than this.
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    budget: u64,

    /// Fetch the advisory database and check the dependencies against it too.
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
  cargo xtask test --only groundplane::cli      one test binary, built and linted with the rest
  cargo xtask test --skip deny --soak 10        no dependency check, longer soaks
  cargo xtask test --advisories                 known vulnerabilities of dependencies too, from the network
  cargo xtask soak --minutes 60                 crash loops and concurrency tests for an hour
  cargo xtask fuzz --seconds 60                 every fuzz target, guided by coverage

A plain `cargo test --workspace` skips tests whose parts (an etcd, a kubectl, a client library) are not installed. Here
such a test fails: GROUNDPLANE_REQUIRE=1 is set. Tests that read other people's cases are skipped and counted unless
GROUNDPLANE_CASES names their folder.

Times of all steps and test binaries are written to target/xtask/times.txt, their output to target/xtask/logs.";

/// The tests with client libraries that take minutes to build.
const CLIENTS: &str = "--features=clients/kube-rs";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Install the programs that tests start, and fetch other people's clients.
    Setup,
    /// Formatting.
    Fmt,
    /// Licences, bans, sources and advisories of the dependencies.
    Deny,
    /// Compile all targets with clippy, warnings denied.
    Build,
    /// All tests.
    Test,
}

impl Step {
    const ALL: [Self; 5] = [Self::Setup, Self::Fmt, Self::Deny, Self::Build, Self::Test];
    const QUICK: [Self; 3] = [Self::Fmt, Self::Build, Self::Test];

    fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Fmt => "fmt",
            Self::Deny => "deny",
            Self::Build => "build",
            Self::Test => "test",
        }
    }
}

/// One run of the command.
struct Run<'o> {
    options: &'o Options,
    binaries: Vec<Binary>,
    reports: Vec<Report>,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let mut steps = Steps::default();
    let mut run = Run { options, binaries: Vec::new(), reports: Vec::new() };
    let ended = run.take_all(&mut steps);
    let skipped = skipped_tests()?;
    let summary = run.summary(&steps, &skipped);
    println!("\n{summary}");
    let times = folder()?.join("times.txt");
    fs::write(&times, &summary).map_err(|error| Failure(format!("{}: {error}", times.display())))?;
    ended?;
    within_budget(steps.total(), options.budget)
}

impl Run<'_> {
    fn take_all(&mut self, steps: &mut Steps) -> Result<(), Failure> {
        let wanted: &[Step] = if self.options.quick { &Step::QUICK } else { &Step::ALL };
        for &step in wanted {
            if self.options.skip.contains(&step) {
                steps.leave_out(step.name(), "by --skip");
            } else {
                steps.take(step.name(), || self.take(step))?;
            }
        }
        Ok(())
    }

    fn take(&mut self, step: Step) -> Result<Outcome, Failure> {
        match step {
            Step::Setup => setup::everything(),
            Step::Fmt => passes(&["fmt", "--all", "--check"]),
            Step::Deny => deny(self.options.advisories),
            Step::Build => {
                self.binaries = build(self.options.quick)?;
                Ok(Outcome::Passed)
            }
            Step::Test => self.test(),
        }
    }

    fn test(&mut self) -> Result<Outcome, Failure> {
        let only = &self.options.only;
        self.binaries
            .retain(|binary| only.is_empty() || only.iter().any(|text| binary.name.contains(text.as_str())));
        if self.binaries.is_empty() {
            return Err(Failure("there is no such test binary, or the step build was skipped".to_owned()));
        }
        let skipped = skipped_file()?;
        // What an earlier run counted.
        let _ = fs::remove_file(&skipped);
        let mut environment = vec![("GROUNDPLANE_SKIPPED", skipped.display().to_string())];
        if !self.options.quick {
            environment.push(("GROUNDPLANE_REQUIRE", "1".to_owned()));
            environment.push(("GROUNDPLANE_CRASH_ROUNDS", self.options.crash_rounds.to_string()));
            environment.push(("GROUNDPLANE_SOAK_SECONDS", self.options.soak.to_string()));
        }
        self.reports = binaries::run(&self.binaries, &environment, &folder()?.join("logs"))?;
        let failed: Vec<_> = self.reports.iter().filter(|report| report.failure.is_some()).collect();
        if failed.is_empty() {
            return Ok(Outcome::Passed);
        }
        let names: Vec<_> = failed.iter().map(|report| report.name.as_str()).collect();
        Err(Failure(format!("{} failed", names.join(", "))))
    }

    /// The steps, the test binaries by time, what was skipped and why, and the counts.
    fn summary(&self, steps: &Steps, skipped: &[String]) -> String {
        let mut lines = vec![steps.to_string()];
        let mut reports: Vec<_> = self.reports.iter().collect();
        reports.sort_by_key(|report| std::cmp::Reverse(report.took));
        if !reports.is_empty() {
            lines.push("\n==> test binaries by time".to_owned());
        }
        for Report { name, passed, took, failure, .. } in reports {
            let mark = if failure.is_some() { "FAILED" } else { "ok" };
            lines.push(format!("{mark:<7} {name:<32} {passed:>5} tests {:>8.1} s", took.as_secs_f64()));
        }
        if !skipped.is_empty() {
            lines.push("\n==> skipped".to_owned());
            lines.extend(skipped.iter().cloned());
        }
        if !self.reports.is_empty() {
            let passed: u64 = self.reports.iter().map(|report| report.passed).sum();
            // A binary that could not run to its end counts as one failed test.
            let failed: u64 = self
                .reports
                .iter()
                .map(|report| report.failed.max(u64::from(report.failure.is_some())))
                .sum();
            let skipped = skipped.len() as u64;
            lines.push(format!(
                "\n{} passed, {failed} failed, {skipped} skipped",
                passed.saturating_sub(skipped)
            ));
        }
        lines.join("\n") + "\n"
    }
}

fn within_budget(took: Duration, minutes: u64) -> Result<(), Failure> {
    if took <= Duration::from_secs(minutes * 60) {
        return Ok(());
    }
    let took = took.as_secs() / 60;
    Err(Failure(format!(
        "all tests passed, but took {took} minutes, over the budget of {minutes}; see target/xtask/times.txt"
    )))
}

fn passes(args: &[&str]) -> Result<Outcome, Failure> {
    step::run(&mut step::cargo(args))?;
    Ok(Outcome::Passed)
}

/// Compiles all targets once, for lints and for tests: clippy's driver is a compiler that lints, so the crates of the
/// workspace need not be checked a second time.
fn build(quick: bool) -> Result<Vec<Binary>, Failure> {
    let mut build = step::cargo(["test", "--workspace", "--all-targets", "--no-run"]);
    build.args(["--message-format", "json-render-diagnostics"]);
    if !quick {
        build.arg(CLIENTS);
        // What only the next build would profit from takes half the disk.
        build.env("CARGO_INCREMENTAL", "0");
    }
    build.env("RUSTC_WORKSPACE_WRAPPER", clippy_driver()).env("CLIPPY_ARGS", DENY_WARNINGS);
    println!("$ {}", step::command_line(&build));
    let output = build
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure(format!("cargo could not be started: {error}")))?;
    match output.status.success() {
        true => Ok(binaries::from_messages(&String::from_utf8_lossy(&output.stdout))),
        false => Err(Failure(format!("the build ended with {}", output.status))),
    }
}

/// `--deny warnings`, as `cargo clippy` hands it to its driver.
const DENY_WARNINGS: &str = "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// The driver of clippy, which is installed beside cargo.
fn clippy_driver() -> PathBuf {
    let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    cargo.with_file_name("clippy-driver")
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

/// Where times, logs and counts of this command are.
fn folder() -> Result<PathBuf, Failure> {
    let folder = step::target_folder()?.join("xtask");
    fs::create_dir_all(&folder).map_err(|error| Failure(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}

fn skipped_file() -> Result<PathBuf, Failure> {
    Ok(folder()?.join("skipped.txt"))
}

/// The tests that were skipped, each once, with the reason.
fn skipped_tests() -> Result<Vec<String>, Failure> {
    let mut lines: Vec<String> =
        fs::read_to_string(skipped_file()?).unwrap_or_default().lines().map(str::to_owned).collect();
    lines.sort();
    lines.dedup_by(|a, b| a.split(": ").next() == b.split(": ").next());
    Ok(lines)
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

    #[test]
    fn a_run_over_its_budget_fails() {
        assert!(within_budget(Duration::from_secs(3_600), 60).is_ok());
        let failure = within_budget(Duration::from_secs(3_700), 60).unwrap_err();
        assert!(failure.to_string().contains("took 61 minutes, over the budget of 60"), "{failure}");
    }

    #[test]
    fn the_summary_counts_what_ran_and_what_was_skipped() {
        use clap::Parser;
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            options: Options,
        }
        let line = Line::parse_from(["test"]);
        let report = |name: &str, passed, failure: Option<&str>| Report {
            name: name.to_owned(),
            passed,
            failure: failure.map(str::to_owned),
            ..Report::default()
        };
        let reports = vec![report("krm", 10, None), report("store::kill", 0, Some("hangs"))];
        let run = Run { options: &line.options, binaries: Vec::new(), reports };
        let summary = run.summary(&Steps::default(), &["a_test: there is no etcd".to_owned()]);
        assert!(summary.ends_with("\n9 passed, 1 failed, 1 skipped\n"), "{summary}");
        assert!(summary.contains("a_test: there is no etcd"), "{summary}");
    }
}
