//! Keeps a container running: starts runs, takes up those that run already, probes them, and restarts them with back-off.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{Instance, Order, Sandbox};
use crate::error::{Error, Result};
use crate::image::Image;
use crate::logs;
use crate::oci::bundle::Bundle;
use crate::oci::rootfs::{Rootfs, unmount};
use crate::oci::{folders, probe};
use crate::processes::{ProcessId, write_whole};
use crate::shim::{self, ShimExit, ShimSpec};
use crate::spec::{ContainerSpec, RestartPolicy};
use crate::state::{ContainerPhase, Exit, ExitCause};

/// How long a shim may take for what it does at once.
const SHIM_PATIENCE: Duration = Duration::from_secs(10);
const LAST: &str = "last";

/// The last run that has ended.
#[derive(Serialize, Deserialize)]
struct LastRun {
    run: u32,
    exit: Exit,
}

/// A run of a container.
struct Run<'a> {
    container: &'a ContainerSpec,
    image: &'a Image,
    number: u32,
    id: String,
    folder: PathBuf,
}

/// How a run ended.
enum Ending {
    Exited { exit: Exit, unhealthy: Option<Error> },
    NotStarted(Error),
}

impl Instance {
    /// The id that runc knows a run by.
    pub(super) fn container_id(&self, name: &str, run: u32) -> String {
        format!("{}.{}.{name}.{run}", self.machine.settings.prefix(), self.spec.id)
    }

    /// Keeps a container as its restart policy says, until it has ended for good or the order is another.
    pub(super) async fn keep_container(self: &Arc<Self>, index: usize, sandbox: &Sandbox) {
        let container = &self.spec.containers[index];
        let state_folder = self.machine.settings.container_folder(&self.spec.id, &container.name);
        let last: Option<LastRun> = folders::read(&state_folder.join(LAST));
        let mut number = last.as_ref().map_or(0, |last| last.run + 1);
        let mut failures = 0;
        if let Some(last) = last {
            let is_final = !self.is_restarted(last.exit.cause);
            self.observed().containers[index].last_exit = Some(last.exit);
            if is_final {
                self.observed().containers[index].restarts = last.run;
                return self.update(|observed| observed.containers[index].phase = ContainerPhase::Exited);
            }
        }
        while !self.is_ordered_away() {
            let run = Run {
                container,
                image: &sandbox.images[index],
                number,
                id: self.container_id(&container.name, number),
                folder: state_folder.join(number.to_string()),
            };
            let begun = Instant::now();
            let ending = self.run_once(index, &run, sandbox).await;
            if let Err(error) = self.clear_run(&container.name, number).await {
                self.fail(error);
            }
            if begun.elapsed() >= self.machine.settings.backoff.forgiven_after {
                failures = 0;
            }
            failures += 1;
            let until = SystemTime::now() + self.machine.settings.backoff.wait(failures);
            let (is_final, error) = match ending {
                Ending::NotStarted(error) => (self.spec.restart == RestartPolicy::Never, Some(error)),
                Ending::Exited { exit, unhealthy } => {
                    let cause = exit.cause;
                    let error = unhealthy.unwrap_or_else(|| self.error_of(container, &exit));
                    let last = LastRun { run: number, exit: exit.clone() };
                    if let Err(error) = folders::write(&state_folder.join(LAST), &last) {
                        self.fail(error);
                    }
                    self.observed().containers[index].last_exit = Some(exit);
                    number += 1;
                    (
                        !self.is_restarted(cause),
                        (!cause.is_success() || self.is_restarted(cause)).then_some(error),
                    )
                }
            };
            let is_over = is_final || self.is_ordered_away();
            self.update(|observed| {
                let container = &mut observed.containers[index];
                container.ready = false;
                container.phase = match is_over {
                    true => ContainerPhase::Exited,
                    false => ContainerPhase::BackOff { until },
                };
                observed.failure = error;
            });
            if is_over {
                return;
            }
            tokio::select! {
                () = sleep(self.machine.settings.backoff.wait(failures)) => {}
                () = self.ordered_away() => {}
            }
        }
        self.update(|observed| observed.containers[index].phase = ContainerPhase::Exited);
    }

    /// Starts a run, or takes up the one that is there, and stays with it to its end.
    async fn run_once(self: &Arc<Self>, index: usize, run: &Run<'_>, sandbox: &Sandbox) -> Ending {
        self.update(|observed| {
            let container = &mut observed.containers[index];
            container.phase = ContainerPhase::Created;
            container.restarts = run.number;
        });
        let process = match run.folder.join(shim::SPEC).exists() {
            true => self.find_shim(run).await,
            false => match self.start(run).await {
                Ok(process) => process,
                Err(error) => return Ending::NotStarted(error),
            },
        };
        let mut unhealthy = None;
        if let Some(process) = process {
            let started = fs::read(run.folder.join(shim::STARTED)).ok();
            let since = started.and_then(|started| serde_json::from_slice(&started).ok());
            if let Some(since) = since {
                self.update(|observed| {
                    let container = &mut observed.containers[index];
                    container.phase = ContainerPhase::Running { since };
                    container.ready = run.container.readiness.is_none();
                    if container.ready {
                        observed.failure = None;
                    }
                });
            }
            tokio::select! {
                _ = process.ended() => {}
                () = self.watch_readiness(index, run, sandbox) => {}
                reason = self.watch_liveness(run, sandbox) => {
                    self.update(|observed| observed.containers[index].ready = false);
                    self.halt(run, process, Some(Instant::now() + self.spec.grace)).await;
                    unhealthy = Some(reason);
                }
                () = self.ordered_away() => self.halt(run, process, None).await,
            }
        }
        let reason =
            unhealthy.map(|reason| Error::Unhealthy { container: run.container.name.clone(), reason });
        match self.ending_of(run) {
            Ending::Exited { exit, .. } => Ending::Exited { exit, unhealthy: reason },
            not_started => not_started,
        }
    }

    async fn start(&self, run: &Run<'_>) -> Result<Option<ProcessId>> {
        let settings = &self.machine.settings;
        let name = &run.container.name;
        let failed = |error: std::io::Error| Error::machine(format!("starting container {name}"), error);
        folders::make(&run.folder).map_err(failed)?;
        let layers: Vec<PathBuf> =
            run.image.layers.iter().map(|layer| self.machine.images.layer_folder(layer)).collect();
        self.make_rootfs(run, &layers).await?;
        let cgroup = self.machine.cgroups.path(&self.spec.id, &format!("{name}-{}", run.number));
        let bundle = Bundle {
            settings,
            spec: &self.spec,
            container: run.container,
            image: &run.image.config.config.clone().unwrap_or_default(),
            layers: &layers,
            rootfs: &run.folder.join("rootfs"),
            network_namespace: &self.machine.networks.namespace(&self.spec.id),
            cgroup: &cgroup,
        };
        let config =
            bundle.config().map_err(|reason| Error::NotStartable { container: name.clone(), reason })?;
        write_whole(&run.folder.join("config.json"), config.to_string().as_bytes()).map_err(failed)?;
        let log_folder = settings.log_folder(&self.spec.id, name);
        logs::forget_runs(&log_folder, run.number, settings.logs.runs);
        let spec = ShimSpec {
            runc: self.machine.runc.program.clone(),
            runc_root: self.machine.runc.root.clone(),
            container_id: run.id.clone(),
            log_folder,
            run: run.number,
            logs: settings.logs.clone(),
            memory_events: self.machine.cgroups.memory_events(&cgroup),
        };
        let spec = serde_json::to_vec(&spec).map_err(|error| failed(error.into()))?;
        write_whole(&run.folder.join(shim::SPEC), &spec).map_err(failed)?;
        self.start_shim(run).await.map_err(failed)
    }

    async fn make_rootfs(&self, run: &Run<'_>, layers: &[PathBuf]) -> Result<()> {
        let settings = &self.machine.settings;
        let (mode, root_id) = (settings.rootfs, settings.user_namespace.map_or(0, |ids| ids.base));
        let writable = self.writable(&run.container.name, run.number);
        let (target, layers) = (run.folder.join("rootfs"), layers.to_vec());
        let made = tokio::task::spawn_blocking(move || {
            Rootfs { mode, layers, writable: &writable, target: &target, root_id }.make()
        });
        made.await.map_err(|error| Error::machine("making a root file system", error))?
    }

    /// Starts a shim and waits until its container runs or could not be started.
    async fn start_shim(&self, run: &Run<'_>) -> std::io::Result<Option<ProcessId>> {
        let Some((program, arguments)) = self.machine.settings.shim.split_first() else {
            return Err(std::io::Error::other("no program is set for the shim"));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .arg(&run.folder)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take();
        // Reaps it, whenever it ends.
        tokio::spawn(async move { child.wait().await });
        if let Some(stdout) = stdout {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).await?;
        }
        Ok(read_process(&run.folder))
    }

    /// The shim of a run that was started by somebody before us.
    async fn find_shim(&self, run: &Run<'_>) -> Option<ProcessId> {
        let patience = Instant::now() + SHIM_PATIENCE;
        loop {
            let process = read_process(&run.folder);
            let is_decided = [shim::STARTED, shim::EXIT].iter().any(|file| run.folder.join(file).exists());
            if is_decided || Instant::now() > patience {
                return process;
            }
            // Killed before it could say anything.
            if let Some(process) = process
                && timeout(Duration::from_millis(10), process.ended()).await.is_ok()
            {
                return Some(process);
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn watch_readiness(self: &Arc<Self>, index: usize, run: &Run<'_>, sandbox: &Sandbox) {
        if let Some(readiness) = &run.container.readiness {
            probe::watch(&self.machine, &sandbox.target, &run.id, readiness, |result| {
                self.update(|observed| {
                    let container = &mut observed.containers[index];
                    container.ready = result.is_ok();
                    container.probe_failure = result.err();
                    if container.ready {
                        observed.failure = None;
                    }
                });
                false
            })
            .await;
        }
        std::future::pending().await
    }

    /// Completes with the reason when the container has to be restarted.
    async fn watch_liveness(&self, run: &Run<'_>, sandbox: &Sandbox) -> String {
        let Some(liveness) = &run.container.liveness else { return std::future::pending().await };
        let mut failure = None;
        probe::watch(&self.machine, &sandbox.target, &run.id, liveness, |result| {
            failure = result.err();
            failure.is_some()
        })
        .await;
        failure.unwrap_or_default()
    }

    /// SIGTERM, and SIGKILL when the time is over: `until`, or what the order says, which may be brought forward.
    async fn halt(&self, run: &Run<'_>, process: ProcessId, until: Option<Instant>) {
        let mut orders = self.orders.subscribe();
        // A container that has just ended can't be told.
        let _ = self.machine.runc.kill(&run.id, "TERM").await;
        loop {
            let ordered = match *orders.borrow_and_update() {
                Order::Run => None,
                Order::Stop { until } | Order::Remove { until } => Some(until),
            };
            let until = ordered.into_iter().chain(until).min().unwrap_or_else(Instant::now);
            tokio::select! {
                _ = process.ended() => return,
                () = sleep_until(until) => break,
                Ok(()) = orders.changed() => {}
            }
        }
        let _ = self.machine.runc.kill(&run.id, "KILL").await;
        let _ = timeout(SHIM_PATIENCE, process.ended()).await;
    }

    fn ending_of(&self, run: &Run<'_>) -> Ending {
        let exit = fs::read(run.folder.join(shim::EXIT)).ok();
        let exit = exit.and_then(|exit| serde_json::from_slice::<ShimExit>(&exit).ok());
        let log_folder = self.machine.settings.log_folder(&self.spec.id, &run.container.name);
        let last_lines = logs::last_lines(&log_folder, run.number);
        match exit {
            Some(ShimExit::Ended { at, cause }) => {
                Ending::Exited { exit: Exit { at, cause, last_lines }, unhealthy: None }
            }
            Some(ShimExit::NotStarted { reason }) => {
                Ending::NotStarted(Error::NotStartable { container: run.container.name.clone(), reason })
            }
            None => {
                let exit = Exit { at: SystemTime::now(), cause: ExitCause::Unknown, last_lines };
                Ending::Exited { exit, unhealthy: None }
            }
        }
    }

    fn error_of(&self, container: &ContainerSpec, exit: &Exit) -> Error {
        let (name, last_lines) = (container.name.clone(), exit.last_lines.clone());
        let limit_bytes = container.limits.memory_bytes.or(self.spec.limits.memory_bytes);
        match exit.cause {
            ExitCause::OutOfMemory => Error::OutOfMemory { container: name, limit_bytes, last_lines },
            cause => Error::Crashed { container: name, cause, last_lines },
        }
    }

    fn is_restarted(&self, cause: ExitCause) -> bool {
        match self.spec.restart {
            RestartPolicy::Always => true,
            RestartPolicy::OnFailure => !cause.is_success(),
            // Nobody knows whether it has done its work.
            RestartPolicy::Never => cause == ExitCause::Unknown,
        }
    }

    /// Clears every run of a container.
    pub(super) async fn clear_runs(&self, name: &str) -> Result<()> {
        let folder = self.machine.settings.container_folder(&self.spec.id, name);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let runs: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        for run in runs {
            self.clear_run(name, run).await?;
        }
        Ok(())
    }

    /// Kills what is left of a run and removes its mounts and files. Its log stays.
    async fn clear_run(&self, name: &str, run: u32) -> Result<()> {
        let folder = self.machine.settings.container_folder(&self.spec.id, name).join(run.to_string());
        self.machine.runc.delete(&self.container_id(name, run)).await?;
        if let Some(process) = read_process(&folder) {
            let _ = timeout(SHIM_PATIENCE, process.ended()).await;
        }
        unmount(&folder.join("rootfs"))?;
        folders::remove(&self.writable(name, run))?;
        folders::remove(&folder)
    }

    /// Where a run's own changes to its root file system are.
    fn writable(&self, name: &str, run: u32) -> PathBuf {
        self.machine.settings.data_folder(&self.spec.id).join("writable").join(format!("{name}-{run}"))
    }
}

fn read_process(folder: &Path) -> Option<ProcessId> {
    serde_json::from_slice(&fs::read(folder.join(shim::PROCESS)).ok()?).ok()
}
