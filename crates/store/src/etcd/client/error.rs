use std::error::Error as _;

use tonic::{Code, ConnectError, Status};

/// Why etcd did not do what it was asked. [`Error::may_have_applied`] tells what that means for a change.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// No member took the request, so nothing was changed. Retry when the cluster is back.
    #[error(
        "etcd at {endpoint} cannot serve: {cause}; check that a majority of the members runs and is reachable"
    )]
    Unreachable { endpoint: String, cause: String },
    /// The request went out and no verdict came back: it may or may not have been applied, now or in a
    /// moment. Never retry blindly; read first.
    #[error("etcd at {endpoint} gave no verdict: {cause}; read back to see whether the change was made")]
    Ambiguous { endpoint: String, cause: String },
    /// The history asked for is gone, up to this revision if etcd says so. Do not retry; read anew and go on
    /// from there.
    #[error(
        "etcd has compacted the history that was asked for; read the present state and go on from its revision"
    )]
    Compacted { revision: Option<i64> },
    /// The request passes a limit of the cluster and was not applied. Do not retry; ask for less at once or
    /// raise the limit.
    #[error(
        "etcd finds the request too large: {message}; split it, or raise --max-txn-ops or --max-request-bytes"
    )]
    TooLarge { message: String },
    /// The cluster's space quota is used up. Do not retry before someone has made room. A change can be
    /// reported so although it was applied: the one that crosses the quota between etcd's two checks.
    #[error(
        "etcd at {endpoint} is out of space; compact and defragment it or raise --quota-backend-bytes, then run \
         `etcdctl alarm disarm`"
    )]
    NoSpace { endpoint: String },
    /// The user or the certificate may not do this; nothing was changed. Retry only after the login or its
    /// permissions were changed.
    #[error("etcd at {endpoint} denied access: {cause}; check the login and the permissions of its roles")]
    Denied { endpoint: String, cause: String },
    /// etcd understood the request and said no; nothing was changed. The same request will fail again.
    #[error("etcd at {endpoint} refused: {message}")]
    Refused { endpoint: String, code: Code, message: String },
    /// The answer made no sense to us; the request may have been applied. Do not retry: it is no etcd v3.4 or
    /// later, or a bug of ours.
    #[error(
        "etcd at {endpoint} answered in an unexpected way: {cause}; is it an etcd of version 3.4 or later?"
    )]
    Protocol { endpoint: String, cause: String },
    /// The configuration cannot be used at all. Do not retry; correct it.
    #[error("the etcd configuration is not usable: {what}: {cause}")]
    Misconfigured { what: String, cause: String },
}

impl Error {
    /// Whether a change that ended in this error may have happened all the same.
    pub(crate) fn may_have_applied(&self) -> bool {
        matches!(self, Self::Ambiguous { .. } | Self::NoSpace { .. } | Self::Protocol { .. })
    }

    /// Whether another member may do better.
    pub(super) fn is_of_the_member(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Ambiguous { .. })
    }

    /// For requests that change nothing: no verdict is the same as never asked.
    pub(super) fn of_a_read(self) -> Self {
        match self {
            Self::Ambiguous { endpoint, cause } => Self::Unreachable { endpoint, cause },
            other => other,
        }
    }

    /// Sorts what a call to `endpoint` ended with. Only what etcd decides before it proposes a change, or
    /// before it applies any part of one, counts as not applied; all that is unknown counts as ambiguous.
    pub(super) fn from_status(endpoint: &str, status: &Status) -> Self {
        let endpoint = endpoint.to_owned();
        let message = status.message();
        let says = |text: &str| message.contains(text);
        if was_never_connected(status) {
            return Self::Unreachable { endpoint, cause: whole_cause(status) };
        }
        match status.code() {
            Code::Unavailable if NOT_TAKEN.iter().any(|text| says(text)) => {
                Self::Unreachable { endpoint, cause: message.to_owned() }
            }
            Code::ResourceExhausted if says("database space exceeded") => Self::NoSpace { endpoint },
            // Too much waits to be applied: refused before it was proposed.
            Code::ResourceExhausted if says("etcdserver: too many requests") => {
                Self::Unreachable { endpoint, cause: message.to_owned() }
            }
            Code::ResourceExhausted if says("received message larger than max") => {
                Self::TooLarge { message: message.to_owned() }
            }
            // Said by our own side, before anything is sent.
            Code::OutOfRange if says("encoded message length too large") => {
                Self::TooLarge { message: message.to_owned() }
            }
            Code::OutOfRange if says("required revision has been compacted") => {
                Self::Compacted { revision: None }
            }
            // Without etcd's prefix it is our own side again, about an answer that is too large to be read.
            Code::OutOfRange if says("etcdserver: ") => refused(endpoint, status),
            Code::InvalidArgument if says("request is too large") || says("too many operations") => {
                Self::TooLarge { message: message.to_owned() }
            }
            Code::InvalidArgument if says("authentication failed") || asks_for_login(status) => {
                Self::Denied { endpoint, cause: message.to_owned() }
            }
            Code::PermissionDenied | Code::Unauthenticated => {
                Self::Denied { endpoint, cause: message.to_owned() }
            }
            Code::InvalidArgument | Code::FailedPrecondition | Code::NotFound | Code::AlreadyExists => {
                refused(endpoint, status)
            }
            Code::OutOfRange | Code::Unimplemented | Code::DataLoss => {
                Self::Protocol { endpoint, cause: whole_cause(status) }
            }
            Code::Internal if says("failed to decode") => {
                Self::Protocol { endpoint, cause: whole_cause(status) }
            }
            _ => Self::Ambiguous { endpoint, cause: whole_cause(status) },
        }
    }
}

/// Answers of a member that turned the request away at the door, before it was proposed to the others.
const NOT_TAKEN: [&str; 3] =
    ["etcdserver: no leader", "etcdserver: not capable", "etcdserver: rpc not supported for learner"];

/// Whether the token, or the lack of one, is the reason: log in (again) and repeat.
pub(super) fn asks_for_login(status: &Status) -> bool {
    status.code() == Code::Unauthenticated || speaks_of_login(status.message())
}

/// The same of a reason that came as text.
pub(super) fn speaks_of_login(reason: &str) -> bool {
    ["invalid auth token", "revision of auth store is old", "user name is empty"]
        .iter()
        .any(|text| reason.contains(text))
}

fn refused(endpoint: String, status: &Status) -> Error {
    Error::Refused { endpoint, code: status.code(), message: status.message().to_owned() }
}

fn was_never_connected(status: &Status) -> bool {
    let mut source = status.source();
    while let Some(error) = source {
        if error.is::<ConnectError>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// One line of the whole chain. Layers of the transport repeat each other, so a part that was said is left
/// out.
fn whole_cause(status: &Status) -> String {
    let mut cause = status.message().to_owned();
    let mut source = status.source();
    while let Some(error) = source {
        let text = error.to_string();
        if !cause.contains(&text) {
            cause = if cause.is_empty() { text } else { format!("{cause}: {text}") };
        }
        source = error.source();
    }
    if cause.is_empty() { status.code().description().to_owned() } else { cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(code: Code, message: &str) -> Error {
        Error::from_status("http://etcd:2379", &Status::new(code, message))
    }

    #[test]
    fn only_what_etcd_decided_before_applying_counts_as_not_applied() {
        let definite = [
            (Code::InvalidArgument, "etcdserver: too many operations in txn request"),
            (Code::InvalidArgument, "etcdserver: request is too large"),
            (Code::InvalidArgument, "etcdserver: duplicate key given in txn request"),
            (Code::ResourceExhausted, "grpc: received message larger than max (3 vs. 2)"),
            (Code::ResourceExhausted, "etcdserver: too many requests"),
            (Code::OutOfRange, "etcdserver: mvcc: required revision has been compacted"),
            (Code::OutOfRange, "etcdserver: mvcc: required revision is a future revision"),
            (Code::FailedPrecondition, "etcdserver: lease already exists"),
            (Code::NotFound, "etcdserver: requested lease not found"),
            (Code::PermissionDenied, "etcdserver: permission denied"),
            (Code::Unauthenticated, "etcdserver: invalid auth token"),
            (Code::Unavailable, "etcdserver: no leader"),
        ];
        for (code, message) in definite {
            assert!(!sorted(code, message).may_have_applied(), "{message}");
        }
        let open = [
            (Code::Unavailable, "etcdserver: request timed out"),
            (Code::Unavailable, "etcdserver: request timed out, possibly due to previous leader failure"),
            (Code::Unavailable, "etcdserver: leader changed"),
            (Code::Unavailable, "etcdserver: server stopped"),
            (Code::Unavailable, "error reading a body from connection"),
            (Code::Unknown, "transport error"),
            (Code::Unknown, "raft proposal dropped"),
            (Code::Cancelled, ""),
            (Code::DeadlineExceeded, "context deadline exceeded"),
            (Code::ResourceExhausted, "grpc: trying to send message larger than max (3 vs. 2)"),
            (Code::ResourceExhausted, "etcdserver: mvcc: database space exceeded"),
            (Code::OutOfRange, "Error, decoded message length too large: found 3 bytes"),
            (Code::Internal, "failed to decode Protobuf message"),
        ];
        for (code, message) in open {
            assert!(sorted(code, message).may_have_applied(), "{message}");
        }
    }

    #[test]
    fn an_error_names_the_member_the_cause_and_the_next_step() {
        let error = sorted(Code::Unavailable, "etcdserver: no leader").to_string();
        assert_eq!(
            error,
            "etcd at http://etcd:2379 cannot serve: etcdserver: no leader; check that a majority of the members runs \
             and is reachable"
        );
    }
}
