//! Commands in running containers, by `runc exec`.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use futures_util::FutureExt;
use rustix::process::{Pid, Signal};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::machine::Machine;
use crate::error::{Error, Result};
use crate::runtime::{ExecRequest, ExecSession, TerminalSize};
use crate::state::ExitCause;

/// Starts a command in a container.
pub(super) fn exec(machine: &Arc<Machine>, container_id: &str, request: &ExecRequest) -> Result<ExecSession> {
    if request.command.is_empty() {
        return Err(Error::machine("running a command", "the command is empty"));
    }
    let failed = |error: io::Error| Error::machine(format!("running a command in {container_id}"), error);
    match request.terminal {
        None => without_terminal(machine, container_id, request).map_err(failed),
        Some(size) => with_terminal(machine, container_id, request, size).map_err(failed),
    }
}

/// Runs a command to its end, for probes. Its output is the reason of a failure.
pub(super) async fn succeeds(machine: &Machine, container_id: &str, argv: &[String]) -> Result<(), String> {
    let guard = Guard::new(machine);
    let mut command = guard.command(machine, container_id, &[], argv);
    let output =
        command.stdin(Stdio::null()).kill_on_drop(true).output().await.map_err(|error| error.to_string())?;
    guard.disarm();
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = [output.stdout, output.stderr].concat();
            let said: String = String::from_utf8_lossy(&said).trim().chars().take(200).collect();
            Err(format!("the command ended with {}: {said}", cause_of(output.status)))
        }
    }
}

fn without_terminal(
    machine: &Arc<Machine>,
    container_id: &str,
    request: &ExecRequest,
) -> io::Result<ExecSession> {
    let guard = Guard::new(machine);
    let mut child = guard
        .command(machine, container_id, &[], &request.command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    let (resize, _) = mpsc::channel(1);
    Ok(ExecSession {
        stdin: Some(Box::new(child.stdin.take().ok_or_else(missing)?)),
        stdout: Box::new(child.stdout.take().ok_or_else(missing)?),
        stderr: Some(Box::new(child.stderr.take().ok_or_else(missing)?)),
        resize,
        exit: wait(child, guard).boxed(),
    })
}

fn with_terminal(
    machine: &Arc<Machine>,
    container_id: &str,
    request: &ExecRequest,
    size: TerminalSize,
) -> io::Result<ExecSession> {
    let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    set_size(&master, size)?;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    let guard = Guard::new(machine);
    let child = guard
        .command(machine, container_id, &["--tty"], &request.command)
        .stdin(ours.try_clone()?)
        .stdout(ours.try_clone()?)
        .stderr(ours)
        .spawn()?;
    let (resize, mut sizes) = mpsc::channel::<TerminalSize>(4);
    let sized = master.try_clone()?;
    let runc = child.id();
    tokio::spawn(async move {
        while let Some(size) = sizes.recv().await {
            let _ = set_size(&sized, size);
            // runc is not in the terminal's foreground, so the kernel does not tell it.
            if let Some(pid) = runc.and_then(|pid| Pid::from_raw(pid as i32)) {
                let _ = rustix::process::kill_process(pid, Signal::WINCH);
            }
        }
    });
    rustix::io::ioctl_fionbio(&master, true)?;
    Ok(ExecSession {
        stdin: Some(Box::new(Terminal::new(master.try_clone()?)?)),
        stdout: Box::new(Terminal::new(master)?),
        stderr: None,
        resize,
        exit: wait(child, guard).boxed(),
    })
}

async fn wait(mut child: Child, guard: Guard) -> Result<ExitCause> {
    let status = child.wait().await.map_err(|error| Error::machine("waiting for a command", error))?;
    guard.disarm();
    Ok(cause_of(status))
}

fn cause_of(status: ExitStatus) -> ExitCause {
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitCause::Code(code),
        (None, Some(signal)) => ExitCause::Signal(signal),
        (None, None) => ExitCause::Unknown,
    }
}

fn set_size(terminal: &OwnedFd, size: TerminalSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(rustix::termios::tcsetwinsize(terminal, size)?)
}

/// Kills the command in the container when nobody waits for it any more: runc that is killed leaves it running.
struct Guard(Option<PathBuf>);

impl Guard {
    fn new(machine: &Machine) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("exec.{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(Some(machine.settings.run.join(name)))
    }

    fn command(&self, machine: &Machine, container_id: &str, options: &[&str], argv: &[String]) -> Command {
        let mut command = Command::new(&machine.runc.program);
        command.arg("--root").arg(&machine.runc.root).arg("exec").args(options);
        if let Some(pid_file) = &self.0 {
            command.arg("--pid-file").arg(pid_file);
        }
        command.arg(container_id).args(argv.iter().map(OsString::from)).kill_on_drop(true);
        command
    }

    fn disarm(mut self) {
        if let Some(pid_file) = self.0.take() {
            let _ = std::fs::remove_file(pid_file);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(pid_file) = self.0.take() else { return };
        let pid = std::fs::read_to_string(&pid_file).ok().and_then(|pid| pid.trim().parse().ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        let _ = std::fs::remove_file(pid_file);
    }
}

/// Our end of a terminal.
struct Terminal(AsyncFd<File>);

impl Terminal {
    fn new(fd: OwnedFd) -> io::Result<Self> {
        #[allow(
            deprecated,
            reason = "a File keeps its descriptor, which is what the unsafe replacement asks for"
        )]
        let fd = AsyncFd::new(File::from(fd))?;
        Ok(Self(fd))
    }
}

impl AsyncRead for Terminal {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(context))?;
            let read = guard.try_io(|file| {
                use std::io::Read;
                file.get_ref().read(buffer.initialize_unfilled())
            });
            match read {
                Err(_) => continue,
                Ok(Ok(read)) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                // The other end is closed: that is how a terminal ends.
                Ok(Err(error)) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Terminal {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_write_ready(context))?;
            let written = guard.try_io(|file| {
                use std::io::Write;
                file.get_ref().write(bytes)
            });
            if let Ok(written) = written {
                return Poll::Ready(written);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
