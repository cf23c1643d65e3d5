//! An instance on this machine, and the task that keeps it running.

mod container;
mod observed;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::machine::Machine;
use super::network::Target;
use super::published::Published;
use super::rootfs::unmount;
use super::{folders, volumes};
use crate::error::{Error, Result};
use crate::image::Image;
use crate::spec::InstanceSpec;
use crate::state::{ContainerPhase, InstanceState, Phase};
use observed::Observed;

const IMAGES: &str = "images.json";
const ADDRESS: &str = "address";

pub(super) struct Instance {
    pub(super) spec: InstanceSpec,
    machine: Arc<Machine>,
    accepted_at: SystemTime,
    observed: Mutex<Observed>,
    orders: watch::Sender<Order>,
    /// The order that was carried out last, with what came of it.
    settled: watch::Sender<Option<(Order, Result<()>)>>,
    /// The instance under the same id that has to be gone before this one starts.
    after: Option<Arc<Instance>>,
}

/// What an instance is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Run,
    Stop { until: Instant },
    Remove { until: Instant },
}

/// What the containers of an instance share.
struct Sandbox {
    target: Target,
    images: Vec<Image>,
    _published: Published,
}

impl Instance {
    pub(super) fn new(machine: Arc<Machine>, spec: InstanceSpec, accepted_at: SystemTime) -> Self {
        let observed = Mutex::new(Observed::new(&spec));
        let (orders, _) = watch::channel(Order::Run);
        let (settled, _) = watch::channel(None);
        Self { spec, machine, accepted_at, observed, orders, settled, after: None }
    }

    /// The same instance, started when another one is gone.
    pub(super) fn after(mut self, old: Arc<Instance>) -> Self {
        self.after = Some(old);
        self
    }

    pub(super) fn newest_epoch(&self) -> u64 {
        self.spec.epoch
    }

    pub(super) fn order(&self, order: Order) {
        self.orders.send_if_modified(|present| {
            let is_new = match (*present, order) {
                (Order::Remove { until: old }, Order::Remove { until }) => until < old,
                (Order::Remove { .. }, _) => false,
                (Order::Stop { until: old }, Order::Stop { until }) => until < old,
                _ => true,
            };
            if is_new {
                *present = order;
            }
            is_new
        });
        self.announce();
    }

    /// Completes when the present order is carried out.
    pub(super) async fn settled(&self) -> Result<()> {
        let mut settled = self.settled.subscribe();
        loop {
            let order = *self.orders.borrow();
            let done = settled.borrow_and_update().clone();
            if let Some((done, result)) = done
                && (done == order || matches!(done, Order::Remove { .. }))
            {
                return result;
            }
            if settled.changed().await.is_err() {
                return Ok(());
            }
        }
    }

    pub(super) fn state(&self) -> InstanceState {
        let order = *self.orders.borrow();
        self.observed().state(&self.spec, self.accepted_at, order)
    }

    pub(super) fn restarts(&self, container: &str) -> u32 {
        self.observed().container(container).map_or(0, |container| container.restarts)
    }

    /// The name of a container, or of the only one.
    pub(super) fn container_name(&self, name: Option<&str>) -> Result<String> {
        let names: Vec<String> =
            self.spec.containers.iter().map(|container| container.name.clone()).collect();
        match (name, names.as_slice()) {
            (None, [only]) => Ok(only.clone()),
            (Some(name), _) if names.iter().any(|known| known == name) => Ok(name.to_owned()),
            _ => Err(Error::NoSuchContainer {
                id: self.spec.id.clone(),
                container: name.unwrap_or_default().to_owned(),
                containers: names,
            }),
        }
    }

    /// The id that runc knows a running container by.
    pub(super) fn running_container(&self, name: Option<&str>) -> Result<String> {
        let name = self.container_name(name)?;
        let observed = self.observed();
        let state = observed.container(&name);
        match state.map(|state| (state.phase, state.restarts)) {
            Some((ContainerPhase::Running { .. }, run)) => Ok(self.container_id(&name, run)),
            _ => Err(Error::NotRunning { id: self.spec.id.clone(), container: name }),
        }
    }

    pub(super) fn target(&self) -> Result<Target> {
        let target = self.observed().target.clone();
        target.ok_or_else(|| Error::NotRunning {
            id: self.spec.id.clone(),
            container: self
                .spec
                .containers
                .first()
                .map(|container| container.name.clone())
                .unwrap_or_default(),
        })
    }

    /// Keeps the instance as it was told, until it is removed. Cancelled, it leaves everything as it is.
    pub(super) async fn supervise(self: Arc<Self>, cancelled: CancellationToken) {
        tokio::select! {
            () = cancelled.cancelled() => {}
            () = self.clone().keep() => {}
        }
    }

    async fn keep(self: Arc<Self>) {
        if let Some(old) = &self.after {
            let mut failures = 0;
            while let Err(error) = self.take_over(old).await {
                failures += 1;
                self.fail(error);
                tokio::time::sleep(self.machine.settings.backoff.wait(failures)).await;
            }
        }
        let mut orders = self.orders.subscribe();
        if !folders::is_stopped(&self.machine.settings, &self.spec.id) {
            self.run().await;
        } else {
            self.update(|observed| observed.phase = Some(Phase::Stopped));
        }
        loop {
            let order = *orders.borrow_and_update();
            let result = match order {
                Order::Run => Ok(()),
                Order::Stop { .. } => self.settle_stop().await,
                Order::Remove { .. } => self.remove().await,
            };
            if let Err(error) = &result {
                self.fail(error.clone());
            }
            let is_removed = matches!(order, Order::Remove { .. }) && result.is_ok();
            self.settled.send_replace(Some((order, result)));
            if is_removed || orders.changed().await.is_err() {
                return;
            }
        }
    }

    /// Removes the instance that had the id before, and keeps the spec of this one.
    async fn take_over(&self, old: &Arc<Instance>) -> Result<()> {
        old.order(Order::Remove { until: Instant::now() + old.spec.grace });
        old.settled().await?;
        self.machine.networks.reserve(&self.spec)?;
        folders::keep(&self.machine.settings, &self.spec).map(|_| ())
    }

    /// Runs until every container has ended for good, or the order is another.
    async fn run(self: &Arc<Self>) {
        let mut failures = 0;
        let sandbox = loop {
            if self.is_ordered_away() {
                return;
            }
            let prepared = tokio::select! {
                prepared = self.prepare() => prepared,
                () = self.ordered_away() => return,
            };
            match prepared {
                Ok(sandbox) => break sandbox,
                Err(error) => {
                    failures += 1;
                    let wait = self.machine.settings.backoff.wait(failures);
                    self.update(|observed| observed.back_off(error, SystemTime::now() + wait));
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = self.ordered_away() => return,
                    }
                }
            }
        };
        self.update(|observed| {
            observed.phase = None;
            observed.failure = None;
        });
        let containers = (0..self.spec.containers.len()).map(|index| self.keep_container(index, &sandbox));
        join_all(containers).await;
    }

    /// Has images, network, volumes and ports.
    async fn prepare(self: &Arc<Self>) -> Result<Sandbox> {
        let images = self.pull_images().await?;
        self.update(|observed| observed.phase = Some(Phase::Starting));
        // Not given up half-way: what it makes is removed by name, when it has ended.
        let this = self.clone();
        let target = tokio::spawn(async move { this.make_network().await }).await;
        let target = target.map_err(|error| Error::machine("making the network", error))??;
        self.machine.cgroups.make(&self.spec.id, &self.spec.limits)?;
        volumes::make(&self.machine.settings, &self.spec)?;
        self.write_etc(target.address)?;
        let published = Published::open(&self.machine, &self.spec, &target).await?;
        self.update(|observed| {
            observed.target = Some(target.clone());
            observed.addresses = self.spec.network.iter().map(|_| target.address).collect();
            observed.published = published.ports.clone();
        });
        Ok(Sandbox { target, images, _published: published })
    }

    /// The images of all containers, as they were resolved at the first start.
    async fn pull_images(&self) -> Result<Vec<Image>> {
        let path = self.machine.settings.run_folder(&self.spec.id).join(IMAGES);
        let kept =
            std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Vec<Image>>(&bytes).ok());
        let user = self.spec.id.as_str();
        if let Some(images) = kept {
            images.iter().for_each(|image| self.machine.images.pin(user, &image.layers));
            self.show_digests(&images);
            return Ok(images);
        }
        let mut images = Vec::new();
        for container in &self.spec.containers {
            self.update(|observed| {
                observed.phase = Some(Phase::Pulling);
                observed.set_phase(&container.name, ContainerPhase::Pulling(Default::default()));
            });
            let report = |progress| {
                // Seen by whoever asks; not every piece is worth an event.
                self.observed().set_phase(&container.name, ContainerPhase::Pulling(progress));
            };
            let store = &self.machine.images;
            let image =
                store.pull(&container.image, container.pull, &self.spec.credentials, user, &report).await?;
            self.observed().set_phase(&container.name, ContainerPhase::Waiting);
            images.push(image);
        }
        self.show_digests(&images);
        let bytes = serde_json::to_vec(&images).map_err(|error| Error::machine("keeping images", error))?;
        crate::processes::write_whole(&path, &bytes)
            .map_err(|error| Error::machine(format!("writing {}", path.display()), error))?;
        Ok(images)
    }

    fn show_digests(&self, images: &[Image]) {
        let mut observed = self.observed();
        for (container, image) in observed.containers.iter_mut().zip(images) {
            container.image_digest = Some(image.digest.to_string());
        }
    }

    async fn make_network(&self) -> Result<Target> {
        let settings = &self.machine.settings;
        let path = settings.run_folder(&self.spec.id).join(ADDRESS);
        let user_namespace =
            settings.user_namespace.map(|ids| (ids, settings.user_namespace_path(&self.spec.id)));
        if let Some(address) = folders::read::<IpAddr>(&path) {
            self.machine.networks.restore(&self.spec, address);
            return self.machine.networks.attach(&self.spec, Some(address), user_namespace).await;
        }
        let address = self.machine.networks.reserve(&self.spec)?;
        if let Some(address) = address {
            folders::write(&path, &address)?;
        }
        self.machine.networks.attach(&self.spec, address, user_namespace).await
    }

    /// The files of /etc that every container gets from the machine.
    fn write_etc(&self, address: IpAddr) -> Result<()> {
        let folder = self.machine.settings.run_folder(&self.spec.id);
        let hostname = self.spec.hostname.clone().unwrap_or_else(|| self.spec.id.to_string());
        let hosts = format!("127.0.0.1\tlocalhost\n::1\tlocalhost\n{address}\t{hostname}\n");
        for (name, text) in [("hosts", hosts.as_str()), ("resolv.conf", "")] {
            let path = folder.join(name);
            std::fs::write(&path, text)
                .map_err(|error| Error::machine(format!("writing {}", path.display()), error))?;
        }
        Ok(())
    }

    /// Keeps the instance stopped: nothing of it is left but its logs and its state.
    async fn settle_stop(&self) -> Result<()> {
        folders::keep_stopped(&self.machine.settings, &self.spec.id)?;
        self.tear_down().await?;
        self.update(|observed| {
            observed.phase = Some(Phase::Stopped);
            observed.failure = None;
            observed.close();
        });
        Ok(())
    }

    async fn remove(&self) -> Result<()> {
        self.tear_down().await?;
        folders::remove(&self.machine.settings.data_folder(&self.spec.id))?;
        folders::remove(&self.machine.settings.run_folder(&self.spec.id))
    }

    /// Takes away containers, mounts, network and control groups.
    async fn tear_down(&self) -> Result<()> {
        for container in &self.spec.containers {
            self.clear_runs(&container.name).await?;
        }
        volumes::unmount_all(&self.machine.settings, &self.spec)?;
        self.machine.networks.detach(&self.spec).await?;
        unmount(&self.machine.settings.user_namespace_path(&self.spec.id))?;
        self.machine.cgroups.remove(&self.spec.id)?;
        self.machine.cgroups.remove_root();
        self.machine.images.unpin(self.spec.id.as_str());
        Ok(())
    }

    fn is_ordered_away(&self) -> bool {
        *self.orders.borrow() != Order::Run
    }

    /// Completes when the order is another than to run.
    async fn ordered_away(&self) {
        let mut orders = self.orders.subscribe();
        // The sender is this instance's own.
        let _ = orders.wait_for(|order| *order != Order::Run).await;
    }

    fn fail(&self, error: Error) {
        tracing::warn!(instance = %self.spec.id, %error, "instance failed");
        self.update(|observed| observed.failure = Some(error));
    }

    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut Observed)) {
        change(&mut self.observed());
        self.announce();
    }

    fn announce(&self) {
        self.machine.announce(&self.spec.id, self.spec.epoch, false);
    }
}
