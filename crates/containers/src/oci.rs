//! Instances as OCI containers on this machine: runc under a shim, overlayfs, control groups, network namespaces.
//!
//! What runs is kept in two folders. `data` is on disk: images, writable layers, logs. `run` is in memory: specs with their
//! secrets, sockets, the state of runs. A program that ends, or is killed, leaves its containers running; the next one that
//! opens the same folders goes on with them.

mod bundle;
mod cgroup;
mod check;
mod command;
mod exec;
mod folders;
mod instance;
mod leaks;
mod machine;
mod network;
mod probe;
mod published;
mod rootfs;
mod runc;
mod seccomp;
mod settings;
mod user;
mod userns;
mod volumes;

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::net::TcpStream;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

pub use leaks::leaks;
pub use settings::{RootfsMode, Settings};

use crate::error::{Error, Result};
use crate::id::InstanceId;
use crate::logs;
use crate::runtime::{Event, ExecRequest, ExecSession, LogRequest, LogStream, Runtime};
use crate::spec::InstanceSpec;
use crate::state::{Check, InstanceState, Usage};
use instance::{Instance, Order};
use machine::Machine;

/// Lines of a log that are read ahead.
const LOG_LINES: usize = 256;

/// Runs instances as OCI containers.
pub struct Oci {
    machine: Arc<Machine>,
    instances: Mutex<BTreeMap<InstanceId, Arc<Instance>>>,
    cancelled: CancellationToken,
    _alone: File,
}

impl Oci {
    /// Opens the folders, and goes on with the instances that are in them.
    pub async fn open(settings: Settings) -> Result<Self> {
        let check = check::check(&settings).await;
        if !check.can_run() {
            let missing = check.missing().filter_map(|capability| capability.problem.clone()).collect();
            return Err(Error::MachineNotReady { missing });
        }
        let alone = folders::prepare(&settings)?;
        let machine = Arc::new(Machine::new(settings)?);
        let oci =
            Self { machine, instances: Mutex::default(), cancelled: CancellationToken::new(), _alone: alone };
        for kept in folders::kept(&oci.machine.settings)? {
            let instance = Instance::new(oci.machine.clone(), kept.spec, kept.accepted_at);
            let instance = oci.start(instance);
            if let Some(next) = kept.replaced_by {
                oci.replace(&instance, next)?;
            }
        }
        folders::remove_orphans(&oci.machine.settings)?;
        Ok(oci)
    }

    /// What this machine can do, and what is missing, before anything is opened.
    pub async fn examine(settings: &Settings) -> Check {
        check::check(settings).await
    }

    /// Removes images beyond the size limit that no instance uses. Returns their references.
    pub async fn collect_images(&self) -> Result<Vec<String>> {
        self.machine.images.collect().await
    }

    fn instances(&self) -> MutexGuard<'_, BTreeMap<InstanceId, Arc<Instance>>> {
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn instance(&self, id: &InstanceId) -> Result<Arc<Instance>> {
        self.instances().get(id).cloned().ok_or_else(|| Error::NotFound { id: id.clone() })
    }

    fn start(&self, instance: Instance) -> Arc<Instance> {
        let instance = Arc::new(instance);
        self.instances().insert(instance.spec.id.clone(), instance.clone());
        tokio::spawn(instance.clone().supervise(self.cancelled.clone()));
        instance
    }

    fn accept(&self, spec: InstanceSpec) -> Result<()> {
        crate::spec::validate(&spec)?;
        let known = self.instances().get(&spec.id).cloned();
        match known {
            Some(known) if known.newest_epoch() == spec.epoch => Ok(()),
            Some(known) if known.newest_epoch() > spec.epoch => {
                Err(Error::StaleEpoch { id: spec.id, running: known.newest_epoch(), asked: spec.epoch })
            }
            Some(known) => {
                folders::keep_next(&self.machine.settings, &spec)?;
                self.replace(&known, spec)
            }
            None => {
                self.machine.networks.reserve(&spec)?;
                let accepted_at = folders::keep(&self.machine.settings, &spec)?;
                self.start(Instance::new(self.machine.clone(), spec, accepted_at));
                Ok(())
            }
        }
    }

    /// Removes what runs under the id, and starts the next spec in its place.
    fn replace(&self, old: &Arc<Instance>, spec: InstanceSpec) -> Result<()> {
        let id = spec.id.clone();
        let next = Instance::new(self.machine.clone(), spec, std::time::SystemTime::now()).after(old.clone());
        self.instances().remove(&id);
        self.start(next);
        Ok(())
    }
}

impl Drop for Oci {
    /// Lets go of the instances. Their containers run on.
    fn drop(&mut self) {
        self.cancelled.cancel();
    }
}

impl Runtime for Oci {
    fn ensure(&self, spec: InstanceSpec) -> BoxFuture<'_, Result<()>> {
        async move { self.accept(spec) }.boxed()
    }

    fn stop<'a>(&'a self, id: &'a InstanceId, grace: Duration) -> BoxFuture<'a, Result<()>> {
        async move {
            let instance = self.instance(id)?;
            instance.order(Order::Stop { until: tokio::time::Instant::now() + grace });
            instance.settled().await
        }
        .boxed()
    }

    fn remove<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<()>> {
        async move {
            let Ok(instance) = self.instance(id) else { return Ok(()) };
            instance.order(Order::Remove { until: tokio::time::Instant::now() });
            instance.settled().await?;
            let mut instances = self.instances();
            if instances.get(id).is_some_and(|known| Arc::ptr_eq(known, &instance)) {
                instances.remove(id);
            }
            drop(instances);
            self.machine.announce(id, instance.spec.epoch, true);
            Ok(())
        }
        .boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<InstanceState>>> {
        async move { Ok(self.instances().values().map(|instance| instance.state()).collect()) }.boxed()
    }

    fn observe<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<InstanceState>> {
        async move { Ok(self.instance(id)?.state()) }.boxed()
    }

    fn usage<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<Usage>> {
        async move {
            self.instance(id)?;
            Ok(self.machine.cgroups.usage(id))
        }
        .boxed()
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.machine.events.subscribe()
    }

    fn logs(&self, request: LogRequest) -> BoxFuture<'_, Result<LogStream>> {
        async move {
            let instance = self.instance(&request.id)?;
            let container = instance.container_name(request.container.as_deref())?;
            let restarts = instance.restarts(&container);
            let run = match request.previous {
                false => restarts,
                true => restarts.checked_sub(1).ok_or_else(|| Error::NotRunning {
                    id: request.id.clone(),
                    container: format!("{container} (a previous run)"),
                })?,
            };
            let folder = self.machine.settings.log_folder(&request.id, &container);
            let LogRequest { follow, since, tail, previous, .. } = request;
            let follow = follow && !previous;
            let (sender, stream) = LogStream::new(LOG_LINES);
            let request = logs::Follow { folder, run, follow, since, tail };
            // A thread of its own: a follower stays for hours, and the pool of blocking threads is bounded.
            std::thread::spawn(move || logs::read(request, &sender));
            Ok(stream)
        }
        .boxed()
    }

    fn exec(&self, request: ExecRequest) -> BoxFuture<'_, Result<ExecSession>> {
        async move {
            let instance = self.instance(&request.id)?;
            let container = instance.running_container(request.container.as_deref())?;
            exec::exec(&self.machine, &container, &request)
        }
        .boxed()
    }

    fn connect<'a>(&'a self, id: &'a InstanceId, port: u16) -> BoxFuture<'a, Result<TcpStream>> {
        async move {
            let target = self.instance(id)?.target()?;
            let connected = self.machine.networks.connect(&target, port).await;
            connected.map_err(|error| Error::NotReachable { id: id.clone(), port, reason: error.to_string() })
        }
        .boxed()
    }

    fn check(&self) -> BoxFuture<'_, Check> {
        check::check(&self.machine.settings).boxed()
    }
}
