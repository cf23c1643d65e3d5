//! A server that runs from an installed package.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::root::{HOST, Root};
use super::{Subject, ensure, run};
use crate::step::Failure;

/// Debug builds on a busy machine take a while.
const PATIENCE: Duration = Duration::from_secs(180);

/// How an installed server is started.
pub struct Start {
    pub user: (u32, u32),
    pub environment: Vec<(String, String)>,
    /// Program and arguments.
    pub words: Vec<String>,
}

impl Start {
    /// Starts it, asks for its readiness and its version by address and by name, and stops it.
    pub fn check(&self, root: &Root, subject: &Subject) -> Result<(), Failure> {
        let (program, arguments) =
            self.words.split_first().ok_or_else(|| Failure("there is nothing to start".to_owned()))?;
        let mut command = root.command(self.user, program);
        command.args(arguments).envs(self.environment.iter().cloned());
        let mut running = Running::start(command)?;
        let kubeconfig = running.wait_until_ready()?;

        let ask = |words: &[&str]| {
            run(root.command(self.user, program).arg("--kubeconfig").arg(&kubeconfig).args(words))
        };
        let url = ask(&["config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"])?;
        let ready = ask(&["get", "--raw", "/readyz"])?;
        ensure(ready.trim() == "ok", || format!("/readyz answered {ready:?}"))?;
        let versions = ask(&["version"])?;
        let version = &subject.version;
        // The server speaks of the Kubernetes version first whose API it has.
        for said in [format!("Client Version: v{version}\n"), format!("+groundplane-{version}\n")] {
            ensure(versions.contains(&said), || format!("no {said:?} in {versions:?}"))?;
        }
        // Names resolve in a static binary too.
        let port = url.trim().rsplit(':').next().unwrap_or_default().to_owned();
        let by_name = ask(&["--server", &format!("https://{HOST}:{port}"), "get", "--raw", "/readyz"])?;
        ensure(by_name.trim() == "ok", || format!("/readyz by name answered {by_name:?}"))?;
        running.stop()
    }
}

/// The process; it does not outlive a failed check.
struct Running {
    child: Child,
    lines: mpsc::Receiver<String>,
    /// What it wrote to stderr, for a failure to show.
    log: Option<thread::JoinHandle<String>>,
}

impl Running {
    fn start(mut command: Command) -> Result<Self, Failure> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = command.spawn();
        let mut child = started.map_err(|error| Failure(format!("starting {command:?}: {error}")))?;
        let (send, lines) = mpsc::channel();
        let stdout = child.stdout.take();
        thread::spawn(move || {
            for line in
                stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok)
            {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let stderr = child.stderr.take();
        let log = thread::spawn(move || {
            let mut text = String::new();
            if let Some(mut stderr) = stderr {
                // What can't be read is not shown.
                let _ = stderr.read_to_string(&mut text);
            }
            text
        });
        Ok(Self { child, lines, log: Some(log) })
    }

    /// The administrator's kubeconfig, which the server prints once it is ready.
    fn wait_until_ready(&mut self) -> Result<String, Failure> {
        let start = Instant::now();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
            if let Some(path) = kubeconfig_in(&line) {
                return Ok(path);
            }
        }
        Err(self.failed("did not get ready"))
    }

    fn stop(mut self) -> Result<(), Failure> {
        run(Command::new("kill").arg(self.child.id().to_string()))?;
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    return Err(self.failed(&format!("ended with {status} when told to stop")));
                }
                Ok(None) if start.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(20)),
                Ok(None) => return Err(self.failed("did not stop")),
                Err(error) => return Err(Failure(format!("waiting for the server: {error}"))),
            }
        }
    }

    fn failed(&mut self, what: &str) -> Failure {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let log = self.log.take().and_then(|log| log.join().ok()).unwrap_or_default();
        Failure(format!("the server {what}:\n{log}"))
    }
}

/// The path in the line that the server prints, as text or, with `--log-format json`, as JSON.
fn kubeconfig_in(line: &str) -> Option<String> {
    if let Some(path) = line.strip_prefix("export KUBECONFIG=") {
        return Some(path.to_owned());
    }
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    line["kubeconfig"].as_str().map(str::to_owned)
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
