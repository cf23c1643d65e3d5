//! Networks: a network namespace with a bridge for each, and a namespace for each instance that is attached to it.
//!
//! Networks share nothing, so two of them may have the same subnet. The machine itself has no route into them; connections
//! from here are made by sockets that are opened inside of the network's namespace. There is no way out of a network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream as StdTcpStream};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ipnet::IpNet;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::thread::LinkNameSpaceType;
use tokio::net::{TcpSocket, TcpStream};

use super::rootfs::unmount;
use super::{command, userns};
use crate::error::{Error, Result};
use crate::id::InstanceId;
use crate::image::Digest;
use crate::image::unpack::IdShift;
use crate::spec::{Ingress, InstanceSpec, NetworkSpec};

/// Where iproute2 keeps namespaces by their names.
pub(super) const NAMESPACES: &str = "/run/netns";
const BRIDGE: &str = "br0";
const INTERFACE: &str = "eth0";

pub(super) struct Networks {
    ip: PathBuf,
    nft: PathBuf,
    prefix: String,
    /// Namespaces are made and removed one at a time.
    changing: tokio::sync::Mutex<()>,
    addresses: Mutex<BTreeMap<String, BTreeMap<IpAddr, InstanceId>>>,
}

/// Where connections to an instance are made: the namespace to be in, and its address.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) namespace: String,
    pub(super) address: IpAddr,
}

impl Networks {
    pub(super) fn new(ip: PathBuf, nft: PathBuf, prefix: String) -> Self {
        Self { ip, nft, prefix, changing: tokio::sync::Mutex::default(), addresses: Mutex::default() }
    }

    /// Name of the namespace of an instance.
    pub(super) fn namespace(&self, id: &InstanceId) -> String {
        format!("{}-i-{}", self.prefix, &Digest::of(id.as_str().as_bytes()).hex()[..16])
    }

    /// The file that stands for a namespace.
    pub(super) fn path(namespace: &str) -> PathBuf {
        Path::new(NAMESPACES).join(namespace)
    }

    /// Gives the instance its address: the one of its spec, or a free one. The same again when it has one.
    pub(super) fn reserve(&self, spec: &InstanceSpec) -> Result<Option<IpAddr>> {
        let Some(NetworkSpec { network, subnet, address }) = &spec.network else { return Ok(None) };
        let mut networks = self.addresses();
        let taken = networks.entry(network.clone()).or_default();
        if let Some((address, _)) = taken.iter().find(|(_, holder)| **holder == spec.id) {
            return Ok(Some(*address));
        }
        let address = match address {
            Some(address) => match taken.get(address) {
                Some(holder) => {
                    let (network, address, holder) = (network.clone(), *address, holder.clone());
                    return Err(Error::AddressInUse { network, address, holder });
                }
                None => *address,
            },
            None => {
                // The first address is the gateway's.
                let mut free = subnet.hosts().skip(1).filter(|address| !taken.contains_key(address));
                free.next().ok_or_else(|| Error::NoFreeAddress { network: network.clone() })?
            }
        };
        taken.insert(address, spec.id.clone());
        Ok(Some(address))
    }

    /// Keeps an address that the instance has had before.
    pub(super) fn restore(&self, spec: &InstanceSpec, address: IpAddr) {
        let Some(network) = &spec.network else { return };
        self.addresses().entry(network.network.clone()).or_default().insert(address, spec.id.clone());
    }

    /// Makes the namespace of an instance, attached to its network. Where containers run in a user namespace, that is made
    /// too, at the path `user_namespace`, and owns the network namespace: commands in a container have to enter both.
    pub(super) async fn attach(
        &self,
        spec: &InstanceSpec,
        address: Option<IpAddr>,
        user_namespace: Option<(IdShift, PathBuf)>,
    ) -> Result<Target> {
        let _alone = self.changing.lock().await;
        let namespace = self.namespace(&spec.id);
        let is_new = !Self::path(&namespace).exists();
        if is_new {
            self.ip(&["netns", "add", &namespace], "").await?;
            if let Some((ids, path)) = user_namespace {
                let network = Self::path(&namespace);
                unmount(&network)?;
                userns::make(ids, &path, &network).await?;
            }
            self.ip(&["-n", &namespace, "link", "set", "lo", "up"], "").await?;
            // Programs that serve as another user than root have no capability for low ports.
            allow_low_ports(&namespace).await?;
        }
        let (Some(network), Some(address)) = (&spec.network, address) else {
            return Ok(Target { namespace, address: IpAddr::from([127, 0, 0, 1]) });
        };
        let bridge_namespace = self.ensure_network(network).await?;
        if is_new {
            let subnet = network.subnet;
            let host_end = format!("v{}", &Digest::of(spec.id.as_str().as_bytes()).hex()[..12]);
            let link = format!(
                "link add {host_end} type veth peer name {INTERFACE} netns {namespace}\n\
                 link set {host_end} master {BRIDGE}\n\
                 link set {host_end} up\n"
            );
            self.ip(&["-n", &bridge_namespace, "-batch", "-"], &link).await?;
            let (length, gateway) = (subnet.prefix_len(), gateway(subnet)?);
            // Before it has an address: nobody connects in between.
            if let Some(ingress) = &spec.ingress {
                self.admit(&namespace, ingress, gateway).await?;
            }
            let without_detection = if address.is_ipv6() { " nodad" } else { "" };
            let addresses = format!(
                "addr add {address}/{length} dev {INTERFACE}{without_detection}\n\
                 link set {INTERFACE} up\n\
                 route add default via {gateway}\n"
            );
            self.ip(&["-n", &namespace, "-batch", "-"], &addresses).await?;
        }
        Ok(Target { namespace: bridge_namespace, address })
    }

    /// Lets in what a policy admits, and nothing else.
    async fn admit(&self, namespace: &str, ingress: &Ingress, gateway: IpAddr) -> Result<()> {
        let nft = self.nft.display().to_string();
        let made = self.ip(&["netns", "exec", namespace, &nft, "-f", "-"], &ingress.ruleset(gateway)).await;
        if made.is_err() {
            // Half of a namespace is none: the next try begins anew.
            self.remove_namespace(namespace).await?;
        }
        made.map_err(|error| {
            Error::machine("enforcing the network policy with nft (apt-get install nftables)", error)
        })
    }

    /// Removes the namespace of an instance, and that of its network if it was the last one there.
    pub(super) async fn detach(&self, spec: &InstanceSpec) -> Result<()> {
        let _alone = self.changing.lock().await;
        self.remove_namespace(&self.namespace(&spec.id)).await?;
        let Some(network) = &spec.network else { return Ok(()) };
        let is_unused = {
            let mut networks = self.addresses();
            let Some(taken) = networks.get_mut(&network.network) else { return Ok(()) };
            taken.retain(|_, holder| *holder != spec.id);
            let is_unused = taken.is_empty();
            if is_unused {
                networks.remove(&network.network);
            }
            is_unused
        };
        match is_unused {
            true => self.remove_namespace(&self.bridge_namespace(network)).await,
            false => Ok(()),
        }
    }

    /// Connects to a port of an instance.
    pub(super) async fn connect(&self, target: &Target, port: u16) -> io::Result<TcpStream> {
        let address = SocketAddr::new(target.address, port);
        let socket = socket_in(Self::path(&target.namespace), address.is_ipv6()).await?;
        TcpSocket::from_std_stream(socket).connect(address).await
    }

    async fn ensure_network(&self, network: &NetworkSpec) -> Result<String> {
        let namespace = self.bridge_namespace(network);
        if Self::path(&namespace).exists() {
            return Ok(namespace);
        }
        self.ip(&["netns", "add", &namespace], "").await?;
        let (gateway, length) = (gateway(network.subnet)?, network.subnet.prefix_len());
        let without_detection = if gateway.is_ipv6() { " nodad" } else { "" };
        let made = format!(
            "link set lo up\n\
             link add {BRIDGE} type bridge\n\
             addr add {gateway}/{length} dev {BRIDGE}{without_detection}\n\
             link set {BRIDGE} up\n"
        );
        if let Err(error) = self.ip(&["-n", &namespace, "-batch", "-"], &made).await {
            self.remove_namespace(&namespace).await?;
            return Err(error);
        }
        Ok(namespace)
    }

    async fn remove_namespace(&self, namespace: &str) -> Result<()> {
        match Self::path(namespace).exists() {
            true => self.ip(&["netns", "delete", namespace], "").await,
            false => Ok(()),
        }
    }

    fn bridge_namespace(&self, network: &NetworkSpec) -> String {
        format!("{}-n-{}", self.prefix, &Digest::of(network.network.as_bytes()).hex()[..16])
    }

    async fn ip(&self, arguments: &[&str], input: &str) -> Result<()> {
        command::run(&self.ip, arguments, input).await.map(|_| ())
    }

    fn addresses(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<IpAddr, InstanceId>>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Namespaces below a prefix, for the search for leaks.
pub(super) fn namespaces_of(prefix: &str) -> BTreeSet<String> {
    let names = std::fs::read_dir(NAMESPACES).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(prefix)).collect()
}

fn gateway(subnet: IpNet) -> Result<IpAddr> {
    subnet
        .hosts()
        .next()
        .ok_or_else(|| Error::machine("making a network", format!("{subnet} has no addresses")))
}

/// A socket that belongs to the namespace, unconnected.
async fn socket_in(namespace: PathBuf, is_ipv6: bool) -> io::Result<StdTcpStream> {
    let family = if is_ipv6 { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    in_namespace(namespace, move || {
        Ok(StdTcpStream::from(rustix::net::socket_with(family, SocketType::STREAM, flags, None)?))
    })
    .await
}

async fn allow_low_ports(namespace: &str) -> Result<()> {
    let written = in_namespace(Networks::path(namespace), || {
        std::fs::write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")
    });
    written.await.map_err(|error| Error::machine(format!("allowing low ports in {namespace}"), error))
}

/// Does something inside of a network namespace, on a thread that ends with it: a thread can't be trusted to come back.
async fn in_namespace<T: Send + 'static>(
    namespace: PathBuf,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::Builder::new().name("netns".to_owned()).spawn(move || {
        let entered = File::open(&namespace).and_then(|file| {
            let kind = Some(LinkNameSpaceType::Network);
            Ok(rustix::thread::move_into_link_name_space(file.as_fd(), kind)?)
        });
        let _ = sender.send(entered.and_then(|()| work()));
    })?;
    receiver.await.map_err(io::Error::other)?
}
