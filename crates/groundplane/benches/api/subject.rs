//! The server that is measured: ours, started for it, or somebody's.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testbed::bench::{Outcome, machine};
use testbed::server::Server;

use crate::connection::Connection;
use crate::kubeconfig::Kubeconfig;
use crate::objects::{DEFINED, DEFINITION, DEFINITIONS, MACHINES};
use crate::options::Options;

/// A server, and how it is reached.
pub struct Subject {
    pub at: Kubeconfig,
    processes: Vec<String>,
    /// `None` when it is somebody's.
    ours: Option<Ours>,
}

struct Ours {
    server: Server,
    how: How,
    folder: TempDir,
}

/// How ours is started.
#[derive(Clone)]
pub struct How {
    binary: PathBuf,
    arguments: Vec<String>,
    dir: PathBuf,
}

impl How {
    pub fn of(options: &Options) -> How {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_groundplane"));
        How {
            binary: options.binary.clone().unwrap_or(built),
            arguments: options.serve.clone(),
            dir: options.dir.clone(),
        }
    }

    /// Starts a server on a folder, and waits until it says that it is ready; how long that took.
    fn start(&self, data: &Path) -> Outcome<(Server, Kubeconfig, Duration)> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let begun = Instant::now();
        let server = Server::start(&self.binary.to_string_lossy(), data, &arguments)?;
        let at = Kubeconfig::read(server.kubeconfig())?;
        Connection::open(&at)?.get("/readyz")?;
        Ok((server, at, begun.elapsed()))
    }

    fn folder(&self) -> Outcome<TempDir> {
        Ok(tempfile::Builder::new().prefix("groundplane-bench-").tempdir_in(&self.dir)?)
    }

    /// How long it takes from the start to ready on an empty folder.
    pub fn first_start(&self) -> Outcome<Duration> {
        let folder = self.folder()?;
        Ok(self.start(&folder.path().join("data"))?.2)
    }
}

impl Subject {
    /// The server that is meant, without a definition of machines.
    pub fn of(options: &Options) -> Outcome<Subject> {
        match &options.kubeconfig {
            Some(path) => {
                let processes = options.pid.iter().map(u32::to_string).collect();
                let subject = Subject { at: Kubeconfig::read(path)?, processes, ours: None };
                subject.leave()?;
                Ok(subject)
            }
            None => {
                let how = How::of(options);
                let folder = how.folder()?;
                let (server, at, _) = how.start(&folder.path().join("data"))?;
                let processes = vec![server.pid().to_string()];
                Ok(Subject { at, processes, ours: Some(Ours { server, how, folder }) })
            }
        }
    }

    pub fn is_ours(&self) -> bool {
        self.ours.is_some()
    }

    /// CPU of its processes; nothing where they are not known.
    pub fn cpu(&self) -> Outcome<Option<Duration>> {
        let mut sum = Duration::ZERO;
        for process in &self.processes {
            sum += machine::cpu_of(process)?;
        }
        Ok((!self.processes.is_empty()).then_some(sum))
    }

    /// Memory of its processes in MiB, as it is now and as it was at most; nothing where they are not known.
    pub fn memory(&self) -> Outcome<Option<(f64, f64)>> {
        let (mut now, mut most) = (0.0, 0.0);
        for process in &self.processes {
            now += machine::memory_of(process, "VmRSS:")? as f64 / f64::from(1 << 20);
            most += machine::memory_of(process, "VmHWM:")? as f64 / f64::from(1 << 20);
        }
        Ok((!self.processes.is_empty()).then_some((now, most)))
    }

    /// Defines machines, and waits until they are served.
    pub fn define(&self) -> Outcome {
        let mut connection = Connection::open(&self.at)?;
        connection.expect(201, ("POST", DEFINITIONS, "application/json"), DEFINED.as_bytes())?;
        self.until(|code| code == 200)
    }

    /// Removes the machines and their definition from a server that is somebody's.
    pub fn leave(&self) -> Outcome {
        if self.is_ours() {
            return Ok(());
        }
        let path = format!("{DEFINITIONS}/{DEFINITION}");
        Connection::open(&self.at)?.send("DELETE", &path, "", b"")?.text()?;
        self.until(|code| code == 404)
    }

    fn until(&self, done: impl Fn(u16) -> bool) -> Outcome {
        let begun = Instant::now();
        let mut connection = Connection::open(&self.at)?;
        while begun.elapsed() < Duration::from_secs(600) {
            let incoming = connection.send("GET", &format!("{MACHINES}?limit=1"), "", b"")?;
            let code = incoming.code;
            incoming.text()?;
            if done(code) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err("the definition of machines did not become what it should within ten minutes".into())
    }

    /// Ends ours, as a crash would or as it should be, and starts it again on what it has kept: how long it took until
    /// it was ready.
    pub fn restart(self, crash: bool) -> Outcome<(Subject, Duration)> {
        let Some(Ours { server, how, folder }) = self.ours else {
            return Err("a server that is somebody's is not restarted".into());
        };
        match crash {
            true => server.kill(),
            false => drop(server.stop()),
        }
        let (server, at, took) = how.start(&folder.path().join("data"))?;
        let processes = vec![server.pid().to_string()];
        Ok((Subject { at, processes, ours: Some(Ours { server, how, folder }) }, took))
    }
}
