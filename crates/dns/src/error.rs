//! Why records could not be written or read, and what to do about it.

use std::time::Duration;

use crate::name::DnsName;

/// A failed operation on a zone.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name can't be written through this zone.
    #[error("{name} is not in zone {zone}")]
    OutsideZone {
        /// What was asked for.
        name: DnsName,
        /// What the provider serves.
        zone: DnsName,
    },
    /// No connection. Worth another try.
    #[error(
        "name server {server} can't be reached: {source}; check the address, and that TCP port 53 is open"
    )]
    Unreachable {
        /// Host and port.
        server: String,
        /// Why.
        source: std::io::Error,
    },
    /// The server took too long. Worth another try.
    #[error("name server {server} did not answer within {} s", limit.as_secs())]
    Timeout {
        /// Host and port.
        server: String,
        /// How long was waited.
        limit: Duration,
    },
    /// The server does not know the key, or has another secret for it.
    #[error(
        "name server {server} does not accept TSIG key {key}: {reason}; compare name, algorithm and secret with the \
         server's configuration"
    )]
    KeyNotAccepted {
        /// Host and port.
        server: String,
        /// Name of the key.
        key: DnsName,
        /// What the server says of it.
        reason: &'static str,
    },
    /// The clocks differ by more than signatures allow.
    #[error("the clock of name server {server} differs from ours{}; synchronize both clocks", difference_text(*difference))]
    ClockSkew {
        /// Host and port.
        server: String,
        /// How far the server is ahead of us, in seconds, if it tells.
        difference: Option<i64>,
    },
    /// The key is good, but may not do this.
    #[error(
        "name server {server} refuses changes of zone {zone} with this key; its update policy must grant them"
    )]
    Refused {
        /// Host and port.
        server: String,
        /// The zone.
        zone: DnsName,
    },
    /// The server is not the zone's primary.
    #[error("name server {server} is not authoritative for zone {zone}; name the zone's primary server")]
    NotAuthoritative {
        /// Host and port.
        server: String,
        /// The zone.
        zone: DnsName,
    },
    /// Another code of failure. Worth another try.
    #[error("name server {server} answered {code}")]
    Failed {
        /// Host and port.
        server: String,
        /// As the protocol names it.
        code: String,
    },
    /// The answer is not signed by our key, or is not an answer to what was asked.
    #[error("the answer of name server {server} can't be trusted: {reason}")]
    Untrusted {
        /// Host and port.
        server: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A message that can't be made or read.
    #[error("DNS message: {0}")]
    Message(String),
    /// The program of an [`Exec`](crate::Exec) provider did not do what was asked.
    #[error("{program}: {reason}")]
    Program {
        /// Its path.
        program: String,
        /// What it said, or how it ended.
        reason: String,
    },
    /// There is nobody to ask.
    #[error("no provider is configured, so {name} can't be looked up")]
    NoProvider {
        /// What was asked for.
        name: DnsName,
    },
}

impl Error {
    /// Whether the same request may succeed later without anybody changing the configuration.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Error::Unreachable { .. } | Error::Timeout { .. } | Error::Failed { .. } | Error::Program { .. }
        )
    }
}

fn difference_text(difference: Option<i64>) -> String {
    match difference {
        Some(seconds) if seconds > 0 => format!(": it is {seconds} s ahead"),
        Some(seconds) => format!(": it is {} s behind", seconds.unsigned_abs()),
        None => String::new(),
    }
}
