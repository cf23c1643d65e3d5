//! A running groundplane server: the real binary, with its own port and data folder.

mod client;
mod identity;
mod lines;
mod pair;
mod shared;
mod template;

pub use client::{Answer, Client, Failed};
pub use identity::Identity;
pub use lines::Lines;
pub use pair::Pair;
pub use shared::Shared;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a server may take to be ready, and to stop; far more than it needs on a quiet machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a server did not come up.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ServerError(String);

/// Flags of a server that runs no workloads, has no project and calls no hardware, which most tests want, unless they name
/// them. Hosts of tests have addresses of BMCs that are made up: nothing must be sent there.
fn alone(arguments: &[&str]) -> Vec<&'static str> {
    let has = |flag: &str| arguments.iter().any(|word| word.starts_with(flag));
    let mut flags = Vec::new();
    if !has("--local-cities") && !has("--demo") {
        flags.extend(["--local-cities", "none"]);
    }
    if !has("--controllers") {
        flags.push("--controllers=all,-host-power-controller");
    }
    flags
}

/// A server that is ended, hard, when this is dropped.
pub struct Server {
    child: Child,
    data: PathBuf,
    kubeconfig: PathBuf,
    client: Client,
    /// How long it took from start to ready.
    pub took: Duration,
    // Last: the process is dead before its folder goes.
    _folder: Option<TempDir>,
}

impl Server {
    /// Starts `binary serve` on a new folder, which goes with it. The folder is a copy of one that a server has started
    /// on before: it has the same CA, the same keys and the same built-in objects as every other fresh server.
    pub fn fresh(binary: &str, arguments: &[&str]) -> Result<Server, ServerError> {
        Self::in_new_folder(binary, arguments, true)
    }

    /// Starts `binary serve` on an empty folder, which goes with it: with a CA and keys of its own.
    pub fn first_start(binary: &str, arguments: &[&str]) -> Result<Server, ServerError> {
        Self::in_new_folder(binary, arguments, false)
    }

    fn in_new_folder(binary: &str, arguments: &[&str], is_copy: bool) -> Result<Server, ServerError> {
        let folder = TempDir::with_prefix("groundplane-")
            .map_err(|error| ServerError(format!("no folder can be made: {error}")))?;
        let data = folder.path().join("data");
        if is_copy {
            template::copy_to(binary, &data);
        }
        let mut server = Self::start(binary, &data, arguments)?;
        server._folder = Some(folder);
        Ok(server)
    }

    /// Starts `binary serve` on `data`, on any free port, and waits until it is ready.
    pub fn start(binary: &str, data: &Path, arguments: &[&str]) -> Result<Server, ServerError> {
        Self::start_on(binary, data, "127.0.0.1:0", arguments)
    }

    /// Starts `binary serve` on `data` with no other flags than those that keep servers apart, as a user does first. `path` is
    /// where programs are looked for.
    pub fn start_plain(binary: &str, data: &Path, path: Option<&str>) -> Result<Server, ServerError> {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        Self::started(command, binary, data)
    }

    /// The same on a given address, such as the one that a server before it had.
    pub fn start_on(
        binary: &str,
        data: &Path,
        listen: &str,
        arguments: &[&str],
    ) -> Result<Server, ServerError> {
        let mut command = Command::new("sh");
        command
            // As many connections as the machine allows; tests bring thousands.
            .args(["-c", "ulimit -n $(ulimit -Hn); exec \"$0\" \"$@\"", binary])
            .args(["serve", "--listen", listen, "--data"])
            .arg(data)
            .args(alone(arguments))
            .args(arguments);
        Self::started(command, binary, data)
    }

    fn started(mut command: Command, binary: &str, data: &Path) -> Result<Server, ServerError> {
        let begun = Instant::now();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(log(data)?)
            .spawn()
            .map_err(|error| ServerError(format!("{binary} can't be started: {error}")))?;
        let line = first_line(&mut child);
        let took = begun.elapsed();
        let kubeconfig = kubeconfig_in(&line);
        let Some(kubeconfig) = kubeconfig else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(ServerError(format!("the server did not come up ({line:?}): {}", said(data))));
        };
        let client = Client::from_kubeconfig(&kubeconfig).map_err(ServerError)?;
        Ok(Server { child, data: data.to_owned(), kubeconfig, client, took, _folder: None })
    }

    /// A client with the administrator's certificate, with connections of its own.
    pub fn client(&self) -> Client {
        self.client.apart()
    }

    /// A client that shows no certificate.
    pub fn stranger(&self) -> Client {
        self.client.stranger()
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Where it keeps everything.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// What it has logged so far.
    pub fn said(&self) -> String {
        said(&self.data)
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The memory that it holds, in MiB; 0 if it has ended.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let held = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        held.and_then(|held| held.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
    }

    /// Ends it at once, as a crash would.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to stop, and waits until it has; `None` when it does not, or can't be asked.
    pub fn stop(mut self) -> Option<ExitStatus> {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        let begun = Instant::now();
        while asked.as_ref().is_ok_and(ExitStatus::success) && begun.elapsed() < PATIENCE {
            if let Ok(Some(ended)) = self.child.try_wait() {
                return Some(ended);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the server said:\n{}", said(&self.data));
        }
    }
}

/// The first line that it prints: it is ready. Empty when it ends before, or takes too long.
fn first_line(child: &mut Child) -> String {
    let Some(printed) = child.stdout.take() else { return String::new() };
    let (told, line) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = BufReader::new(printed).read_line(&mut line);
        let _ = told.send(line);
    });
    line.recv_timeout(PATIENCE).unwrap_or_default()
}

/// The kubeconfig that the server names: in a line for a shell, or in JSON with `--log-format json`.
fn kubeconfig_in(line: &str) -> Option<PathBuf> {
    if let Ok(ready) = serde_json::from_str::<serde_json::Value>(line) {
        return ready["kubeconfig"].as_str().map(PathBuf::from);
    }
    let word = line.trim().strip_prefix("export KUBECONFIG=")?;
    let quoted = word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    Some(PathBuf::from(quoted.map_or_else(|| word.to_owned(), |inner| inner.replace("'\\''", "'"))))
}

/// The server's words lie beside its folder, not in it: what is in there is its own affair.
fn log_path(data: &Path) -> PathBuf {
    data.with_extension("log")
}

fn said(data: &Path) -> String {
    std::fs::read_to_string(log_path(data)).unwrap_or_default()
}

fn log(data: &Path) -> Result<Stdio, ServerError> {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(log_path(data));
    file.map(Stdio::from).map_err(|error| ServerError(format!("no log can be written: {error}")))
}
