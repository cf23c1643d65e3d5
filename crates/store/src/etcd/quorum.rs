//! Current reads: makes sure that memory has seen all that any server was told is written.
//!
//! One read of a quorum serves everyone who asked before it was sent. It tells a revision; memory need only
//! reach it. When the revision belongs to keys that memory does not follow, the follower would wait for
//! nothing, so a mark of our own is written, which it is bound to see.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::layout::{one, put, txn};
use super::load::revision;
use super::shared::{Shared, failed, mark_value, random_id};
use crate::error::{Error, Result};

#[derive(Clone)]
pub(crate) struct Quorum {
    asks: mpsc::UnboundedSender<oneshot::Sender<Result<()>>>,
}

/// Events on their way arrive in this time; after it, a mark is written.
const GRACE: Duration = Duration::from_millis(3);

impl Quorum {
    /// Begins to read, in a task of its own.
    pub fn start(shared: Arc<Shared>) -> (Quorum, AbortHandle) {
        let (asks, queue) = mpsc::unbounded_channel();
        let task = tokio::spawn(serve(shared, queue)).abort_handle();
        (Quorum { asks }, task)
    }

    /// Returns once memory shows everything that was acknowledged before the call.
    pub async fn current(&self) -> Result<()> {
        let (done, wait) = oneshot::channel();
        self.asks.send(done).map_err(|_| Error::Closed)?;
        wait.await.map_err(|_| Error::Closed)?
    }
}

async fn serve(shared: Arc<Shared>, mut queue: mpsc::UnboundedReceiver<oneshot::Sender<Result<()>>>) {
    while let Some(first) = queue.recv().await {
        let mut waiting = vec![first];
        while let Ok(next) = queue.try_recv() {
            waiting.push(next);
        }
        let outcome = catch_up(&shared).await;
        for done in waiting {
            let _ = done.send(outcome.clone());
        }
    }
}

async fn catch_up(shared: &Shared) -> Result<()> {
    let request = super::client::wire::RangeRequest { keys_only: true, ..one(shared.layout.format()) };
    let newest = revision(&shared.client.range(request).await.map_err(failed)?);
    shared.reached_soon(newest).await
}

impl Shared {
    /// Waits until memory has reached this revision of etcd, and writes a mark if it would not by itself.
    pub async fn reached_soon(&self, newest: i64) -> Result<()> {
        if *self.applied.borrow() >= newest {
            return Ok(());
        }
        if tokio::time::timeout(GRACE, self.reached(newest)).await.is_ok_and(|reached| reached.is_ok()) {
            return Ok(());
        }
        let mark = put(self.layout.mark(&self.server), mark_value(&random_id()?, self.tick()));
        let marked = self.client.txn(txn(Vec::new(), vec![mark])).await.map_err(failed)?;
        self.reached(marked.header.map_or(newest, |header| header.revision)).await
    }
}
