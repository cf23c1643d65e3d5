//! Errors: what was tried, on which server, why it failed, and whether it may have happened nevertheless.

use serde_json::{Value, json};

use crate::Answer;

/// The message for a path that a server does not serve.
pub const UNKNOWN_PATH: &str = "the server could not find the requested resource";

/// The result of a request.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a request failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A kubeconfig, a certificate, a token or an address can't be used. Repeating the request does not help.
    #[error("{0}")]
    Config(String),
    /// The kubeconfig has no context of this name.
    #[error("context {} does not exist", krm::field::quote(.0))]
    UnknownContext(String),
    /// No kubeconfig names a server; the field lists the files that were read.
    #[error("no server configured: no usable context in {0}")]
    NoServer(String),
    /// There is no CA certificate to verify the server with.
    #[error("no CA certificates to verify the server with")]
    NoAuthorities,
    /// The credential plugin of a kubeconfig failed.
    #[error("getting credentials: exec: {program}: {why}")]
    Exec {
        /// The program.
        program: String,
        /// Why it failed.
        why: String,
        /// What the kubeconfig says about installing it; empty for nothing.
        install_hint: String,
    },
    /// A person has to log in at an OpenID Connect issuer again.
    #[error("{why} at {issuer}")]
    LoginNeeded {
        /// Why.
        why: String,
        /// The issuer's URL.
        issuer: String,
        /// The OAuth client.
        client: String,
    },
    /// No server listens at this address. The request was not sent.
    #[error("The connection to the server {0} was refused - did you specify the right host or port?")]
    ConnectionRefused(String),
    /// No connection to the server could be made. The request was not sent.
    #[error("Unable to connect to the server: {why}")]
    Unreachable {
        /// Why.
        why: String,
        /// Whether the certificate of the server was not accepted.
        is_mistrusted: bool,
    },
    /// The connection was lost before the response was complete.
    #[error("the connection to the server {address} was lost: {why}")]
    Lost {
        /// Host and port of the server.
        address: String,
        /// Why.
        why: String,
        /// Whether the server can't have handled the request: it was not sent, or the server said so.
        is_unhandled: bool,
        /// Whether the request was a change, which may have been made.
        is_change: bool,
        /// What to do next, if something can be said.
        hint: Option<String>,
    },
    /// The server did not answer in time.
    #[error("the server at {address} did not answer within {limit:?}")]
    TimedOut {
        /// Host and port of the server.
        address: String,
        /// The time limit of one request.
        limit: std::time::Duration,
        /// Whether the request was a change, which may have been made.
        is_change: bool,
    },
    /// The server refused the request.
    #[error("{}", .0.message())]
    Refused(Box<Refusal>),
    /// The response, or an object in it, is not what was asked for.
    #[error("{0}")]
    Unreadable(String),
    /// The request can't be sent as it is.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// The server's refusal, if the error is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Error::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// The HTTP status of a refusal; 0 if the error is none.
    pub fn code(&self) -> u16 {
        self.refusal().map_or(0, Refusal::code)
    }

    /// Whether there is no such object, or no such kind.
    pub fn is_not_found(&self) -> bool {
        self.code() == 404
    }

    /// Whether the object was changed by somebody else, or a lease is no longer held.
    pub fn is_conflict(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.reason() == "Conflict")
    }

    /// Whether the write was fenced off: the lease it was sent under is no longer held.
    pub fn is_fenced_off(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.causes().any(|cause| cause["reason"] == "LeaseNotHeld"))
    }

    /// Whether the object exists already.
    pub fn already_exists(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.reason() == "AlreadyExists")
    }

    /// Whether the server no longer has that past: a list or a watch has to begin again.
    pub fn is_expired(&self) -> bool {
        self.code() == 410
    }

    /// Whether a change was sent and nobody knows what became of it.
    pub fn is_unanswered(&self) -> bool {
        match self {
            Error::Lost { is_change, is_unhandled, .. } => *is_change && !is_unhandled,
            Error::TimedOut { is_change, .. } => *is_change,
            _ => false,
        }
    }

    /// Whether the server can't have handled the request, so that even a change may be sent again.
    pub fn is_unhandled(&self) -> bool {
        match self {
            Error::ConnectionRefused(_) => true,
            // A certificate that is not accepted is not accepted the next time.
            Error::Unreachable { is_mistrusted, .. } => !is_mistrusted,
            Error::Lost { is_unhandled, .. } => *is_unhandled,
            _ => false,
        }
    }

    /// Whether the same request may succeed later, without anything else being changed.
    pub fn is_passing(&self) -> bool {
        match self {
            Error::Lost { .. } | Error::TimedOut { .. } => true,
            Error::Refused(refusal) => matches!(refusal.code(), 429 | 500 | 502 | 503 | 504),
            other => other.is_unhandled(),
        }
    }
}

/// What a server answered instead of what was asked for: a `Status`.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The `Status` that it sent, or one made from the response of a server that sent none.
    pub status: Value,
    /// What to do next, if something can be said.
    pub hint: Option<String>,
}

impl Refusal {
    /// The refusal in a response that is no success.
    pub fn read(answer: &Answer) -> Refusal {
        let status = serde_json::from_slice::<Value>(&answer.body).ok();
        let status = status.filter(|body| body["kind"] == "Status");
        Refusal { status: status.unwrap_or_else(|| made_up(answer)), hint: None }
    }

    /// The word for programs, such as `NotFound`.
    pub fn reason(&self) -> &str {
        self.status["reason"].as_str().unwrap_or("")
    }

    /// The sentence for people.
    pub fn message(&self) -> &str {
        self.status["message"].as_str().unwrap_or("unknown")
    }

    /// The HTTP status.
    pub fn code(&self) -> u16 {
        self.status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(0)
    }

    /// Everything that is wrong: objects with `reason`, `message` and `field`.
    pub fn causes(&self) -> impl Iterator<Item = &Value> {
        self.status["details"]["causes"].as_array().into_iter().flatten()
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error::Refused(Box::new(refusal))
    }
}

/// A `Status` for a response that has none.
fn made_up(answer: &Answer) -> Value {
    let text = String::from_utf8_lossy(&answer.body);
    let text = text.trim();
    let prevented = format!(
        "an error on the server ({}) has prevented the request from succeeding",
        krm::field::quote(text)
    );
    let (reason, message) = match answer.code {
        401 => ("Unauthorized", "the server has asked for the client to provide credentials"),
        403 => ("Forbidden", text),
        404 => ("NotFound", UNKNOWN_PATH),
        405 => ("MethodNotAllowed", "the server does not allow this method on the requested resource"),
        406 => ("NotAcceptable", text),
        429 => (
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        504 => (
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be processing the request",
        ),
        _ => ("InternalError", prevented.as_str()),
    };
    json!({"kind": "Status", "status": "Failure", "message": message, "code": answer.code, "reason": reason})
}
