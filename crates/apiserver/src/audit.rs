//! The audit log: `audit.k8s.io/v1` events, one per line, in a file that is rotated by size.

mod event;
mod log;
mod policy;
mod reader;
mod record;
mod rotation;
mod sample;
mod source;

pub use event::{Event, ObjectRef};
pub use log::{AuditCounts, AuditLog, AuditLogError};
pub use policy::{Policy, PolicyError, Verdict};
pub use reader::{LinePlace, read_back};
pub use record::Record;
pub use rotation::Rotation;
pub use source::{attempted, source_ips};

/// How much of a request is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Nothing.
    #[default]
    None,
    /// Who, what, when, and how it ended.
    Metadata,
    /// And what was sent.
    Request,
    /// And what was answered.
    RequestResponse,
}

impl Level {
    /// Its name in policies and events.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::None => "None",
            Level::Metadata => "Metadata",
            Level::Request => "Request",
            Level::RequestResponse => "RequestResponse",
        }
    }
}

/// Where a request stands when an event is made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It has come in.
    RequestReceived,
    /// The head of the answer is out and the body follows for long: a watch.
    ResponseStarted,
    /// The answer is out.
    ResponseComplete,
    /// Answering it broke.
    Panic,
}

impl Stage {
    /// Its name in policies and events.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::RequestReceived => "RequestReceived",
            Stage::ResponseStarted => "ResponseStarted",
            Stage::ResponseComplete => "ResponseComplete",
            Stage::Panic => "Panic",
        }
    }
}

#[cfg(test)]
mod tests;
