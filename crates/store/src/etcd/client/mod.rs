//! A small client of etcd v3: the calls the store needs, failover between members, and errors that tell
//! whether a change may have been made.

mod call;
mod config;
mod error;
mod login;
mod members;
mod watch;
mod whole_revisions;

#[cfg(test)]
mod tests;

/// etcd's messages, generated from `proto/etcd.proto` by `proto/generate` (its Cargo.toml has the command).
#[allow(clippy::all, dead_code, missing_docs, reason = "generated")]
pub(crate) mod wire;

use std::{sync::Arc, time::Duration};

use tokio_stream::once;
use tonic::Status;

use self::{
    call::{Calls, Leader, Link, Repeat},
    wire::{
        CompactionRequest, CompactionResponse, LeaseGrantRequest, LeaseKeepAliveRequest, LeaseRevokeRequest,
        LeaseTimeToLiveRequest, RangeRequest, RangeResponse, StatusRequest, StatusResponse, TxnRequest,
        TxnResponse, WatchCreateRequest,
    },
};

pub use config::{Config, Login, Tls};
pub(crate) use error::Error;
pub(crate) use watch::Watcher;

/// Speaks to one cluster. Clones share connections, the login and the choice of the member.
#[derive(Clone)]
pub(crate) struct Client {
    calls: Arc<Calls>,
}

/// A lease as the cluster granted it: its time to live may be longer than asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) id: i64,
    pub(crate) ttl: Duration,
}

impl Client {
    /// Checks the configuration. Connections are opened by the calls that need them, so the cluster may be
    /// down. Has to be called within a Tokio runtime.
    pub(crate) fn new(config: Config) -> Result<Self, Error> {
        Ok(Self { calls: Arc::new(Calls::new(config)?) })
    }

    /// Whether the cluster can be used now: a member answers, lets us in, and knows a leader.
    pub(crate) async fn probe(&self) -> Result<(), Error> {
        let ask = |link: Link| {
            let request = link.request(StatusRequest {});
            async move { link.maintenance().status(request).await }
        };
        self.calls.call(Repeat::Freely, Leader::Required, ask).await.map(drop)
    }

    /// Reads keys. Asks another member when one fails.
    pub(crate) async fn range(&self, request: RangeRequest) -> Result<RangeResponse, Error> {
        // A serializable read is meant to be answered by a member on its own, cut off or not.
        let leader = if request.serializable { Leader::NotNeeded } else { Leader::Required };
        let ask = |link: Link| {
            let request = link.request(request.clone());
            async move { link.kv().range(request).await }
        };
        self.calls.call(Repeat::Freely, leader, ask).await
    }

    /// Compares and changes keys in one step. Never sent twice unless the first was surely not taken.
    pub(crate) async fn txn(&self, request: TxnRequest) -> Result<TxnResponse, Error> {
        let ask = |link: Link| {
            let request = link.request(request.clone());
            async move { link.kv().txn(request).await }
        };
        self.calls.call(Repeat::IfNotTaken, Leader::Required, ask).await
    }

    /// Forgets history before `revision`; with `physical` the answer comes when the member has dropped it
    /// from its file.
    pub(crate) async fn compact(&self, revision: i64, physical: bool) -> Result<CompactionResponse, Error> {
        let ask = |link: Link| {
            let request = link.request(CompactionRequest { revision, physical });
            async move { link.kv().compact(request).await }
        };
        self.calls.call(Repeat::IfNotTaken, Leader::Required, ask).await
    }

    /// A new lease that lives at least `ttl`, in whole seconds.
    pub(crate) async fn lease_grant(&self, ttl: Duration) -> Result<Lease, Error> {
        let seconds = i64::try_from(ttl.as_millis().div_ceil(1000)).unwrap_or(i64::MAX);
        let ask = |link: Link| {
            let request = link.request(LeaseGrantRequest { ttl: seconds, id: 0 });
            async move { link.lease().lease_grant(request).await }
        };
        let granted = self.calls.call(Repeat::IfNotTaken, Leader::Required, ask).await?;
        Ok(Lease { id: granted.id, ttl: seconds_left(granted.ttl).unwrap_or_default() })
    }

    /// Ends a lease and deletes the keys bound to it.
    pub(crate) async fn lease_revoke(&self, id: i64) -> Result<(), Error> {
        let ask = |link: Link| {
            let request = link.request(LeaseRevokeRequest { id });
            async move { link.lease().lease_revoke(request).await }
        };
        self.calls.call(Repeat::IfNotTaken, Leader::Required, ask).await.map(drop)
    }

    /// Lets a lease live for its whole time again and returns that time; none when the lease is no more.
    pub(crate) async fn lease_keep_alive_once(&self, id: i64) -> Result<Option<Duration>, Error> {
        let ask = |link: Link| {
            let request = link.request(once(LeaseKeepAliveRequest { id }));
            async move {
                let mut answers = link.lease().lease_keep_alive(request).await?.into_inner();
                let answer = answers.message().await?;
                answer
                    .map(tonic::Response::new)
                    .ok_or_else(|| Status::unavailable("the stream ended without an answer"))
            }
        };
        let answer = self.calls.call(Repeat::Freely, Leader::Required, ask).await?;
        Ok(seconds_left(answer.ttl))
    }

    /// How long a lease has left; none when it is no more.
    pub(crate) async fn lease_ttl(&self, id: i64) -> Result<Option<Duration>, Error> {
        let ask = |link: Link| {
            let request = link.request(LeaseTimeToLiveRequest { id, keys: false });
            async move { link.lease().lease_time_to_live(request).await }
        };
        let answer = self.calls.call(Repeat::Freely, Leader::Required, ask).await?;
        Ok(seconds_left(answer.ttl))
    }

    /// What one member, by its place in the configuration, says about itself.
    pub(crate) async fn status(&self, member: usize) -> Result<StatusResponse, Error> {
        let ask = |link: Link| {
            let request = link.request(StatusRequest {});
            async move { link.maintenance().status(request).await }
        };
        self.calls.call_member(member, Leader::NotNeeded, ask).await
    }

    /// Follows changes of a range. Returns when a member has accepted the watch; from then on it is bound to
    /// that member, and the caller starts another one from the revision after the last it saw when it ends.
    pub(crate) async fn watch(&self, start: WatchCreateRequest) -> Result<Watcher, Error> {
        Watcher::open(Arc::clone(&self.calls), start).await
    }
}

/// etcd says 0 or -1 of a lease that is no more.
fn seconds_left(ttl: i64) -> Option<Duration> {
    u64::try_from(ttl).ok().filter(|&seconds| seconds > 0).map(Duration::from_secs)
}
