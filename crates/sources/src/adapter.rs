//! The contract of an adapter: it reads one other system, and knows nothing of masks, hashes or the API.

use std::fmt;
use std::pin::Pin;

use futures_util::Stream;

use crate::observation::{ClassRecord, HostRecord};

/// What an adapter's future gives.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;
/// The changes that an adapter hears of.
pub type Changes = Pin<Box<dyn Stream<Item = Result<Change, Fault>> + Send>>;

/// Reads one other system.
pub trait Adapter: Send + Sync {
    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// A page of everything that the system has. `after` is the token that the page before gave. If a page fails, it is asked for
    /// again with the same token.
    fn page<'a>(&'a self, after: Option<&'a str>) -> Later<'a, Page>;

    /// One host, or nothing if the system does not have it.
    fn fetch<'a>(&'a self, id: &'a str) -> Later<'a, Option<HostRecord>>;

    /// Changes as they happen. `None` if the system does not tell. An error ends the stream: it is opened again, and everything
    /// is listed.
    fn changes(&self) -> Option<Changes> {
        None
    }

    /// What a notification that the system sent by itself is about, for a webhook. `None` if it is not understood.
    fn notified(&self, _body: &serde_json::Value) -> Option<Change> {
        None
    }

    /// Looks whether the system can be used: its version, and what this adapter may read. Without writing anything.
    fn probe(&self) -> Later<'_, Probe>;
}

/// What an adapter can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether [`Adapter::changes`] gives a stream.
    pub has_events: bool,
    /// Whether [`Adapter::notified`] understands notifications.
    pub has_webhook: bool,
    /// Whether [`Adapter::fetch`] is cheaper than a list.
    pub fetches_one: bool,
}

/// A page of what a system has.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Classes. The last record of an identifier counts.
    pub classes: Vec<ClassRecord>,
    /// Hosts.
    pub hosts: Vec<HostRecord>,
    /// Records that were there but could not be read: identifier and reason. They are not missing.
    pub unreadable: Vec<(String, String)>,
    /// Endpoints that did not answer, as `host:port`, where a system has many. Hosts whose BMC is there are not missing.
    pub unreachable: Vec<String>,
    /// Token of the next page. `None` on the last one.
    pub next: Option<String>,
}

/// A change that a system tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A host is new or changed.
    Host(String),
    /// A host is gone.
    Removed(String),
    /// Something that concerns several hosts changed: everything is listed.
    Everything,
    /// The stream is alive.
    Alive,
}

/// What a look at a system found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Probe {
    /// Product and version, for people.
    pub version: String,
    /// What will not work, and what to do about it.
    pub warnings: Vec<String>,
}

/// Why a system could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind of fault it is.
    pub kind: FaultKind,
    /// What failed, for people. Never has credentials.
    pub why: String,
}

/// Kinds of faults, each with another next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The name of the endpoint is not known to DNS.
    Dns,
    /// Nothing answers at the address.
    Tcp,
    /// The certificates don't fit.
    Tls,
    /// A certificate is not valid at this time: one of the clocks is wrong, or it has expired.
    Clock,
    /// The credentials are wrong (401).
    Unauthorized,
    /// The credentials don't suffice (403).
    Forbidden,
    /// The system does not answer as this adapter expects.
    WrongShape,
    /// The system's version is not supported.
    WrongVersion,
    /// It took too long.
    TimedOut,
    /// The system failed by itself (5xx), or is busy (429).
    Server,
    /// The Source is configured wrongly.
    Config,
}

impl Fault {
    /// A fault.
    pub fn new(kind: FaultKind, why: impl Into<String>) -> Fault {
        Fault { kind, why: why.into() }
    }

    /// An answer that is not what was expected.
    pub fn shape(why: impl Into<String>) -> Fault {
        Fault::new(FaultKind::WrongShape, why)
    }

    /// The same with what was being done.
    pub fn during(self, what: &str) -> Fault {
        Fault { why: format!("{what}: {}", self.why), ..self }
    }

    /// Whether the same request may succeed a little later.
    pub fn is_passing(&self) -> bool {
        matches!(self.kind, FaultKind::Tcp | FaultKind::TimedOut | FaultKind::Server)
    }
}

impl FaultKind {
    /// Reason in one word, for conditions.
    pub fn reason(self) -> &'static str {
        match self {
            FaultKind::Dns => "NameNotFound",
            FaultKind::Tcp => "NotReachable",
            FaultKind::Tls => "NotTrusted",
            FaultKind::Clock => "ClockOrExpiry",
            FaultKind::Unauthorized => "Unauthorized",
            FaultKind::Forbidden => "Forbidden",
            FaultKind::WrongShape => "UnexpectedAnswer",
            FaultKind::WrongVersion => "WrongVersion",
            FaultKind::TimedOut => "TimedOut",
            FaultKind::Server => "SourceFailed",
            FaultKind::Config => "Misconfigured",
        }
    }

    /// What to do about it.
    pub fn next_step(self) -> &'static str {
        match self {
            FaultKind::Dns => "check spec.endpoint, and whether this machine's resolver knows the name",
            FaultKind::Tcp => {
                "check the port in spec.endpoint, routes and firewalls, and that the system runs"
            }
            FaultKind::Tls => {
                "put the CA of the system into the key ca.crt of the credentials, or check spec.endpoint"
            }
            FaultKind::Clock => {
                "compare the clocks of this machine and of the system, and look when the certificate expires"
            }
            FaultKind::Unauthorized => {
                "check the credentials: the Secret of spec.credentialsRef, or the configuration file"
            }
            FaultKind::Forbidden => "give the account at the system the right to read hosts",
            FaultKind::WrongShape => {
                "check that spec.endpoint is the API of this system, and not a proxy or another product"
            }
            FaultKind::WrongVersion => "upgrade the system, or see the documentation for supported versions",
            FaultKind::TimedOut => {
                "check the load of the system; a larger spec.options.timeoutSeconds may help"
            }
            FaultKind::Server => "look into the log of the system",
            FaultKind::Config => "correct the Source",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Fault {}
