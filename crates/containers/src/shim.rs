//! The shim: a small process beside each container, which outlives whoever started it.
//!
//! It starts the container with runc, writes what the container prints to its log, and keeps how it ended in a file. It is the
//! container's parent, so it is told the exit status. A shim that is killed takes this knowledge with it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use rustix::process::{Pid, WaitOptions, WaitStatus};
use serde::{Deserialize, Serialize};

use crate::logs::{LogSettings, LogWriter, copy_lines};
use crate::processes::{ProcessId, write_whole};
use crate::runtime::Output;
use crate::state::ExitCause;

/// What a shim is told, in `shim.json` of its folder.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ShimSpec {
    pub(crate) runc: PathBuf,
    pub(crate) runc_root: PathBuf,
    pub(crate) container_id: String,
    pub(crate) log_folder: PathBuf,
    pub(crate) run: u32,
    pub(crate) logs: LogSettings,
    /// The file of the control group that counts kills for want of memory.
    pub(crate) memory_events: PathBuf,
}

/// How it came to an end, in `exit.json` of the shim's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ShimExit {
    /// The container ran and ended.
    Ended { at: SystemTime, cause: ExitCause },
    /// The container could not be started.
    NotStarted { reason: String },
}

pub(crate) const SPEC: &str = "shim.json";
pub(crate) const PROCESS: &str = "shim.process";
pub(crate) const STARTED: &str = "started";
pub(crate) const EXIT: &str = "exit.json";
const PID: &str = "pid";
const RUNC_LOG: &str = "runc.log";

/// Runs a shim. `arguments` is the folder with its spec, which is also the bundle of the container. The program that runs
/// containers exposes this as a hidden subcommand, and is given to [`Settings`](crate::oci::Settings) with it.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Some(folder) = arguments.into_iter().next().map(PathBuf::from) else { return ExitCode::from(2) };
    match run(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let reason = error.to_string();
            let _ = keep_exit(&folder, &ShimExit::NotStarted { reason });
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path) -> io::Result<()> {
    // A session of its own: signals to the terminal or the group of whoever started it do not reach it.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let process = ProcessId::of(rustix::process::getpid())?;
    write_whole(&folder.join(PROCESS), &serde_json::to_vec(&process)?)?;
    let spec: ShimSpec = serde_json::from_slice(&fs::read(folder.join(SPEC))?)?;

    let writer = LogWriter::open(spec.log_folder.clone(), spec.run, spec.logs.clone())?;
    let log = Arc::new(Mutex::new(writer));
    let (stdout, stdout_writer) = pipe()?;
    let (stderr, stderr_writer) = pipe()?;
    let started = start(folder, &spec, stdout_writer, stderr_writer)?;
    let copies = [(stdout, Output::Stdout), (stderr, Output::Stderr)].map(|(from, output)| {
        let log = log.clone();
        std::thread::spawn(move || copy_lines(File::from(from), output, &log))
    });
    let Some(container) = started else {
        // What runc wrote instead of the container is in its own log; the pipes are closed.
        return keep_exit(folder, &ShimExit::NotStarted { reason: runc_words(folder) });
    };
    write_whole(&folder.join(STARTED), &serde_json::to_vec(&SystemTime::now())?)?;
    // Whoever waits for the start may be gone.
    let _ = writeln!(io::stdout(), "started").and_then(|()| io::stdout().flush());

    let status = wait_for(container)?;
    let at = SystemTime::now();
    for copy in copies {
        let _ = copy.join();
    }
    let cause = cause_of(status, &spec.memory_events);
    keep_exit(folder, &ShimExit::Ended { at, cause })
}

/// Starts the container, detached. None: runc could not.
fn start(folder: &Path, spec: &ShimSpec, stdout: OwnedFd, stderr: OwnedFd) -> io::Result<Option<Pid>> {
    let status = Command::new(&spec.runc)
        .arg("--root")
        .arg(&spec.runc_root)
        .arg("--log")
        .arg(folder.join(RUNC_LOG))
        .args(["--log-format", "json", "run", "--detach", "--bundle"])
        .arg(folder)
        .arg("--pid-file")
        .arg(folder.join(PID))
        .arg(&spec.container_id)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .status()?;
    if !status.success() {
        return Ok(None);
    }
    let pid = fs::read_to_string(folder.join(PID))?;
    let pid = pid.trim().parse().ok().and_then(Pid::from_raw);
    pid.map(Some).ok_or_else(|| io::Error::other("runc left no process id"))
}

/// Waits for the container, and for whatever else becomes a child of the shim.
fn wait_for(container: Pid) -> io::Result<WaitStatus> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == container => return Ok(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn cause_of(status: WaitStatus, memory_events: &Path) -> ExitCause {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) if code != 137 || oom_kills(memory_events) == 0 => ExitCause::Code(code),
        (None, Some(signal)) if signal != 9 || oom_kills(memory_events) == 0 => ExitCause::Signal(signal),
        (None, None) => ExitCause::Unknown,
        _ => ExitCause::OutOfMemory,
    }
}

/// How often the kernel has killed in the control group for want of memory.
fn oom_kills(memory_events: &Path) -> u64 {
    let text = fs::read_to_string(memory_events).unwrap_or_default();
    let count = text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok());
    count.unwrap_or(0)
}

fn keep_exit(folder: &Path, exit: &ShimExit) -> io::Result<()> {
    write_whole(&folder.join(EXIT), &serde_json::to_vec(exit)?)
}

/// The last thing that runc has to say.
fn runc_words(folder: &Path) -> String {
    #[derive(Deserialize)]
    struct Line {
        msg: String,
    }
    let log = fs::read_to_string(folder.join(RUNC_LOG)).unwrap_or_default();
    let last = log.lines().rev().find_map(|line| serde_json::from_str::<Line>(line).ok());
    last.map_or_else(|| "runc failed without a word".to_owned(), |line| line.msg)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}
