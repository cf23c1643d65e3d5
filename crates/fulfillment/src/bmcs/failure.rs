//! Why the BMC of a host was not read or driven.

use std::fmt;
use std::time::Duration;

use bmc::Cause;
use krm::status::Status;
use reconcile::gate::Resting;

/// Why the BMC of a host was not read or driven.
#[derive(Debug)]
pub enum Failure {
    /// There is no such host.
    NoHost,
    /// The host names no BMC.
    NoAddress,
    /// The host has no credentials for its BMC.
    NoCredentials,
    /// Who asks may not drive it.
    Claim(String),
    /// Objects can't be read or written.
    Store(Status),
    /// An object is not what it should be.
    Unreadable(String),
    /// The BMC failed too often, or others use it.
    Resting(Resting),
    /// It took longer than this.
    Slow(Duration),
    /// The BMC, or the way to it.
    Bmc(bmc::Error),
}

impl Failure {
    /// Machine-readable reason, in CamelCase.
    pub fn reason(&self) -> &'static str {
        match self {
            Failure::NoHost => "HostNotFound",
            Failure::NoAddress => "NoAddress",
            Failure::NoCredentials => "NoCredentials",
            Failure::Claim(_) => "NotClaimed",
            Failure::Store(_) | Failure::Unreadable(_) => "StoreFailed",
            Failure::Resting(_) => "Resting",
            Failure::Slow(_) => "Unreachable",
            Failure::Bmc(error) => match error.cause() {
                Cause::NameResolution { .. }
                | Cause::Refused
                | Cause::Unreachable { .. }
                | Cause::TimedOut { .. } => "Unreachable",
                Cause::Untrusted { .. } | Cause::Tls { .. } => "CertificateNotTrusted",
                Cause::PinChanged { .. } => "CertificateChanged",
                Cause::Unauthorized { .. } => "CredentialsRefused",
                Cause::Forbidden { .. } => "PrivilegeMissing",
                Cause::LockoutGuard { .. } => "TooManyFailedLogins",
                Cause::Unsupported { .. } => "NotSupported",
                Cause::NotVerified { .. } => "NotVerified",
                Cause::Invalid { .. } => "InvalidAddress",
                _ => "BMCFailed",
            },
        }
    }

    /// Whether the same may succeed later without anybody changing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Failure::Store(status) => status.code >= 409,
            Failure::Resting(_) | Failure::Slow(_) => true,
            Failure::Bmc(error) => error.is_transient(),
            _ => false,
        }
    }

    /// When to try again, if it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Failure::Resting(resting) => Some(resting.pause),
            Failure::Bmc(error) => match error.cause() {
                Cause::LockoutGuard { retry_after } => Some(*retry_after),
                Cause::Busy { retry_after, .. } => *retry_after,
                _ => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NoHost => f.write_str("there is no such host"),
            Failure::NoAddress => f.write_str("the host has no BMC; set spec.bmc.url"),
            Failure::NoCredentials => {
                f.write_str("the host has no password for its BMC; set spec.bmc.user and spec.bmc.password")
            }
            Failure::Claim(why) | Failure::Unreadable(why) => f.write_str(why),
            Failure::Store(status) => write!(f, "{status}"),
            Failure::Resting(resting) => {
                write!(f, "the BMC failed or is in use; it is asked again in {} s", resting.pause.as_secs())
            }
            Failure::Slow(limit) => {
                write!(f, "the BMC did not answer within {} s; check the management network", limit.as_secs())
            }
            Failure::Bmc(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<bmc::Error> for Failure {
    fn from(error: bmc::Error) -> Failure {
        Failure::Bmc(error)
    }
}
