//! Leases on etcd: a key bound to one of etcd's own, which deletes it when it runs out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use super::client::wire::{PutRequest, RequestOp, request_op::Request, response_op::Response};
use super::layout::{one, written_at};
use super::shared::{Shared, failed};
use crate::error::{Error, Result};
use crate::lease::Acquired;
use crate::transaction::Fence;
use crate::version::Version;

/// Which lease of etcd stands behind each fence of this server.
#[derive(Default)]
pub(crate) struct Leases {
    behind: Mutex<HashMap<(Arc<str>, Version), i64>>,
}

impl Leases {
    pub async fn acquire(
        &self,
        shared: &Shared,
        name: &str,
        holder: &str,
        time: Duration,
    ) -> Result<Acquired> {
        let granted = shared.client.lease_grant(time).await.map_err(failed)?;
        let outcome = self.take(shared, name, holder, granted.id).await;
        if !matches!(outcome, Ok(Acquired::Taken(_)))
            && let Err(error) = shared.client.lease_revoke(granted.id).await
        {
            tracing::debug!(%error, "a lease of etcd that was not needed runs out by itself");
        }
        outcome
    }

    async fn take(&self, shared: &Shared, name: &str, holder: &str, id: i64) -> Result<Acquired> {
        let key = shared.layout.lease(name);
        let mut expected = 0;
        // Twice: the second time over what is ours already.
        for _ in 0..2 {
            let put =
                PutRequest { key: key.clone(), value: Bytes::copy_from_slice(holder.as_bytes()), lease: id };
            let put = RequestOp { request: Some(Request::RequestPut(put)) };
            let look = RequestOp { request: Some(Request::RequestRange(one(key.clone()))) };
            let request = super::client::wire::TxnRequest {
                compare: vec![written_at(key.clone(), expected)],
                success: vec![put],
                failure: vec![look],
            };
            let response =
                shared.client.txn(request).await.map_err(|error| match error.may_have_applied() {
                    // If it was taken after all, it runs out by itself: nobody has the fence.
                    true => Error::Unavailable(error.to_string()),
                    false => failed(error),
                })?;
            let number = response.header.as_ref().map_or(0, |header| header.revision);
            if response.succeeded {
                let taken = Version::of(shared.revision(number), 0);
                let fence = Fence { name: name.into(), taken };
                self.locked().insert((fence.name.clone(), taken), id);
                return Ok(Acquired::Taken(fence));
            }
            let found = response.responses.into_iter().find_map(|answer| match answer.response {
                Some(Response::ResponseRange(range)) => range.kvs.into_iter().next(),
                _ => None,
            });
            let Some(found) = found else { continue };
            if found.value != holder.as_bytes() {
                let left = shared.client.lease_ttl(found.lease).await.map_err(failed)?;
                let holder = String::from_utf8_lossy(&found.value).into();
                return Ok(Acquired::HeldBy { holder, for_at_most: left.unwrap_or_default() });
            }
            expected = found.mod_revision;
        }
        Err(Error::Unavailable(format!("the lease {name} changes hands too fast")))
    }

    pub async fn renew(&self, shared: &Shared, fence: &Fence) -> Result<bool> {
        let Some(id) = self.behind(fence) else { return Ok(false) };
        let alive = shared.client.lease_keep_alive_once(id).await.map_err(failed)?.is_some();
        if !alive {
            self.forget(fence);
        }
        Ok(alive)
    }

    pub async fn release(&self, shared: &Shared, fence: &Fence) -> Result<bool> {
        let Some(id) = self.behind(fence) else { return Ok(false) };
        let alive = shared.client.lease_ttl(id).await.map_err(failed)?.is_some();
        if alive {
            shared.client.lease_revoke(id).await.map_err(failed)?;
        }
        self.forget(fence);
        Ok(alive)
    }

    fn behind(&self, fence: &Fence) -> Option<i64> {
        self.locked().get(&(fence.name.clone(), fence.taken)).copied()
    }

    fn forget(&self, fence: &Fence) {
        self.locked().remove(&(fence.name.clone(), fence.taken));
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<(Arc<str>, Version), i64>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
