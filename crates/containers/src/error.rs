//! What can go wrong, by cause.

use std::net::{IpAddr, SocketAddr};

use thiserror::Error;

use crate::id::InstanceId;
use crate::state::ExitCause;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an instance can't run, or a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// The registry, or the layout on disk, does not have the image. Fixed by another reference.
    #[error("image {image} was not found: {reason}")]
    ImageNotFound {
        /// The image as it was asked for.
        image: String,
        /// The registry's own words.
        reason: String,
    },
    /// The registry wants other credentials, or any.
    #[error("the registry does not allow pulling {image}: {reason}; check the credentials given for it")]
    Unauthorized {
        /// The image as it was asked for.
        image: String,
        /// The registry's own words.
        reason: String,
    },
    /// The image has no variant for this machine.
    #[error("image {image} is built for {}, this machine is {machine}; build it for {machine}", .offered.join(", "))]
    WrongArchitecture {
        /// The image as it was asked for.
        image: String,
        /// Platform of this machine.
        machine: String,
        /// Platforms of the image.
        offered: Vec<String>,
    },
    /// What arrived is not what its digest says.
    #[error(
        "{what} of image {image} has digest {actual} where {expected} was announced; nothing of it was used"
    )]
    DigestMismatch {
        /// The image as it was asked for.
        image: String,
        /// Which part of it: manifest, config or layer.
        what: String,
        /// The digest that was announced.
        expected: String,
        /// The digest of what arrived.
        actual: String,
    },
    /// The image, or what its registry answers, breaks a rule or a limit. Trying again gives the same answer.
    #[error("image {image} is refused: {reason}")]
    ImageRefused {
        /// The image as it was asked for.
        image: String,
        /// The rule that it breaks, and where.
        reason: String,
    },
    /// The reference can't be parsed.
    #[error("{image:?} is not an image reference: {reason}")]
    InvalidReference {
        /// The reference as it was given.
        image: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The image is not on the machine, and the policy is never to pull it.
    #[error("image {image} is not on this machine and its pull policy is Never")]
    ImageNotPresent {
        /// The image as it was asked for.
        image: String,
    },
    /// The registry can't be reached, is too slow, or fails. It is tried again.
    #[error("registry {registry} can't be used: {reason}")]
    RegistryUnavailable {
        /// Host of the registry.
        registry: String,
        /// What happened.
        reason: String,
    },
    /// A container keeps exiting.
    #[error("container {container} ended with {cause}{}", quoted(.last_lines))]
    Crashed {
        /// Its name.
        container: String,
        /// How it ended.
        cause: ExitCause,
        /// The last lines that it wrote.
        last_lines: Vec<String>,
    },
    /// A container was killed at its memory limit.
    #[error(
        "container {container} was killed: it needed more memory than its limit{}{}",
        limit(*.limit_bytes),
        quoted(.last_lines)
    )]
    OutOfMemory {
        /// Its name.
        container: String,
        /// Its limit.
        limit_bytes: Option<u64>,
        /// The last lines that it wrote.
        last_lines: Vec<String>,
    },
    /// A container could not be started: its command is not in the image, its user does not exist, and so on.
    #[error("container {container} can't be started: {reason}")]
    NotStartable {
        /// Its name.
        container: String,
        /// What the runtime says.
        reason: String,
    },
    /// A liveness probe failed, and the container is restarted.
    #[error("container {container} failed its liveness probe: {reason}")]
    Unhealthy {
        /// Its name.
        container: String,
        /// The last failure.
        reason: String,
    },
    /// The address that a port should be published at is taken.
    #[error("port {address} is in use by another program; publish at another port or stop that program")]
    PortInUse {
        /// The address on the machine.
        address: SocketAddr,
    },
    /// The address is another instance's.
    #[error("address {address} of network {network} is in use by instance {holder}")]
    AddressInUse {
        /// Name of the network.
        network: String,
        /// The address.
        address: IpAddr,
        /// Who has it.
        holder: InstanceId,
    },
    /// The subnet has no free address.
    #[error("network {network} has no free address")]
    NoFreeAddress {
        /// Name of the network.
        network: String,
    },
    /// The disk is full.
    #[error("no space left in {path}; free some, or lower the size limit of the image store")]
    NoSpace {
        /// The folder on the full file system.
        path: String,
    },
    /// The spec breaks a rule.
    #[error("instance {id}: {field}: {reason}")]
    InvalidSpec {
        /// The instance.
        id: InstanceId,
        /// Path of the field.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An id breaks a rule.
    #[error("{id:?} is not an instance id: {reason}")]
    InvalidId {
        /// The id as it was given.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A newer epoch of the instance runs.
    #[error("instance {id} runs under epoch {running}; epoch {asked} is older")]
    StaleEpoch {
        /// The instance.
        id: InstanceId,
        /// The epoch that runs.
        running: u64,
        /// The epoch that was asked for.
        asked: u64,
    },
    /// There is no such instance on this machine.
    #[error("instance {id} is not on this machine")]
    NotFound {
        /// The instance.
        id: InstanceId,
    },
    /// The instance has no such container.
    #[error("instance {id} has no container {container}; it has {}", .containers.join(", "))]
    NoSuchContainer {
        /// The instance.
        id: InstanceId,
        /// The container that was asked for.
        container: String,
        /// Those it has.
        containers: Vec<String>,
    },
    /// The container does not run.
    #[error("container {container} of instance {id} is not running")]
    NotRunning {
        /// The instance.
        id: InstanceId,
        /// The container.
        container: String,
    },
    /// Nothing answers on the port.
    #[error("port {port} of instance {id} can't be connected to: {reason}")]
    NotReachable {
        /// The instance.
        id: InstanceId,
        /// The port inside of the sandbox.
        port: u16,
        /// What happened.
        reason: String,
    },
    /// The machine lacks something that is required; the sentences say what, and the next step.
    #[error("containers can't run on this machine: {}", .missing.join(" "))]
    MachineNotReady {
        /// One sentence for each.
        missing: Vec<String>,
    },
    /// A step on the machine failed: a mount, a namespace, a file.
    #[error("{step}: {reason}")]
    Machine {
        /// What was tried, with the name of the thing.
        step: String,
        /// What happened.
        reason: String,
    },
}

/// Who can do something about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Blame {
    /// Whoever wrote the spec or built the image.
    User,
    /// Whoever runs the machine.
    Platform,
    /// Nobody has to: it is tried again.
    Transient,
}

impl Error {
    /// Who can do something about it.
    pub fn blame(&self) -> Blame {
        match self {
            Self::RegistryUnavailable { .. } | Self::StaleEpoch { .. } | Self::NotRunning { .. } => {
                Blame::Transient
            }
            Self::NotReachable { .. } | Self::NotFound { .. } => Blame::Transient,
            Self::PortInUse { .. } | Self::AddressInUse { .. } | Self::NoFreeAddress { .. } => {
                Blame::Platform
            }
            Self::NoSpace { .. } | Self::MachineNotReady { .. } | Self::Machine { .. } => Blame::Platform,
            _ => Blame::User,
        }
    }

    /// Whether the image is the cause.
    pub fn is_about_the_image(&self) -> bool {
        matches!(
            self,
            Self::ImageNotFound { .. }
                | Self::Unauthorized { .. }
                | Self::WrongArchitecture { .. }
                | Self::DigestMismatch { .. }
                | Self::ImageRefused { .. }
                | Self::InvalidReference { .. }
                | Self::ImageNotPresent { .. }
                | Self::RegistryUnavailable { .. }
        )
    }

    /// A failed step on the machine. A full disk is a separate error.
    pub(crate) fn machine(step: impl Into<String>, reason: impl ToString) -> Self {
        Self::Machine { step: step.into(), reason: reason.to_string() }
    }
}

fn quoted(lines: &[String]) -> String {
    match lines.is_empty() {
        true => String::new(),
        false => format!("; its last lines:\n{}", lines.join("\n")),
    }
}

fn limit(bytes: Option<u64>) -> String {
    bytes.map(|bytes| format!(" of {} MiB", bytes / (1 << 20))).unwrap_or_default()
}
