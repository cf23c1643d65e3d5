//! A running groundplane: the real binary, on a port of its own, with a folder of its own.

mod client;

pub use client::{Answer, Client, Lines};

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to be ready; far more than it needs on a quiet machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a server did not come up.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ServerError(String);

/// A server that is ended, hard, when this is dropped.
pub struct Server {
    child: Child,
    kubeconfig: PathBuf,
    client: Client,
    /// How long it took from start to ready.
    pub took: Duration,
}

impl Server {
    /// Starts `binary serve` on `data` with further arguments, and waits until it is ready.
    pub fn start(binary: &Path, data: &Path, arguments: &[&str]) -> Result<Server, ServerError> {
        let begun = Instant::now();
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(log(data)?)
            .spawn()
            .map_err(|error| ServerError(format!("{} can't be started: {error}", binary.display())))?;
        let printed = child.stdout.take().map(BufReader::new);
        let mut line = String::new();
        let read = printed.map(|mut printed| printed.read_line(&mut line));
        let kubeconfig = line.trim().strip_prefix("export KUBECONFIG=").map(PathBuf::from);
        let Some(kubeconfig) = kubeconfig else {
            let _ = child.kill();
            let _ = child.wait();
            let said = std::fs::read_to_string(data.join("server.log")).unwrap_or_default();
            return Err(ServerError(format!("the server did not come up ({read:?}, {line:?}): {said}")));
        };
        let client = Client::from_kubeconfig(&kubeconfig).map_err(ServerError)?;
        let server = Server { child, kubeconfig, client, took: begun.elapsed() };
        match begun.elapsed() < PATIENCE {
            true => Ok(server),
            false => Err(ServerError(format!("the server took {:?} to be ready", begun.elapsed()))),
        }
    }

    /// A client with the administrator's certificate.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, as a crash would.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to stop, and waits until it has; whether it ended well.
    pub fn stop(mut self) -> bool {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        asked.is_ok_and(|asked| asked.success()) && self.child.wait().is_ok_and(|status| status.success())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn log(data: &Path) -> Result<Stdio, ServerError> {
    std::fs::create_dir_all(data).map_err(|error| ServerError(error.to_string()))?;
    let file = std::fs::OpenOptions::new().create(true).append(true).open(data.join("server.log"));
    file.map(Stdio::from).map_err(|error| ServerError(format!("no log can be written: {error}")))
}
