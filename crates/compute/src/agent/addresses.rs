//! One address for each port of a workload in a city, served by a proxy over the instances that are ready.
//!
//! The port on the machine is chosen once and kept in a file, so that the address of a workload outlives a restart. Which
//! instances serve comes from the runtime directly, and not through objects: an instance that ends gets nothing new from the
//! moment at which it is told to.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use containers::proxy::{Dial, Endpoint, Proxy, Readiness};
use containers::{Ingress, InstanceId, InstanceState, Runtime};
use futures_util::future::BoxFuture;
use reconcile::target::Target;
use tokio::net::TcpStream;

use super::memory::PROJECT;

/// Label of a running instance with the uid of its workload.
pub const WORKLOAD: &str = "compute.datumapis.com/workload-uid";
/// Label with its city.
pub const CITY: &str = "compute.datumapis.com/city-code";
/// Label with its ports, as in `http=80,metrics=9090`.
pub const PORTS: &str = "compute.datumapis.com/ports";
/// Label with its ingress policy.
pub const POLICY: &str = "compute.datumapis.com/ingress";

/// Ports of the machine that addresses are given from. The kernel chooses those of outgoing connections above them.
const RANGE: std::ops::Range<u16> = 30_000..32_768;
/// How long connections may go on after an instance was told to end, before it is stopped.
const DRAIN: Duration = Duration::from_secs(10);

/// A workload in a city.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Front {
    /// Name of the project.
    pub project: String,
    /// Uid of the workload.
    pub workload: String,
    /// City code.
    pub city: String,
}

/// Where a port of a workload is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Name of the port.
    pub name: String,
    /// Port that the instances listen on.
    pub port: u16,
    /// Address on the machine.
    pub address: SocketAddr,
}

/// The addresses of this machine.
pub struct Addresses {
    dial: Arc<dyn Dial>,
    ip: IpAddr,
    file: Option<PathBuf>,
    inner: Mutex<Inner>,
    /// Addresses are opened one at a time.
    opening: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Inner {
    fronts: BTreeMap<Front, Open>,
    instances: BTreeMap<InstanceId, Serving>,
    /// Instances that were told to end.
    ending: BTreeSet<InstanceId>,
    /// Ports of the machine that were given, by front and port name.
    kept: BTreeMap<String, u16>,
}

#[derive(Default)]
struct Open {
    /// Which deployments want which ports: placements of one city share an address.
    holders: BTreeMap<Target, Vec<(String, u16)>>,
    proxies: BTreeMap<String, Proxy>,
}

/// An instance that can serve.
struct Serving {
    front: Front,
    ports: BTreeMap<String, u16>,
    ingress: Option<Ingress>,
}

struct Dialer(Arc<dyn Runtime>);

impl Dial for Dialer {
    fn dial<'a>(&'a self, id: &'a InstanceId, port: u16) -> BoxFuture<'a, containers::Result<TcpStream>> {
        self.0.connect(id, port)
    }
}

impl Addresses {
    /// Addresses with this IP, in front of the instances of a runtime. The ports that were given are kept in `file`.
    pub fn new(runtime: Arc<dyn Runtime>, ip: IpAddr, file: Option<PathBuf>) -> Addresses {
        let kept = file.as_deref().map(read).unwrap_or_default();
        let inner = Mutex::new(Inner { kept, ..Inner::default() });
        Addresses { dial: Arc::new(Dialer(runtime)), ip, file, inner, opening: tokio::sync::Mutex::default() }
    }

    /// The addresses of a workload in a city that are open now, for a deployment that wants these ports. Nothing if one of them
    /// is not open, or if the deployment is not known to want them.
    pub fn opened(&self, front: &Front, holder: &Target, ports: &[(String, u16)]) -> Option<Vec<Opened>> {
        let inner = self.lock();
        let open =
            inner.fronts.get(front).filter(|open| open.holders.get(holder).is_some_and(|of| of == ports))?;
        let at = |(name, port): &(String, u16)| {
            let address = open.proxies.get(name)?.address();
            Some(Opened { name: name.clone(), port: *port, address })
        };
        ports.iter().map(at).collect()
    }

    /// Opens the addresses that a deployment wants, and closes those that nobody wants any more.
    pub async fn open(&self, front: &Front, holder: &Target, ports: Vec<(String, u16)>) -> io::Result<()> {
        let _alone = self.opening.lock().await;
        let missing: Vec<String> = {
            let mut inner = self.lock();
            let open = inner.fronts.entry(front.clone()).or_default();
            open.holders.insert(holder.clone(), ports);
            let wanted: BTreeSet<String> =
                open.holders.values().flatten().map(|(name, _)| name.clone()).collect();
            open.proxies.retain(|name, _| wanted.contains(name));
            wanted.into_iter().filter(|name| !open.proxies.contains_key(name)).collect()
        };
        for name in missing {
            let proxy = self.listen(&key(front, &name)).await?;
            let mut inner = self.lock();
            inner.fronts.entry(front.clone()).or_default().proxies.insert(name.clone(), proxy);
            inner.route(front);
        }
        self.keep()
    }

    /// Closes what a deployment that is gone was the last to want.
    pub fn release(&self, holder: &Target) {
        let mut inner = self.lock();
        let mut gone = Vec::new();
        for (front, open) in &mut inner.fronts {
            if open.holders.remove(holder).is_some() {
                gone.push(front.clone());
            }
        }
        if gone.is_empty() {
            return;
        }
        for front in gone {
            let Some(open) = inner.fronts.get_mut(&front) else { continue };
            let wanted: BTreeSet<&String> = open.holders.values().flatten().map(|(name, _)| name).collect();
            let closed: Vec<String> =
                open.proxies.keys().filter(|name| !wanted.contains(name)).cloned().collect();
            for name in &closed {
                open.proxies.remove(name);
            }
            if open.holders.is_empty() {
                inner.fronts.remove(&front);
            }
            inner.kept.retain(|kept, _| !closed.iter().any(|name| *kept == key(&front, name)));
        }
        drop(inner);
        if let Err(error) = self.keep() {
            tracing::warn!(%error, "the addresses of workloads can't be kept");
        }
    }

    /// Whether a deployment holds an address.
    pub fn is_held_by(&self, holder: &Target) -> bool {
        self.lock().fronts.values().any(|open| open.holders.contains_key(holder))
    }

    /// Takes in the state of an instance; nothing if it is gone.
    pub fn note(&self, id: &InstanceId, state: Option<&InstanceState>) {
        let mut inner = self.lock();
        let before = inner.instances.remove(id);
        if state.is_none() {
            inner.ending.remove(id);
        }
        let serving = state.filter(|state| state.ready).and_then(serving);
        let fronts: BTreeSet<Front> =
            before.iter().chain(&serving).map(|serving| serving.front.clone()).collect();
        if let Some(serving) = serving {
            inner.instances.insert(id.clone(), serving);
        }
        fronts.iter().for_each(|front| inner.route(front));
    }

    /// Sends nothing new to an instance, and completes when its connections have ended or have taken too long.
    pub async fn drain(&self, id: &InstanceId) {
        let proxies: Vec<Proxy> = {
            let mut inner = self.lock();
            inner.ending.insert(id.clone());
            let front = inner.instances.get(id).map(|serving| serving.front.clone());
            let Some(front) = front else { return };
            inner.route(&front);
            let open = inner.fronts.get(&front);
            open.into_iter().flat_map(|open| open.proxies.values().cloned()).collect()
        };
        let drained = proxies.iter().map(|proxy| proxy.drain(id, DRAIN));
        let left: usize = futures_util::future::join_all(drained).await.into_iter().sum();
        if left > 0 {
            tracing::info!(instance = %id, connections = left, "connections are cut, because they did not end in time");
        }
    }

    async fn listen(&self, key: &str) -> io::Result<Proxy> {
        let (kept, taken) = {
            let inner = self.lock();
            (inner.kept.get(key).copied(), inner.kept.values().copied().collect::<BTreeSet<u16>>())
        };
        let start = crate::hash::fnv64(key.as_bytes()) % u64::from(RANGE.end - RANGE.start);
        let start = RANGE.start + u16::try_from(start).unwrap_or(0);
        let others = (start..RANGE.end).chain(RANGE.start..start).filter(|port| !taken.contains(port));
        let mut failure = io::Error::new(io::ErrorKind::AddrInUse, "no port is free");
        for port in kept.into_iter().chain(others) {
            match Proxy::open(SocketAddr::new(self.ip, port), self.dial.clone()).await {
                Ok(proxy) => {
                    self.lock().kept.insert(key.to_owned(), port);
                    return Ok(proxy);
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => failure = error,
                Err(error) => return Err(error),
            }
        }
        Err(failure)
    }

    /// Writes the ports that were given to the file.
    fn keep(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let bytes = serde_json::to_vec_pretty(&self.lock().kept)?;
        let next = file.with_extension("new");
        let mut open =
            std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
        open.write_all(&bytes)?;
        std::fs::rename(next, file)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Tells the proxies of a front which instances serve.
    fn route(&mut self, front: &Front) {
        let Some(open) = self.fronts.get(front) else { return };
        for (name, proxy) in &open.proxies {
            let serving = self.instances.iter().filter(|(_, serving)| serving.front == *front);
            let endpoints = serving.filter_map(|(id, serving)| {
                let port = *serving.ports.get(name)?;
                let is_ending = self.ending.contains(id);
                let readiness = if is_ending { Readiness::Draining } else { Readiness::Ready };
                Some(Endpoint { id: id.clone(), port, readiness, ingress: serving.ingress.clone() })
            });
            proxy.set(endpoints.collect::<Vec<_>>());
        }
    }
}

/// What an instance serves, by its labels; nothing for one that has no ports.
fn serving(state: &InstanceState) -> Option<Serving> {
    let label = |key: &str| state.labels.get(key).cloned();
    let ports: BTreeMap<String, u16> = label(PORTS)?
        .split(',')
        .filter_map(|port| port.split_once('='))
        .filter_map(|(name, port)| Some((name.to_owned(), port.parse().ok()?)))
        .collect();
    let front = Front { project: label(PROJECT)?, workload: label(WORKLOAD)?, city: label(CITY)? };
    // A policy that can't be read admits nobody.
    let ingress = label(POLICY).map(|text| serde_json::from_str(&text).unwrap_or_default());
    (!ports.is_empty()).then_some(Serving { front, ports, ingress })
}

fn key(front: &Front, port: &str) -> String {
    let Front { project, workload, city } = front;
    format!("{project}/{workload}/{city}/{port}")
}

fn read(file: &Path) -> BTreeMap<String, u16> {
    std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}
