//! The test binaries of the workspace: built once with lints on, run several at a time, counted.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::step::{self, Failure};

/// One test binary, as cargo built it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// `package` for unit tests, `package::name` for integration tests.
    pub name: String,
    executable: PathBuf,
    /// Root of the package: tests run there, as under `cargo test`.
    folder: PathBuf,
}

/// What one binary reported.
#[derive(Debug, Default, Clone)]
pub struct Report {
    pub name: String,
    pub passed: u64,
    pub failed: u64,
    pub took: Duration,
    /// Why the binary failed as a whole, and the end of its output.
    pub failure: Option<String>,
}

/// These load both cores or depend on timing (kills, failing disks, crowds of clients), so nothing runs beside them.
const ALONE: [&str; 7] = [
    "store::cluster",
    "store::concurrency",
    "store::kill",
    "groundplane::many_clients",
    "groundplane::scale",
    "groundplane::two_servers",
    "clients::kube_rs",
];

/// These take longest, so they are started first: nothing waits for them in the end.
const FIRST: [&str; 4] = ["groundplane::cli", "inventory::rules", "groundplane::kubectl", "store::contract"];

/// How many of the others run at a time. Most of them wait for servers that they started.
const AT_A_TIME: usize = 3;

/// A binary that runs longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(15 * 60);

/// How much of a failed binary's output is printed.
const LINES_SHOWN: usize = 80;

/// Reads cargo's messages (`--message-format=json`) for the test binaries it built.
pub fn from_messages(messages: &str) -> Vec<Binary> {
    messages.lines().filter_map(|line| from_message(&serde_json::from_str(line).ok()?)).collect()
}

fn from_message(message: &Value) -> Option<Binary> {
    let executable = PathBuf::from(message["executable"].as_str()?);
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let target = &message["target"];
    // Benches are built so that they keep compiling; `cargo xtask bench` runs them.
    if target["kind"][0] == "bench" {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    let name = match target["kind"][0].as_str()? {
        "test" => format!("{package}::{}", target["name"].as_str()?),
        "bin" if target["name"] != package.as_str() => {
            format!("{package} (bin {})", target["name"].as_str()?)
        }
        _ => package,
    };
    Some(Binary { name, executable, folder })
}

/// Runs all of them, `environment` set; prints a line for each as it ends, and returns what each reported.
pub fn run(binaries: &[Binary], environment: &[(&str, String)], logs: &Path) -> Result<Vec<Report>, Failure> {
    fs::create_dir_all(logs)
        .map_err(|error| Failure(format!("{} can't be created: {error}", logs.display())))?;
    let (alone, mut together): (Vec<_>, Vec<_>) =
        binaries.iter().partition(|binary| ALONE.contains(&binary.name.as_str()));
    together.sort_by_key(|binary| FIRST.iter().position(|name| *name == binary.name).unwrap_or(FIRST.len()));
    let reports = Mutex::new(Vec::new());
    let run_queue = |queue: &Mutex<VecDeque<&Binary>>| {
        // Not in the loop's head: the lock would be held while the binary runs.
        let next = || locked(queue).pop_front();
        while let Some(binary) = next() {
            let report = run_one(binary, environment, logs);
            println!("{}", line(&report));
            locked(&reports).push(report);
        }
    };
    let together = Mutex::new(together.into());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| run_queue(&together));
        }
    });
    run_queue(&Mutex::new(alone.into()));
    let reports = reports.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for report in &reports {
        if let Some(failure) = &report.failure {
            println!("\n---- {} ----\n{failure}", report.name);
        }
    }
    Ok(reports)
}

fn line(report: &Report) -> String {
    let mark = if report.failure.is_some() { "FAILED" } else { "ok" };
    let Report { name, passed, failed, took, .. } = report;
    format!("{mark:<7} {name:<28} {passed:>5} passed {failed:>3} failed {:>7.1} s", took.as_secs_f64())
}

fn run_one(binary: &Binary, environment: &[(&str, String)], logs: &Path) -> Report {
    let start = Instant::now();
    let log = logs.join(format!("{}.log", binary.name.replace([':', ' ', '(', ')'], "-")));
    let ended = start_with_log(binary, environment, &log).and_then(|child| wait(child, TIME_LIMIT));
    let output = fs::read_to_string(&log).unwrap_or_default();
    let (passed, failed) = count(&output);
    let why = match ended {
        Ok(Some(status)) if status.success() => None,
        Ok(Some(status)) => Some(format!("ended with {status}")),
        Ok(None) => Some(format!("did not end within {} minutes", TIME_LIMIT.as_secs() / 60)),
        Err(error) => Some(format!("could not be run: {error}")),
    };
    let failure =
        why.map(|why| format!("{}\n{why}; all of its output is in {}", tail(&output), log.display()));
    Report { name: binary.name.clone(), passed, failed, took: start.elapsed(), failure }
}

fn start_with_log(binary: &Binary, environment: &[(&str, String)], log: &Path) -> io::Result<Child> {
    let output = File::create(log)?;
    let mut command = Command::new(&binary.executable);
    step::without_own_package(&mut command);
    command
        .current_dir(&binary.folder)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
}

/// Waits for a child; `None` when it had to be killed at its time limit.
fn wait(mut child: Child, limit: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Sums the closing lines of libtest: `test result: ok. 3 passed; 0 failed; …`.
fn count(output: &str) -> (u64, u64) {
    let closing = output.lines().filter_map(|line| line.strip_prefix("test result: "));
    closing.fold((0, 0), |(passed, failed), line| {
        (passed + number_before(line, " passed"), failed + number_before(line, " failed"))
    })
}

fn number_before(line: &str, word: &str) -> u64 {
    let before = line.split_once(word).map_or("", |(before, _)| before);
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// The failures of a libtest run, or else the last lines.
fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let from = lines.iter().position(|line| *line == "failures:").unwrap_or_default();
    let lines = &lines[from..];
    match lines.len() > 2 * LINES_SHOWN {
        true => {
            let (head, end) = (&lines[..LINES_SHOWN], &lines[lines.len() - LINES_SHOWN..]);
            format!("{}\n[…]\n{}", head.join("\n"), end.join("\n"))
        }
        false => lines.join("\n"),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARTIFACT: &str = r#"{"reason":"compiler-artifact","manifest_path":"/p/crates/store/Cargo.toml","executable":"/t/kill","profile":{"test":true},"target":{"kind":["test"],"name":"kill"}}"#;

    #[test]
    fn test_binaries_are_read_from_the_messages_of_cargo() {
        let unit = ARTIFACT.replace(r#"["test"]"#, r#"["lib"]"#).replace("/t/kill", "/t/unit");
        let bench = ARTIFACT.replace(r#"["test"]"#, r#"["bench"]"#);
        let library = ARTIFACT.replace(r#""executable":"/t/kill""#, r#""executable":null"#);
        let messages = [ARTIFACT, &unit, &bench, &library, "not JSON"].join("\n");
        let found = from_messages(&messages);
        let names: Vec<_> = found.iter().map(|binary| binary.name.as_str()).collect();
        assert_eq!(names, ["store::kill", "store"]);
        assert_eq!(found[0].folder, Path::new("/p/crates/store"));
    }

    #[test]
    fn closing_lines_of_libtest_are_summed() {
        let output = "running 3 tests\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\n\
                      test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured\n";
        assert_eq!(count(output), (13, 2));
        assert_eq!(count("no tests here"), (0, 0));
    }

    #[test]
    fn a_binary_that_fails_or_hangs_is_a_failure_with_its_output() {
        let logs = std::env::temp_dir().join(format!("xtask-binaries-{}", std::process::id()));
        fs::create_dir_all(&logs).unwrap();
        let script = |name: &str, text: &str| {
            let executable = logs.join(name);
            fs::write(&executable, text).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(&executable, mode).unwrap();
            Binary { name: name.to_owned(), executable, folder: logs.clone() }
        };
        let good = script("good", "#!/bin/sh\necho 'test result: ok. 2 passed; 0 failed; 0 ignored'\n");
        let bad = script("bad", "#!/bin/sh\necho failures:\necho it broke\nexit 101\n");
        let reports = run(&[good, bad], &[], &logs).unwrap();
        let of = |name: &str| reports.iter().find(|report| report.name == name).unwrap().clone();
        assert_eq!((of("good").passed, of("good").failure), (2, None));
        assert!(of("bad").failure.unwrap().contains("it broke"));

        let sleeping = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(wait(sleeping, Duration::from_millis(1)).unwrap().is_none());
        fs::remove_dir_all(&logs).unwrap();
    }
}
