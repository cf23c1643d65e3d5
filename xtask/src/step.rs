//! Steps that run commands under a heading, are timed, and end at the first failure.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Why a command did not do what it should.
#[derive(Debug)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// What a step that did not fail has to say for the summary.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// Passed as far as it could be looked at; the text says what was left out and why.
    Partly(String),
}

/// The steps taken so far.
#[derive(Default)]
pub struct Steps {
    taken: Vec<Taken>,
}

impl Steps {
    /// How long they took together.
    pub fn total(&self) -> Duration {
        self.taken.iter().map(|step| step.took).sum()
    }
}

struct Taken {
    name: &'static str,
    mark: &'static str,
    took: Duration,
    note: String,
}

impl Steps {
    pub fn take(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<Outcome, Failure>,
    ) -> Result<(), Failure> {
        println!("\n==> {name}");
        let start = Instant::now();
        let ended = work();
        let took = start.elapsed();
        println!("==> {name}: {:.1} s", took.as_secs_f64());

        let (mark, note, result) = match ended {
            Ok(Outcome::Passed) => ("ok", String::new(), Ok(())),
            Ok(Outcome::Partly(note)) => ("partly", note, Ok(())),
            Err(failure) => {
                ("FAILED", failure.to_string(), Err(Failure(format!("step {name} failed: {failure}"))))
            }
        };
        self.taken.push(Taken { name, mark, took, note });
        result
    }

    pub fn leave_out(&mut self, name: &'static str, why: &str) {
        self.taken.push(Taken { name, mark: "skipped", took: Duration::ZERO, note: why.to_owned() });
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "==> summary")?;
        for Taken { name, mark, took, note } in &self.taken {
            let line = format!("{mark:<8} {name:<8} {:>7.1} s  {note}", took.as_secs_f64());
            writeln!(out, "{}", line.trim_end())?;
        }
        write!(out, "{:<8} {:<8} {:>7.1} s", "", "total", self.total().as_secs_f64())
    }
}

/// A cargo command at the root of the workspace.
pub fn cargo<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(workspace_root());
    without_own_package(&mut command);
    command
}

/// `cargo run` describes xtask itself in these variables. Build scripts that watch them (ring's does) would run again at
/// every change between `cargo test` and `cargo xtask test`.
pub fn without_own_package(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(name);
        }
    }
}

/// Runs a command to its end, its output in view.
pub fn run(command: &mut Command) -> Result<(), Failure> {
    let line = command_line(command);
    println!("$ {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure(format!("`{line}` ended with {status}"))),
        Err(error) => Err(Failure(format!("`{line}` could not be started: {error}"))),
    }
}

/// Where cargo builds: beside the profile's folder that this program was built into.
pub fn target_folder() -> Result<PathBuf, Failure> {
    let failed = |why: String| Failure(format!("the target folder can't be found: {why}"));
    let this = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let target = this.ancestors().nth(2).ok_or_else(|| failed(this.display().to_string()))?;
    Ok(target.to_owned())
}

fn workspace_root() -> PathBuf {
    let mut root = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    if !root.pop() {
        root.push(".");
    }
    root
}

pub fn command_line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let set = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), value?.to_string_lossy())));
    let words =
        std::iter::once(name).chain(command.get_args()).map(|word| word.to_string_lossy().into_owned());
    set.chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named_with_its_exit() {
        let failure = run(&mut Command::new("false")).unwrap_err();
        assert_eq!(failure.to_string(), "`false` ended with exit status: 1");
    }

    #[test]
    fn a_command_that_is_not_there_is_a_failure_and_no_panic() {
        let failure = run(Command::new("no-such-program").arg("--flag")).unwrap_err();
        assert!(failure.to_string().starts_with("`no-such-program --flag` could not be started"));
    }

    #[test]
    fn the_summary_tells_every_step_and_why_one_failed() {
        let mut steps = Steps::default();
        steps.take("fmt", || Ok(Outcome::Passed)).unwrap();
        steps.leave_out("clippy", "by --skip");
        steps.take("deny", || Ok(Outcome::Partly("no advisories".to_owned()))).unwrap();
        steps.take("test", || Err(Failure("one test failed".to_owned()))).unwrap_err();
        let summary = steps.to_string();
        let lines: Vec<_> = summary.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
        assert_eq!(lines[1], ["ok", "fmt", "0.0", "s"]);
        assert_eq!(lines[2], ["skipped", "clippy", "0.0", "s", "by", "--skip"]);
        assert_eq!(lines[3], ["partly", "deny", "0.0", "s", "no", "advisories"]);
        assert_eq!(lines[4], ["FAILED", "test", "0.0", "s", "one", "test", "failed"]);
        assert_eq!(lines[5], ["total", "0.0", "s"]);
    }

    #[test]
    fn the_printed_command_can_be_typed_again() {
        let mut command = Command::new("/some/where/cargo");
        command.args(["test", "--workspace"]).env("GROUNDPLANE_REQUIRE", "1");
        assert_eq!(command_line(&command), "GROUNDPLANE_REQUIRE=1 cargo test --workspace");
    }
}
