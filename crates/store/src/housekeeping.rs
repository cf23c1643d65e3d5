//! What a store does by itself from time to time.

use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::error::{Conflict, Error, Result};
use crate::history::archive::{Later, Mark};
use crate::history::checkpoint;
use crate::history::retention::Keeper;
use crate::key::Key;
use crate::model::{Model, Plain};
use crate::store::Store;
use crate::transaction::{Author, Fence, Guard, Transaction};
use crate::version::Version;

/// How often, and within what bounds.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Between two rounds.
    pub every: Duration,
    /// The records of history take this many bytes at most: beyond that the oldest go, whatever their age.
    pub history_bytes: u64,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { every: Duration::from_secs(10), history_bytes: 8 << 30 }
    }
}

/// What one round did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Objects whose time had run out.
    pub expired: usize,
    /// Records that history let go of.
    pub pruned: usize,
    /// Checkpoints written.
    pub checkpoints: usize,
}

/// Objects deleted in one transaction when their time has run out.
const EXPIRE: usize = 32;

impl dyn Store {
    /// Does now what is otherwise done from time to time: expired objects go, history is thinned out by its
    /// rules, and a checkpoint covers what is new. With a fence it stops as soon as the lease is lost.
    pub fn tidy<'a>(&'a self, fence: Option<&'a Fence>) -> Later<'a, Tidied> {
        Box::pin(async move {
            let expired = self.expire(fence).await?;
            let parts = self.parts();
            let _alone = parts.maintenance.lock().await;
            let model = parts.memory.indexer.model().map_or(&Plain as &dyn Model, |model| &**model);
            let keeper = Keeper { archive: &*parts.archive, signing: &parts.signing, fence, model };
            let floor = parts.memory.load().recent.floor();
            let settled = keeper.settle(floor).await?;
            let clock = &parts.environment.clock;
            // By a clock that has jumped nothing is old.
            let now = if clock.is_settled() && !parts.is_waiting() { clock.now() } else { 0 };
            let aged = keeper.age(now, parts.history_bytes.load(Ordering::Relaxed)).await?;
            let to = Mark { version: self.latest().version(), time: clock.now() };
            let checkpoints = checkpoint::write(&*parts.archive, &parts.signing, to, fence).await?;
            Ok(Tidied { expired, pruned: settled.records + aged.records, checkpoints })
        })
    }

    /// Deletes the objects whose time has run out.
    pub async fn expire(&self, fence: Option<&Fence>) -> Result<usize> {
        let mut expired = 0;
        loop {
            let snapshot = self.latest();
            let now = self.environment().clock.now() / 1000;
            let due: Vec<(Key, Version)> = snapshot
                .state()
                .expiries
                .iter()
                .take_while(|(time, _)| *time <= now)
                .take(EXPIRE)
                .filter_map(|(_, key)| Some((key.clone(), snapshot.get(key)?.version)))
                .collect();
            if due.is_empty() {
                return Ok(expired);
            }
            let mut transaction = Transaction::by(Author::new("system:expiry", "store"));
            transaction.guards.extend(fence.map(Fence::guard));
            for (key, version) in &due {
                transaction =
                    transaction.guard(Guard::At { key: key.clone(), version: *version }).delete(key.clone());
            }
            match self.commit(transaction).await {
                Ok(_) => expired += due.len(),
                Err(Error::Conflict(Conflict::LeaseLost(name))) => {
                    return Err(Conflict::LeaseLost(name).into());
                }
                // One of them was written meanwhile, perhaps to live longer: the next round looks again.
                Err(error) if error.is_conflict() => return Ok(expired),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Tidies up for as long as the store is there.
pub(crate) async fn keep_house(store: Weak<dyn Store>, every: Duration) {
    let mut due = tokio::time::interval(every.min(Duration::from_secs(1)));
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut last = tokio::time::Instant::now();
    loop {
        due.tick().await;
        let Some(store) = store.upgrade() else { return };
        let done = if last.elapsed() >= every {
            last = tokio::time::Instant::now();
            store.tidy(None).await.map(|_| ())
        } else {
            store.expire(None).await.map(|_| ())
        };
        match done {
            Ok(()) => {}
            // Nothing will be written any more.
            Err(crate::Error::Closed | crate::Error::ReadOnly(_)) => return,
            Err(error) => tracing::warn!(%error, "housekeeping was not done"),
        }
    }
}
