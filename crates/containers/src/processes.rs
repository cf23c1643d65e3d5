//! Processes that are known by more than a number, and files that are whole or not there.

use std::fs;
use std::io;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags};
use serde::{Deserialize, Serialize};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A process by its number and the time it was started: numbers are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pid: i32,
    started: u64,
}

impl ProcessId {
    pub(crate) fn of(pid: Pid) -> io::Result<Self> {
        let pid = pid.as_raw_nonzero().get();
        Ok(Self { pid, started: start_time(pid)? })
    }

    /// Completes when the process has ended, or was not there.
    pub(crate) async fn ended(self) -> io::Result<()> {
        let Some(pid) = Pid::from_raw(self.pid) else { return Ok(()) };
        let descriptor = match rustix::process::pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Ok(descriptor) => descriptor,
            Err(rustix::io::Errno::SRCH) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // Looked at after the descriptor is open: it is about this process and no later one.
        if start_time(self.pid).ok() != Some(self.started) {
            return Ok(());
        }
        #[allow(
            deprecated,
            reason = "an OwnedFd keeps its descriptor, which is what the unsafe replacement asks for"
        )]
        let descriptor = AsyncFd::with_interest(descriptor, Interest::READABLE)?;
        descriptor.readable().await.map(|_| ())
    }
}

/// When a process was started, in ticks since the boot.
fn start_time(pid: i32) -> io::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name of the program is in parentheses and may contain anything.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let field = after_name.split_whitespace().nth(19).and_then(|field| field.parse().ok());
    field.ok_or_else(|| io::Error::other("unknown form of /proc/PID/stat"))
}

/// Writes a file so that readers see all of it or nothing.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    fs::write(&new, bytes)?;
    fs::rename(&new, path)
}
