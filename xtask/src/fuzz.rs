//! `cargo xtask fuzz`: the targets of crates/fuzz under libFuzzer, guided by coverage, two at a time.
//!
//! The instrumentation is LLVM's own and asked for with stable flags; no sanitizer, which would need another toolchain
//! and would find little in code without `unsafe`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use clap::Args;

use crate::step::{self, Failure};

/// What to fuzz, and for how long.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only these targets; without any, all of them.
    targets: Vec<String>,

    /// How long each target goes on.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u32,

    /// Check the input in this file, and nothing else.
    #[arg(long, value_name = "FILE", requires = "targets")]
    input: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask fuzz                                      every target for a minute, two at a time
  cargo xtask fuzz cel definitions --seconds 3600       two targets for an hour
  cargo xtask fuzz cel --input target/fuzz/cel/crash-1  once more the input that did harm

What a target has learnt is kept in target/fuzz/<target> and is where the next run begins. Input that did harm belongs
into crates/fuzz/found/<target>, where every `cargo test` tries it.";

/// Coverage of edges and what comparisons compare, as libFuzzer wants them.
const INSTRUMENTED: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// How many run at a time.
const AT_A_TIME: usize = 2;

pub fn run(options: &Options) -> Result<(), Failure> {
    let folder = step::target_folder()?.join("fuzz");
    let known = write_seeds(&folder)?;
    if let Some(name) = options.targets.iter().find(|name| !known.contains(name)) {
        return Err(Failure(format!("{name} is no target; there are {}", known.join(", "))));
    }
    let program = build()?;
    let mut wanted = if options.targets.is_empty() { known } else { options.targets.clone() };
    if let (Some(input), Some(target)) = (&options.input, wanted.first()) {
        step::run(Command::new(program).env(TARGET, target).arg(input))?;
        return Ok(());
    }
    wanted.reverse();
    let (wanted, failed) = (Mutex::new(wanted), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(target) = next(&wanted) {
                    match fuzz(&program, &target, &folder.join(&target), options.seconds) {
                        Ok(said) => println!("{target:<18} {said}"),
                        Err(failure) => {
                            println!("{target:<18} FAILED\n{failure}");
                            failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(target);
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure(format!("{} did not hold for all input", failed.join(", ")))),
    }
}

/// Which target the program is to run.
const TARGET: &str = "GROUNDPLANE_FUZZ_TARGET";

fn next(wanted: &Mutex<Vec<String>>) -> Option<String> {
    wanted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop()
}

/// Has the seeds of all targets written, and gives their names.
fn write_seeds(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut seeds = step::cargo(["run", "--quiet", "--package", "fuzz", "--bin", "seeds", "--"]);
    let written = seeds.arg(folder).stderr(Stdio::inherit()).output();
    let written = written.map_err(|error| Failure(format!("cargo can't be started: {error}")))?;
    match written.status.success() {
        true => Ok(String::from_utf8_lossy(&written.stdout).lines().map(str::to_owned).collect()),
        false => Err(Failure(format!("the seeds were not written to {}", folder.display()))),
    }
}

/// Builds the program, instrumented, and gives its path.
fn build() -> Result<PathBuf, Failure> {
    let host = host()?;
    // With a target named, build scripts and macros are not instrumented; they could not be linked.
    let args = [
        "build",
        "--package",
        "fuzz",
        "--bin",
        "guided",
        "--features",
        "libfuzzer",
        "--profile",
        "fuzz",
        "--target",
    ];
    step::run(step::cargo(args).arg(&host).env("RUSTFLAGS", INSTRUMENTED))?;
    Ok(step::target_folder()?.join(host).join("fuzz/guided"))
}

fn host() -> Result<String, Failure> {
    let said = Command::new("rustc").arg("-vV").output();
    let said = said.map_err(|error| Failure(format!("rustc can't be started: {error}")))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure(format!("rustc -vV does not name its host: {said}")))
}

/// Runs one target, and tells how far it got.
fn fuzz(program: &Path, target: &str, folder: &Path, seconds: u32) -> Result<String, String> {
    let kept = folder.join("kept");
    let log = folder.join("log");
    let prepared = fs::create_dir_all(&kept).and_then(|()| File::create(&log));
    let written = prepared.map_err(|error| format!("{} can't be written: {error}", log.display()))?;
    let ended = Command::new(program)
        .env(TARGET, target)
        .env("RUST_BACKTRACE", "1")
        .arg(format!("-max_total_time={seconds}"))
        // An input that takes that long, or needs that much, is a find too.
        .args(["-timeout=20", "-rss_limit_mb=2048", "-max_len=8192", "-print_final_stats=1"])
        .arg(format!("-dict={}", folder.join("words").display()))
        .arg(format!("-artifact_prefix={}/", folder.display()))
        .args([&kept, &folder.join("seeds")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(written)
        .status()
        .map_err(|error| format!("{} can't be started: {error}", program.display()))?;
    let said = fs::read_to_string(&log).unwrap_or_default();
    if ended.success() {
        return Ok(progress(&said));
    }
    let lines: Vec<&str> = said.lines().collect();
    Err(format!("{}\nall of it is in {}", lines[lines.len().saturating_sub(60)..].join("\n"), log.display()))
}

fn progress(said: &str) -> String {
    let last = |mark: &str| {
        let found = said.rsplit_once(mark).map(|(_, after)| after.trim_start());
        found.and_then(|after| after.split_whitespace().next()).unwrap_or("?")
    };
    format!("{} inputs, {} edges covered", last("stat::number_of_executed_units:"), last(" cov:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_says_is_told_in_a_line() {
        let said =
            "#2\tINITED cov: 7 ft: 8\n#99\tDONE   cov: 1234 ft: 9\nstat::number_of_executed_units: 5678\n";
        assert_eq!(progress(said), "5678 inputs, 1234 edges covered");
    }
}
