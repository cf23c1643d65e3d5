//! What should run: an instance, its containers, volumes, network, limits and probes.

mod ingress;
mod validate;

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use crate::id::InstanceId;

pub use ingress::{Ingress, IngressRule, PortRange, Protocol, Source};
pub(crate) use validate::validate;

/// An instance: containers that share a network namespace, volumes and limits.
///
/// An instance is never changed in place. Under the same epoch the first spec stays; a higher epoch replaces the instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceSpec {
    /// Id of the instance, unique on the machine.
    pub id: InstanceId,
    /// Epoch of the instance. A higher one replaces what runs under the same id; a lower one is refused.
    pub epoch: u64,
    /// Anything the caller wants to find again in the state. The runtime does not read it.
    pub labels: BTreeMap<String, String>,
    /// Host name inside of the sandbox. Defaults to the id, cut to 63 characters.
    pub hostname: Option<String>,
    /// The containers, at least one, with unique names. They are started in this order.
    pub containers: Vec<ContainerSpec>,
    /// The volumes that containers mount, with unique names.
    pub volumes: Vec<Volume>,
    /// The network that the sandbox is attached to. Without one it has a loopback interface only.
    pub network: Option<NetworkSpec>,
    /// Who may connect to the instance. Without it, everybody in its network.
    pub ingress: Option<Ingress>,
    /// Limits of all containers together.
    pub limits: Limits,
    /// What happens when a container exits.
    pub restart: RestartPolicy,
    /// Time between SIGTERM and SIGKILL where the runtime itself stops the instance: a failed liveness probe, a higher epoch.
    pub grace: Duration,
    /// Credentials for registries.
    pub credentials: Vec<Credentials>,
}

impl InstanceSpec {
    /// A spec with one epoch and nothing else: no containers yet, no network, no limits, restarted always.
    pub fn new(id: InstanceId, epoch: u64) -> Self {
        Self {
            id,
            epoch,
            labels: BTreeMap::new(),
            hostname: None,
            containers: Vec::new(),
            volumes: Vec::new(),
            network: None,
            ingress: None,
            limits: Limits::default(),
            restart: RestartPolicy::Always,
            grace: Duration::from_secs(30),
            credentials: Vec::new(),
        }
    }

    /// The same spec with one more container.
    pub fn with_container(mut self, container: ContainerSpec) -> Self {
        self.containers.push(container);
        self
    }
}

/// One container of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerSpec {
    /// Name, unique in the instance: a DNS label.
    pub name: String,
    /// Image: `registry/repository:tag`, `registry/repository@sha256:…`, `oci:FOLDER[:TAG]` for an OCI layout on disk, or
    /// `oci-archive:FILE[:TAG]` for one in a tar file.
    pub image: String,
    /// When the registry is asked.
    pub pull: PullPolicy,
    /// Replaces the entrypoint of the image. Empty keeps it.
    pub command: Vec<String>,
    /// Replaces the arguments of the image. Empty keeps them, unless `command` is given.
    pub args: Vec<String>,
    /// Environment, in this order; a later variable of the same name wins, and all win over those of the image.
    pub env: Vec<EnvVar>,
    /// Working directory. Defaults to that of the image, then to `/`.
    pub working_dir: Option<String>,
    /// User and group, `uid[:gid]` or names from the image's files. Defaults to the image's user.
    pub user: Option<String>,
    /// Ports that the container listens on, and where they are published on the machine.
    pub ports: Vec<Port>,
    /// Volumes in the container's file system.
    pub mounts: Vec<Mount>,
    /// Limits of this container.
    pub limits: Limits,
    /// Whether the root file system is mounted read-only.
    pub read_only_root: bool,
    /// Says when the container can serve. Without one it is ready while it runs.
    pub readiness: Option<Probe>,
    /// Says when the container has to be restarted.
    pub liveness: Option<Probe>,
}

impl ContainerSpec {
    /// A container of an image, with everything else as the image says.
    pub fn new(name: impl Into<String>, image: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            image: image.into(),
            pull: PullPolicy::IfNotPresent,
            command: Vec::new(),
            args: Vec::new(),
            env: Vec::new(),
            working_dir: None,
            user: None,
            ports: Vec::new(),
            mounts: Vec::new(),
            limits: Limits::default(),
            read_only_root: false,
            readiness: None,
            liveness: None,
        }
    }
}

/// When an image is asked for at its registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PullPolicy {
    /// Only when the machine does not have it. An image named by digest is never asked for twice under any policy.
    IfNotPresent,
    /// Before every start: the tag is resolved again; layers that are there are not downloaded again.
    Always,
    /// Never: an image that is not there is an error.
    Never,
}

/// A variable of the environment. Its value may be a secret and is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvVar {
    /// Name of the variable.
    pub name: String,
    /// Its value.
    pub value: Sensitive,
}

impl EnvVar {
    /// A variable with a value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: Sensitive::from(value.into().into_bytes()) }
    }
}

/// Bytes that are not shown in debug output, and are wiped when they are dropped.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensitive(Vec<u8>);

impl Sensitive {
    /// The bytes themselves.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Sensitive {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Sensitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0.len())
    }
}

impl Drop for Sensitive {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// A TCP port that a container listens on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Name of the port, unique in the instance.
    pub name: String,
    /// Port number inside of the sandbox.
    pub port: u16,
    /// Address on the machine where the port is published. Port 0 lets the system choose; the state tells which it is.
    pub publish: Option<SocketAddr>,
}

/// A volume in a container's file system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Name of the volume.
    pub volume: String,
    /// Absolute path in the container.
    pub path: String,
    /// Whether the container may not write to it. Volumes of files are always read-only.
    pub read_only: bool,
}

/// A volume of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Name, unique in the instance.
    pub name: String,
    /// What is in it.
    pub source: VolumeSource,
}

/// What is in a volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum VolumeSource {
    /// Files whose bytes are given, as from a ConfigMap or a Secret. They are kept in memory (tmpfs) only.
    Files(Files),
    /// An empty directory that lives as long as the instance.
    EmptyDir(EmptyDir),
}

/// Files of a volume, by their name. A name may have directories; `..` and absolute names are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files(pub BTreeMap<String, File>);

/// A file of a volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its bytes.
    pub content: Sensitive,
    /// Permission bits, 0 to 0o777.
    pub mode: u32,
}

/// An empty directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptyDir {
    /// Keeps it in memory, limited to that many bytes. Without it the directory is on disk, without a limit of its own.
    pub memory_bytes: Option<u64>,
}

/// The network of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkSpec {
    /// Name of the network on this machine, such as `project/network`. Instances of one network reach each other; networks of
    /// different names are isolated, also where their subnets are the same.
    pub network: String,
    /// The subnet that addresses are from. Its first address is the gateway.
    pub subnet: IpNet,
    /// Address of the instance. Without one a free address of the subnet is taken.
    pub address: Option<IpAddr>,
}

/// Limits. What is not given is not limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// CPU time, in thousandths of a core.
    pub cpu_millis: Option<u64>,
    /// Memory, in bytes. A container that needs more is killed, and its exit says so.
    pub memory_bytes: Option<u64>,
    /// Number of processes and threads. A container without a number gets the runtime's default.
    pub pids: Option<u64>,
}

/// What happens when a container exits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RestartPolicy {
    /// It is restarted, with back-off.
    Always,
    /// It is restarted, with back-off, unless it exited with code 0.
    OnFailure,
    /// It stays as it is.
    Never,
}

/// A probe of a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// What is tried.
    pub action: ProbeAction,
    /// Time between the start of the container and the first try.
    pub initial_delay: Duration,
    /// Time between two tries.
    pub period: Duration,
    /// Time after which a try has failed.
    pub timeout: Duration,
    /// Successes in a row after which the probe has succeeded. At least 1.
    pub success_threshold: u32,
    /// Failures in a row after which the probe has failed. At least 1.
    pub failure_threshold: u32,
}

impl Probe {
    /// A probe with Kubernetes' defaults: every 10 s, 1 s to answer, one success, three failures.
    pub fn new(action: ProbeAction) -> Self {
        Self {
            action,
            initial_delay: Duration::ZERO,
            period: Duration::from_secs(10),
            timeout: Duration::from_secs(1),
            success_threshold: 1,
            failure_threshold: 3,
        }
    }
}

/// What a probe tries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProbeAction {
    /// A GET of this path, which has to be answered with 200 to 399.
    Http {
        /// Port to connect to.
        port: u16,
        /// Path and query.
        path: String,
    },
    /// A TCP connection to this port.
    Tcp {
        /// Port to connect to.
        port: u16,
    },
    /// A command in the container, which has to exit with 0.
    Exec {
        /// The command and its arguments.
        command: Vec<String>,
    },
}

/// Credentials for a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// Host of the registry, with its port if it has one.
    pub registry: String,
    /// How to log in.
    pub login: Login,
}

/// How to log in to a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Login {
    /// User name and password, sent as Basic, or to the token server that the registry names.
    Basic {
        /// User name.
        username: String,
        /// Password.
        password: Sensitive,
    },
    /// A token, sent as Bearer.
    Bearer {
        /// The token.
        token: Sensitive,
    },
}
