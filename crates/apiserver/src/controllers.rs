//! Controllers: what keeps the content of the store as it should be.
//!
//! A controller is told of changes, puts the keys it cares about into a queue, and brings each to where it should be. With
//! several servers on one store, one at a time runs each controller; its writes land only while it holds the lease.

pub mod cluster_roles;
pub mod definitions;
pub mod elected;
pub mod garbage;
pub mod namespaces;
pub mod projects;
pub mod queue;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use krm::status::Status;
use store::{Entry, Key};
use tokio::task::JoinSet;

use crate::api::Api;
use crate::client::Client;
use queue::Queue;

/// How many keys of one controller are worked on at once.
const WORKERS: usize = 4;

/// So many objects are noticed in one go.
const TOGETHER: usize = 64;

/// What comes of working on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It is as it should be.
    Done,
    /// It is to be looked at again after a while.
    After(Duration),
}

/// Brings objects to where they should be.
pub trait Controller: Send + Sync + 'static {
    /// What it is called in leases, logs and metrics.
    const NAME: &'static str;

    /// Wants the keys that have to be worked on because an object is there, or has changed or gone.
    fn notice(&self, api: &Api, key: &Key, before: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>);

    /// Works on one key.
    fn work(&self, client: &Client, key: &Key) -> impl Future<Output = Result<Next, Status>> + Send;
}

/// Runs a controller until the store is closed.
pub async fn run<C: Controller>(controller: Arc<C>, client: Client) {
    let queue = Arc::new(Queue::default());
    let mut tasks = JoinSet::new();
    for _ in 0..WORKERS {
        let (controller, client, queue) = (controller.clone(), client.clone(), queue.clone());
        tasks.spawn(async move {
            while let Some(key) = queue.take().await {
                let well = match controller.work(&client, &key).await {
                    Ok(Next::Done) => true,
                    Ok(Next::After(pause)) => {
                        queue.add_after(key.clone(), pause);
                        true
                    }
                    Err(status) => {
                        tracing::debug!(controller = C::NAME, %key, %status, "reconcile failed; will retry");
                        false
                    }
                };
                queue.done(&key, well);
            }
        });
    }
    follow(&*controller, client.api(), &queue).await;
    queue.close();
    while tasks.join_next().await.is_some() {}
}

/// Tells the controller of everything that is there, and then of every change.
async fn follow<C: Controller>(controller: &C, api: &Api, queue: &Queue<Key>) {
    loop {
        let snapshot = match api.store().current().await {
            Ok(snapshot) => snapshot,
            Err(store::Error::Closed) => return,
            Err(error) => {
                tracing::warn!(controller = C::NAME, %error, "failed to read the store; will retry");
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        for (number, (key, entry)) in snapshot.list(b"").enumerate() {
            controller.notice(api, key, None, Some(entry), queue);
            give_way(number).await;
        }
        let Ok(mut watch) = api.store().watch(b"", snapshot.version()) else { continue };
        drop(snapshot);
        loop {
            match watch.next().await {
                Ok(events) => {
                    for (number, event) in events.iter().enumerate() {
                        let (before, after) = (event.before(), event.after());
                        controller.notice(api, event.key(), before.map(|e| &**e), after.map(|e| &**e), queue);
                        give_way(number).await;
                    }
                }
                Err(store::Error::Closed) => return,
                // It fell too far behind: everything is looked at again.
                Err(_) => break,
            }
        }
    }
}

/// Lets others have their turn now and then: the controller's own lease, which runs out while hundreds of thousands of objects
/// are looked at in one go, and with it all that was looked at.
async fn give_way(number: usize) {
    if number % TOGETHER == TOGETHER - 1 {
        tokio::task::yield_now().await;
    }
}
