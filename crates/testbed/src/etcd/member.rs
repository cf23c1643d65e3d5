use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use super::Error;

/// One etcd process: what it was started with outlives it, so that it can be started again.
pub(super) struct Member {
    index: usize,
    flags: Vec<String>,
    log: PathBuf,
    child: Option<Child>,
}

impl Member {
    pub(super) fn new(index: usize, flags: Vec<String>, dir: &Path) -> Self {
        Self { index, flags, log: dir.join(format!("member-{index}.log")), child: None }
    }

    pub(super) fn log(&self) -> &Path {
        &self.log
    }

    pub(super) fn is_started(&self) -> bool {
        self.child.is_some()
    }

    pub(super) fn start(&mut self) -> Result<(), Error> {
        if self.is_started() {
            return Ok(());
        }
        let prepare = |source| Error::Prepare { what: self.log.display().to_string(), source };
        let log = File::options().create(true).append(true).open(&self.log).map_err(prepare)?;
        let errors = log.try_clone().map_err(prepare)?;
        let child = Command::new(program())
            // ETCD_* variables of the person who runs the tests would change the member's settings.
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .args(&self.flags)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(|source| Error::Program { program: program(), source })?;
        self.child = Some(child);
        Ok(())
    }

    /// SIGKILL, which also ends a paused process; the data stays.
    pub(super) fn kill(&mut self) -> io::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Sends a signal by name through kill(1): the standard library has no call for it.
    pub(super) fn signal(&self, name: &str) -> Result<(), Error> {
        let Some(child) = &self.child else { return Ok(()) };
        Command::new("kill")
            .args([&format!("-{name}"), &child.id().to_string()])
            .status()
            .map(drop)
            .map_err(|source| Error::Program { program: "kill".to_owned(), source })
    }

    /// Whether every thread of the process is stopped by a signal, or there is none.
    pub(super) fn stands_still(&self) -> bool {
        let Some(child) = &self.child else { return true };
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", child.id())) else { return true };
        threads.flatten().all(|thread| {
            let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            // The state follows the name, which stands in brackets and may hold anything.
            stat.rsplit_once(')').is_none_or(|(_, rest)| {
                matches!(rest.trim_start().as_bytes(), [b'T' | b't' | b'Z' | b'X', ..])
            })
        })
    }

    /// An error with the end of the log if the process is gone.
    pub(super) fn still_runs(&mut self) -> Result<(), Error> {
        let ended = match &mut self.child {
            Some(child) => !matches!(child.try_wait(), Ok(None)),
            None => true,
        };
        if ended {
            return Err(Error::Ended { member: self.index, log: self.end_of_log() });
        }
        Ok(())
    }

    fn end_of_log(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and the process may well be gone already.
        let _ = self.kill();
    }
}

pub(super) fn program() -> String {
    env::var("ETCD").unwrap_or_else(|_| "etcd".to_owned())
}
