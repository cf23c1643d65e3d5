//! Runs instances as OCI containers on this machine, behind the trait [`Runtime`].
//!
//! An instance is a sandbox of one or more containers that share a network namespace. It has an id and an epoch, which its
//! caller chooses. [`simulated::Simulated`] plays instances by a script, on an injected clock. This crate knows nothing of
//! resources or of a server: what should run is a plain [`InstanceSpec`], what runs is a plain [`InstanceState`].

mod backoff;
pub mod clock;
mod error;
mod id;
mod runtime;
pub mod simulated;
mod spec;
mod state;

pub use backoff::Backoff;
pub use error::{Blame, Error, Result};
pub use id::InstanceId;
pub use runtime::{
    Event, ExecRequest, ExecSession, LogLine, LogRequest, LogStream, Output, Runtime, TerminalSize,
};
pub use spec::{
    ContainerSpec, Credentials, EmptyDir, EnvVar, File, Files, InstanceSpec, Limits, Login, Mount,
    NetworkSpec, Port, Probe, ProbeAction, PullPolicy, RestartPolicy, Sensitive, Volume, VolumeSource,
};
pub use state::{
    Capability, Check, ContainerPhase, ContainerState, Exit, ExitCause, InstanceState, Phase, PublishedPort,
    PullProgress, Usage,
};
