//! Errors, by cause: each says what failed, on which BMC, why, and what to do next.

use std::fmt;
use std::time::Duration;

use crate::Address;
use crate::trust::Fingerprint;

/// What calls answer.
pub type Result<T> = std::result::Result<T, Error>;

/// A call that failed.
#[derive(Debug, Clone)]
pub struct Error {
    address: String,
    action: String,
    cause: Box<Cause>,
    is_unsent: bool,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The host name has no address.
    #[error("the host name cannot be resolved: {why}")]
    NameResolution {
        /// What the resolver says.
        why: String,
    },
    /// Nothing listens on the port.
    #[error("the connection was refused")]
    Refused,
    /// The network does not lead there, or the connection broke.
    #[error("the connection failed: {why}")]
    Unreachable {
        /// What the system says.
        why: String,
    },
    /// No answer within the deadline.
    #[error("no answer within {} s", after.as_secs_f32())]
    TimedOut {
        /// The deadline.
        after: Duration,
    },
    /// The certificate is not signed by a trusted authority, is expired or for another name.
    #[error("the certificate is not trusted: {why}")]
    Untrusted {
        /// What is wrong with it.
        why: String,
    },
    /// The certificate is not the one that was pinned.
    #[error("the certificate changed: {expected} is pinned, {found} was presented")]
    PinChanged {
        /// The pin.
        expected: Fingerprint,
        /// What the BMC presents.
        found: Fingerprint,
    },
    /// TLS failed for another reason than trust.
    #[error("TLS failed: {why}")]
    Tls {
        /// What the handshake says.
        why: String,
    },
    /// The BMC does not accept user name and password (401).
    #[error("the BMC refuses the credentials of user \"{user}\"")]
    Unauthorized {
        /// The user.
        user: String,
    },
    /// The account may not do this (403).
    #[error("user \"{user}\" lacks the privilege")]
    Forbidden {
        /// The user.
        user: String,
    },
    /// Logging in now could lock the account.
    #[error("two logins have failed within ten minutes; the next attempt is allowed in {} s", retry_after.as_secs())]
    LockoutGuard {
        /// When the next attempt is allowed.
        retry_after: Duration,
    },
    /// The count of failed logins cannot be read or written.
    #[error("the record of failed logins is not available: {why}")]
    Ledger {
        /// What its store says.
        why: String,
    },
    /// The answer is not what the protocol prescribes.
    #[error("unexpected answer: {why}")]
    WrongShape {
        /// What is wrong with it.
        why: String,
    },
    /// The answer is larger than allowed.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The BMC redirects elsewhere, or in circles.
    #[error("the BMC redirects to {to}")]
    Redirected {
        /// The target of the last redirect.
        to: String,
    },
    /// The protocol or this BMC lacks the function.
    #[error("{what} is not supported")]
    Unsupported {
        /// What is missing.
        what: String,
    },
    /// The BMC is doing something else, or asks to be left alone for a while.
    #[error("the BMC is busy: {why}")]
    Busy {
        /// What it says.
        why: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// A task on the BMC ended without success.
    #[error("the task on the BMC ended as {state}: {why}")]
    TaskFailed {
        /// State of the task.
        state: String,
        /// Its messages.
        why: String,
    },
    /// The BMC accepted a change, and still reports another state.
    #[error("the BMC accepted the change but reports {found} instead of {wanted}")]
    NotVerified {
        /// What was asked for.
        wanted: String,
        /// What is reported.
        found: String,
    },
    /// There is no such resource.
    #[error("{what} does not exist on the BMC")]
    NotFound {
        /// What is missing.
        what: String,
    },
    /// The BMC refuses the request for another reason.
    #[error("the BMC answers {code}: {why}")]
    Refusal {
        /// HTTP status or IPMI completion code.
        code: String,
        /// Its message.
        why: String,
    },
    /// A person has been asked, and has not answered yet, or has declined.
    #[error("{why}")]
    Person {
        /// What is waited for, or the reason given.
        why: String,
    },
    /// A program that a driver starts failed.
    #[error("{program} failed: {why}")]
    Program {
        /// The program.
        program: String,
        /// What it printed.
        why: String,
    },
    /// The caller's input is wrong; nothing was sent.
    #[error("{why}")]
    Invalid {
        /// What is wrong with it.
        why: String,
    },
}

impl Error {
    /// A failure of an action on a BMC.
    pub fn new(address: &Address, action: impl Into<String>, cause: Cause) -> Error {
        Error::about(address.to_string(), action, cause)
    }

    pub(crate) fn about(address: String, action: impl Into<String>, cause: Cause) -> Error {
        Error { address, action: action.into(), cause: Box::new(cause), is_unsent: false }
    }

    /// The cause.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// The BMC, as its URL.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The same failure, as part of a larger action.
    pub fn during(mut self, action: impl Into<String>) -> Error {
        self.action = action.into();
        self
    }

    /// The same failure, of a request that the BMC can't have seen.
    pub(crate) fn unsent(mut self) -> Error {
        self.is_unsent = true;
        self
    }

    /// Whether the BMC can't have seen the request.
    pub fn is_unsent(&self) -> bool {
        self.is_unsent
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_transient(&self) -> bool {
        match &*self.cause {
            Cause::Refused
            | Cause::Unreachable { .. }
            | Cause::TimedOut { .. }
            | Cause::LockoutGuard { .. }
            | Cause::Ledger { .. }
            | Cause::Busy { .. } => true,
            Cause::Refusal { code, .. } => code.starts_with("HTTP 5"),
            _ => false,
        }
    }

    /// Whether the request may have been carried out although the call failed.
    pub fn is_unsettled(&self) -> bool {
        if self.is_unsent {
            return false;
        }
        matches!(
            &*self.cause,
            Cause::TimedOut { .. }
                | Cause::Unreachable { .. }
                | Cause::NotVerified { .. }
                | Cause::WrongShape { .. }
        ) || matches!(&*self.cause, Cause::Refusal { code, .. } if code.starts_with("HTTP 5"))
    }

    /// What to do about it.
    pub fn next_step(&self) -> &'static str {
        match &*self.cause {
            Cause::NameResolution { .. } => "check the host name and the DNS of this machine",
            Cause::Refused => "check the address and port, and that the service is enabled on the BMC",
            Cause::Unreachable { .. } => "check the management network and that the BMC has power",
            Cause::TimedOut { .. } => "check the management network; a hung BMC needs a reset",
            Cause::Untrusted { .. } => "give the CA of the BMC, or pin its certificate",
            Cause::PinChanged { .. } => {
                "if the certificate was replaced on purpose, store the new pin; if not, treat the BMC as impersonated"
            }
            Cause::Tls { .. } => "check that the port speaks TLS 1.2 or newer",
            Cause::Unauthorized { .. } => {
                "correct the credentials; two failed logins stop further ones for ten minutes"
            }
            Cause::Forbidden { .. } => "give the account the administrator role on the BMC",
            Cause::LockoutGuard { .. } => "correct the credentials meanwhile; the guard protects the account",
            Cause::Ledger { .. } => "restore access to the store; no login is made without the record",
            Cause::WrongShape { .. } => "check that the address is that of a BMC; update its firmware",
            Cause::TooLarge { .. } => "check that the address is that of a BMC",
            Cause::Redirected { .. } => "use the address that the BMC redirects to",
            Cause::Unsupported { .. } => "use another protocol or update the firmware of the BMC",
            Cause::Busy { .. } => "try again later",
            Cause::TaskFailed { .. } => "see the task on the BMC",
            Cause::NotVerified { .. } => "look at the machine; the BMC may have to be reset",
            Cause::NotFound { .. } => "check the path in the address; `inventory` lists the systems",
            Cause::Refusal { .. } => "see the message of the BMC",
            Cause::Person { .. } => "answer the request",
            Cause::Program { .. } => "run the command by hand to see why",
            Cause::Invalid { .. } => "correct the input",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}; {}", self.address, self.action, self.cause, self.next_step())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message has the cause already.
        None
    }
}
