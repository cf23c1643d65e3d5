//! The trait of whatever runs instances.

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{broadcast, mpsc};

use crate::error::Result;
use crate::id::InstanceId;
use crate::spec::InstanceSpec;
use crate::state::{Check, ExitCause, InstanceState, Usage};

/// Runs instances on this machine.
///
/// Calls return when a request is accepted or done, as each says; what happens later is seen through [`Runtime::events`] and
/// [`Runtime::observe`]. All calls may be repeated. The runtime goes on by itself: it restarts containers, probes them and
/// publishes ports without its caller.
pub trait Runtime: Send + Sync + 'static {
    /// Makes sure that the instance runs. Returns when the spec is accepted and kept; pulling and starting go on behind it.
    ///
    /// Under an epoch that is known already nothing is changed: what runs, or was stopped, stays. A higher epoch stops what
    /// runs under the id, within the grace period of the old spec, and starts the new spec after it. A lower epoch is refused
    /// with [`StaleEpoch`](crate::Error::StaleEpoch).
    fn ensure(&self, spec: InstanceSpec) -> BoxFuture<'_, Result<()>>;

    /// Stops the instance: SIGTERM to every container, after `grace` SIGKILL. Returns when nothing of it runs. The instance
    /// stays stopped under its epoch; its logs and its state are kept until it is removed.
    fn stop<'a>(&'a self, id: &'a InstanceId, grace: Duration) -> BoxFuture<'a, Result<()>>;

    /// Removes the instance: kills what still runs and deletes its file systems, network, volumes and logs. Returns when
    /// nothing is left. An instance that is not there is removed already.
    fn remove<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<()>>;

    /// The state of every instance, ordered by id.
    fn list(&self) -> BoxFuture<'_, Result<Vec<InstanceState>>>;

    /// The state of an instance.
    fn observe<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<InstanceState>>;

    /// What an instance uses.
    fn usage<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<Usage>>;

    /// Changes from now on. A receiver that lags has missed some and should list.
    fn events(&self) -> broadcast::Receiver<Event>;

    /// The log of a container.
    fn logs(&self, request: LogRequest) -> BoxFuture<'_, Result<LogStream>>;

    /// Runs a command in a container.
    fn exec(&self, request: ExecRequest) -> BoxFuture<'_, Result<ExecSession>>;

    /// Connects to a TCP port inside of the instance's network, whether it is published or not.
    fn connect<'a>(&'a self, id: &'a InstanceId, port: u16) -> BoxFuture<'a, Result<TcpStream>>;

    /// What this machine can do, and what is missing, with the next step. Made anew at each call.
    fn check(&self) -> BoxFuture<'_, Check>;
}

/// Something about an instance has changed: ask for its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The instance.
    pub id: InstanceId,
    /// Its epoch at the change.
    pub epoch: u64,
    /// Whether it was removed.
    pub removed: bool,
}

/// Which part of which log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRequest {
    /// The instance.
    pub id: InstanceId,
    /// The container. May be left out where there is only one.
    pub container: Option<String>,
    /// Goes on with what is written later, until the stream is dropped or the instance is removed. Restarts are followed.
    pub follow: bool,
    /// Leaves out what is older.
    pub since: Option<SystemTime>,
    /// The log of the run before the present one.
    pub previous: bool,
    /// Only this many lines of what there is.
    pub tail: Option<usize>,
}

impl LogRequest {
    /// The whole log of the present run.
    pub fn new(id: InstanceId) -> Self {
        Self { id, container: None, follow: false, since: None, previous: false, tail: None }
    }
}

/// Which of its two outputs a container wrote to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When it was written.
    pub at: SystemTime,
    /// Where it was written to.
    pub output: Output,
    /// The line without its end. Bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Whether the line goes on in the next one, because it was too long.
    pub partial: bool,
}

/// Lines of a log, as they come.
#[derive(Debug)]
pub struct LogStream(mpsc::Receiver<Result<LogLine>>);

impl LogStream {
    /// A stream with a sender for its lines. Dropping the sender ends the stream.
    pub fn new(capacity: usize) -> (mpsc::Sender<Result<LogLine>>, Self) {
        let (sender, receiver) = mpsc::channel(capacity);
        (sender, Self(receiver))
    }

    /// The next line, or None at the end.
    pub async fn next(&mut self) -> Option<Result<LogLine>> {
        self.0.recv().await
    }

    /// The lines up to the end.
    pub async fn collect(mut self) -> Result<Vec<LogLine>> {
        let mut lines = Vec::new();
        while let Some(line) = self.next().await {
            lines.push(line?);
        }
        Ok(lines)
    }
}

/// A command to run in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecRequest {
    /// The instance.
    pub id: InstanceId,
    /// The container. May be left out where there is only one.
    pub container: Option<String>,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Gives it a terminal of this size. Standard error is then part of standard output.
    pub terminal: Option<TerminalSize>,
}

/// Size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// A command that runs in a container. Dropping the session kills it.
pub struct ExecSession {
    /// Where its input is written to. Dropping it closes the input.
    pub stdin: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// Its output.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// Its error output. None where it has a terminal.
    pub stderr: Option<Box<dyn AsyncRead + Send + Unpin>>,
    /// Takes new sizes of the terminal.
    pub resize: mpsc::Sender<TerminalSize>,
    /// Completes when the command has ended.
    pub exit: BoxFuture<'static, Result<ExitCause>>,
}

impl std::fmt::Debug for ExecSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecSession").finish_non_exhaustive()
    }
}
