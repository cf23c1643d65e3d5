//! Runs instances as OCI containers on this machine, behind the trait [`Runtime`].
//!
//! An instance is a sandbox of one or more containers that share a network namespace. It has an id and an epoch, which its
//! caller chooses. [`simulated::Simulated`] plays instances by a script, on an injected clock. This crate knows nothing of
//! resources or of a server: what should run is a plain [`InstanceSpec`], what runs is a plain [`InstanceState`].

mod backoff;
pub mod clock;
mod error;
mod id;
pub mod image;
pub mod logs;
pub mod oci;
mod processes;
pub mod proxy;
mod runtime;
pub mod shim;
pub mod simulated;
mod spec;
mod state;
mod timestamp;
mod unable;

pub use backoff::Backoff;
pub use error::{Blame, Error, Result};
pub use id::InstanceId;
pub use runtime::{
    Event, ExecRequest, ExecSession, LogLine, LogRequest, LogStream, Output, Runtime, TerminalSize,
};
pub use spec::{
    ContainerSpec, Credentials, EmptyDir, EnvVar, File, Files, Ingress, IngressRule, InstanceSpec, Limits,
    Login, Mount, NetworkSpec, Port, PortRange, Probe, ProbeAction, Protocol, PullPolicy, RestartPolicy,
    Sensitive, Source, Volume, VolumeSource,
};
pub use state::{
    Capability, Check, ContainerPhase, ContainerState, Exit, ExitCause, InstanceState, Phase, PublishedPort,
    PullProgress, Usage,
};
pub use unable::Unable;
