//! What one of the servers on an etcd does for all of them from time to time.

use std::sync::Weak;
use std::time::{Duration, Instant};

use super::Etcd;
use super::client::wire::{RangeRequest, RequestOp, StatusResponse};
use super::layout::{delete, put, txn, under, written_at};
use super::shared::failed;
use crate::error::{Conflict, Result};
use crate::housekeeping::Tidied;
use crate::store::Store;
use crate::transaction::Fence;

/// The lease that says who does it.
const LEASE: &str = "store/upkeep";
const HOLD: Duration = Duration::from_secs(15);
/// etcd's quota where nobody sets another.
const USUAL_QUOTA: i64 = 2 << 30;
/// Bytes of history that stay in any case: shedding so little makes no room.
const LEAST_HISTORY: u64 = 64 << 20;
/// From this share of the quota on, history is shed.
const NEAR: (i64, i64) = (8, 10);

/// Does the upkeep while this server holds the lease for it, for as long as the store is there.
pub(crate) async fn keep_up(store: Weak<Etcd>, every: Duration) {
    let mut fence: Option<Fence> = None;
    let mut last = Instant::now();
    loop {
        tokio::time::sleep(every.min(Duration::from_secs(1))).await;
        let Some(store) = store.upgrade() else { return };
        if store.is_closed() {
            if let Some(fence) = &fence {
                let _ = store.release(fence).await;
            }
            return;
        }
        match round(&store, &mut fence, &mut last, every).await {
            Ok(()) => {}
            Err(crate::Error::Conflict(Conflict::LeaseLost(_))) => fence = None,
            Err(error) => tracing::warn!(%error, "upkeep was not done"),
        }
    }
}

async fn round(store: &Etcd, fence: &mut Option<Fence>, last: &mut Instant, every: Duration) -> Result<()> {
    let held = match fence.as_ref() {
        Some(held) => store.renew(held).await?,
        None => false,
    };
    if !held {
        let holder = crate::hex::encode(&store.shared.server);
        *fence = store.acquire(LEASE, &holder, HOLD).await?.fence();
    }
    let Some(fence) = fence.as_ref() else { return Ok(()) };
    let erased: &dyn Store = store;
    erased.expire(Some(fence)).await?;
    if last.elapsed() >= every {
        *last = Instant::now();
        store.shed_if_near_quota().await?;
        let done: Tidied = erased.tidy(Some(fence)).await?;
        tracing::debug!(?done, "upkeep");
        store.compact_window(fence).await?;
        store.clear_buckets(fence).await?;
    }
    Ok(())
}

/// How many bytes of history may stay, when etcd's quota is nearly used up; `None` when it is not, or when it is not known.
///
/// Other applications may use the same etcd: what they take is not made room for by letting go of the last of our history.
fn most_history(status: &StatusResponse, said: Option<i64>, ours: u64) -> Option<u64> {
    let told = Some(status.db_size_quota).filter(|quota| *quota > 0);
    // More than the default is in use: then it is not the default that counts.
    let usual = Some(USUAL_QUOTA).filter(|usual| status.db_size <= *usual);
    let quota = said.or(told).or(usual)?;
    let is_near = status.db_size_in_use.saturating_mul(NEAR.1) > quota.saturating_mul(NEAR.0);
    is_near.then(|| (ours / 10 * 8).max(LEAST_HISTORY))
}

impl Etcd {
    /// Lets etcd forget what no server's window can still hold.
    async fn compact_window(&self, fence: &Fence) -> Result<()> {
        let floor = self.parts().memory.load().recent.floor();
        let number = self.shared.etcd_revision(floor);
        if number > *self.shared.applied.borrow() || number <= 1 {
            return Ok(());
        }
        // Still ours? Compaction itself takes no guard.
        if self.renew(fence).await? {
            match self.shared.client.compact(number, false).await {
                Ok(_) | Err(super::client::Error::Compacted { .. }) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    /// Drops the keys of buckets that nothing is in any more, a few at a time.
    async fn clear_buckets(&self, fence: &Fence) -> Result<()> {
        let floor = self.shared.etcd_revision(self.parts().memory.load().recent.floor());
        let prefix = self.shared.layout.buckets();
        let request =
            RangeRequest { keys_only: true, max_mod_revision: floor, limit: 5_000, ..under(prefix.clone()) };
        let found = self.shared.client.range(request).await.map_err(failed)?;
        let now = self.latest();
        let empty = found.kvs.iter().filter(|kv| now.having(&kv.key.slice(prefix.len()..)).next().is_none());
        let empty: Vec<_> = empty.collect();
        for some in empty.chunks((self.max_operations - 2).min(60)) {
            let taken = self.shared.etcd_revision(fence.taken.revision());
            let mut compare = vec![written_at(self.shared.layout.lease(&fence.name), taken)];
            compare.extend(some.iter().map(|kv| written_at(kv.key.clone(), kv.mod_revision)));
            let mut drop: Vec<RequestOp> = some.iter().map(|kv| delete(kv.key.clone())).collect();
            // Whoever read a bucket before this must not take its absence for "never touched".
            drop.push(put(self.shared.layout.cleared(), bytes::Bytes::new()));
            self.shared.client.txn(txn(compare, drop)).await.map_err(failed)?;
        }
        Ok(())
    }

    async fn shed_if_near_quota(&self) -> Result<()> {
        // Any member will do, and one that is down must not keep the rest from being looked after.
        let mut answer = None;
        for member in 0..self.members {
            answer = self.shared.client.status(member).await.ok();
            if answer.is_some() {
                break;
            }
        }
        let Some(status) = answer else { return Ok(()) };
        let ours = self.parts().archive.bytes().await?;
        let most = match most_history(&status, self.quota_bytes, ours) {
            None => self.history_bytes,
            Some(most) => {
                tracing::warn!(
                    in_use = status.db_size_in_use,
                    ours,
                    most,
                    "etcd's quota is nearly used up: letting go of the oldest history; raise --quota-backend-bytes of etcd to \
                     keep it"
                );
                most.min(self.history_bytes)
            }
        };
        self.parts().history_bytes.store(most, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: i64 = 1 << 30;

    fn status(db_size: i64, db_size_quota: i64) -> StatusResponse {
        StatusResponse { db_size, db_size_in_use: db_size, db_size_quota, ..StatusResponse::default() }
    }

    #[test]
    fn another_application_on_the_same_etcd_takes_no_history() {
        // 7 of 8 GiB are in use, nearly all by others. Before 3.6 etcd does not say that it has 8.
        assert_eq!(most_history(&status(3 * GIB, 0), None, 5 << 20), None);
        assert_eq!(most_history(&status(3 * GIB, 8 * GIB), None, 5 << 20), None);
        assert_eq!(most_history(&status(3 * GIB, 0), Some(8 * GIB), 5 << 20), None);
        // When it really is full, what is ours is not shed to the last bit.
        assert_eq!(most_history(&status(7 * GIB, 8 * GIB), None, 5 << 20), Some(LEAST_HISTORY));
        assert_eq!(most_history(&status(7 * GIB, 8 * GIB), None, 1 << 30), Some((1 << 30) / 10 * 8));
        assert_eq!(most_history(&status(2 * GIB - GIB / 10, 0), None, 1 << 30), Some((1 << 30) / 10 * 8));
        assert_eq!(most_history(&status(GIB, 0), None, 1 << 30), None);
        assert_eq!(most_history(&status(7 * GIB, 0), Some(8 * GIB), 1 << 30), Some((1 << 30) / 10 * 8));
    }
}
