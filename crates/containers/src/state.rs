//! What runs: the observed state of instances, and what the machine can do.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::id::InstanceId;

/// What is known of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceState {
    /// Its id.
    pub id: InstanceId,
    /// Its epoch.
    pub epoch: u64,
    /// The labels of its spec.
    pub labels: BTreeMap<String, String>,
    /// When its spec was accepted.
    pub accepted_at: SystemTime,
    /// Where it is in its lifecycle.
    pub phase: Phase,
    /// Whether it can serve: every container runs and is ready, and the instance is not being stopped.
    pub ready: bool,
    /// Why it does not run or is not ready, where there is a cause to name. It is cleared when the cause is gone.
    pub failure: Option<Error>,
    /// Its containers, in the order of the spec.
    pub containers: Vec<ContainerState>,
    /// Its addresses in its network.
    pub addresses: Vec<IpAddr>,
    /// Ports that are published on the machine.
    pub published: Vec<PublishedPort>,
}

impl InstanceState {
    /// The state of a container.
    pub fn container(&self, name: &str) -> Option<&ContainerState> {
        self.containers.iter().find(|container| container.name == name)
    }
}

/// Where an instance is in its lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// The spec is accepted, nothing is done yet.
    Pending,
    /// Images are downloaded and unpacked.
    Pulling,
    /// Network, file systems and containers are made.
    Starting,
    /// Every container runs.
    Running,
    /// Something failed and is tried again later: `failure` says what, the containers say when.
    BackOff,
    /// Containers have been told to stop.
    Stopping,
    /// The instance was stopped by its caller. It stays so under this epoch.
    Stopped,
    /// Every container has exited with code 0 and is not restarted.
    Succeeded,
    /// A container has failed and is not restarted.
    Failed,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What is known of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerState {
    /// Its name.
    pub name: String,
    /// The image of its spec.
    pub image: String,
    /// The digest of the manifest that the image was resolved to.
    pub image_digest: Option<String>,
    /// Where it is in its lifecycle.
    pub phase: ContainerPhase,
    /// Whether it runs and its readiness probe, if it has one, has succeeded.
    pub ready: bool,
    /// The last failure of its readiness probe, while it is not ready.
    pub probe_failure: Option<String>,
    /// How many times it was started again.
    pub restarts: u32,
    /// How its last run ended, with the last lines that it wrote.
    pub last_exit: Option<Exit>,
}

/// Where a container is in its lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerPhase {
    /// It waits for something else, such as another container's image.
    Waiting,
    /// Its image is downloaded or unpacked.
    Pulling(PullProgress),
    /// It is made and not started yet.
    Created,
    /// It runs.
    Running {
        /// Since when.
        since: SystemTime,
    },
    /// It has exited; `last_exit` says how. It is not restarted.
    Exited,
    /// It is started again at this time.
    BackOff {
        /// When it is tried again.
        until: SystemTime,
    },
}

/// How far a pull is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PullProgress {
    /// Bytes that have arrived.
    pub bytes: u64,
    /// Bytes of all layers that have to be downloaded; 0 while the manifest is not known.
    pub total: u64,
}

/// How a run of a container ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// When.
    pub at: SystemTime,
    /// How.
    pub cause: ExitCause,
    /// The last lines that it wrote, at most 20.
    pub last_lines: Vec<String>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExitCause {
    /// It exited with this code.
    Code(i32),
    /// It was killed by this signal.
    Signal(i32),
    /// It was killed because it needed more memory than its limit.
    OutOfMemory,
    /// Its shim was killed, so nobody knows.
    Unknown,
}

impl ExitCause {
    /// Whether this is a success: exit code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    /// The exit code as a shell shows it: 128 and the number of the signal for a killed process.
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(signal) => Some(128 + signal),
            Self::OutOfMemory => Some(137),
            Self::Unknown => None,
        }
    }
}

impl fmt::Display for ExitCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::OutOfMemory => f.write_str("out of memory"),
            Self::Unknown => f.write_str("exit code unknown, because its shim was killed"),
        }
    }
}

/// A port of an instance that is published on the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedPort {
    /// Name of the port.
    pub name: String,
    /// Port number inside of the sandbox.
    pub port: u16,
    /// Address on the machine.
    pub address: SocketAddr,
}

/// What an instance uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time used since the start of its containers that run now.
    pub cpu_time: Duration,
    /// Memory in use, in bytes.
    pub memory_bytes: u64,
}

/// What the machine can do, item by item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Check {
    /// The items, those that are required first.
    pub capabilities: Vec<Capability>,
}

impl Check {
    /// Whether instances can run: nothing that is required is missing.
    pub fn can_run(&self) -> bool {
        self.missing().next().is_none()
    }

    /// The required items that are missing.
    pub fn missing(&self) -> impl Iterator<Item = &Capability> {
        self.capabilities.iter().filter(|capability| capability.required && capability.problem.is_some())
    }
}

/// One thing that the runtime needs or can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// A short name, such as `runc` or `overlayfs`.
    pub name: String,
    /// Whether instances can't run without it.
    pub required: bool,
    /// What is there, such as a version; empty when it is missing.
    pub found: String,
    /// What is missing, and the next step, as a sentence. None when it is there.
    pub problem: Option<String>,
}
