//! Controllers: control loops that bring objects to their desired state.
//!
//! A controller is shown every change, adds the keys that it has to look at to a queue, and brings each to where it should
//! be. With several servers on one store, one at a time runs each controller; its writes land only while it holds the
//! lease. The runtime (queue, workers, deadlines, back-off, leases) is the crate `reconcile`.

pub mod cluster_roles;
pub mod definitions;
pub mod elected;
pub mod garbage;
mod metrics;
pub mod namespaces;
pub mod projects;
pub mod running;

/// The work queue of a controller.
pub mod queue {
    pub use reconcile::queue::Queue;
}

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use krm::status::Status;
use reconcile::backoff::{Backoff, system_randomness};
pub use reconcile::workers::Next;
use reconcile::workers::{self, Attempt, Failure, Settings};
use store::{Entry, Key};
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::client::Client;
use crate::keys;
use queue::Queue;
use running::Running;

/// How long a controller is shown objects in one go.
const AT_A_STRETCH: Duration = Duration::from_millis(2);

/// Brings objects to where they should be.
pub trait Controller: Send + Sync + 'static {
    /// Name in leases, logs and metrics.
    const NAME: &'static str;

    /// Adds the keys that have to be looked at because an object is there, or has changed or gone.
    fn map(&self, api: &Api, key: &Key, before: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>);

    /// Works on one key.
    fn reconcile(&self, client: &Client, key: &Key) -> impl Future<Output = Result<Next, Status>> + Send;

    /// Number of workers and deadline.
    fn settings(&self) -> Settings {
        Settings::new(Self::NAME)
    }
}

/// Runs a controller until the server stops or the store is closed.
pub async fn run<C: Controller>(controller: Arc<C>, client: Client) {
    let controllers = client.api().controllers().clone();
    let Some(running) = controllers.begin(C::NAME) else { return };
    run_until(controller, client, &running, controllers.stopping()).await;
}

/// Runs a controller until the token is cancelled or the store is closed. When it returns, nothing of it runs any more.
async fn run_until<C: Controller>(
    controller: Arc<C>,
    client: Client,
    running: &Running,
    stop: CancellationToken,
) {
    let queue = Arc::new(Queue::new(lane, Backoff::with_jitter(system_randomness())));
    running.begun(&queue);
    let attempt: Attempt<Key> = {
        let (controller, client) = (controller.clone(), client.clone());
        Arc::new(move |key| {
            let (controller, client) = (controller.clone(), client.clone());
            Box::pin(async move {
                let worked = controller.reconcile(&client, &key).await;
                worked.map_err(|status| Failure(status.to_string()))
            })
        })
    };
    let settings = controller.settings();
    let working = workers::run(queue.clone(), settings, attempt, running.stats().clone(), stop.clone());
    let following = async {
        tokio::select! {
            () = follow(&*controller, client.api(), &queue) => {}
            () = stop.cancelled() => {}
        }
        queue.close();
    };
    tokio::join!(working, following);
    running.ended();
}

/// Planes take turns, so that a busy one does not hold up the others.
fn lane(key: &Key) -> &str {
    keys::parts(key).map_or("", |parts| parts.plane)
}

/// Shows the controller everything that is there, and then every change.
async fn follow<C: Controller>(controller: &C, api: &Api, queue: &Queue<Key>) {
    loop {
        let snapshot = match api.store().current().await {
            Ok(snapshot) => snapshot,
            Err(store::Error::Closed) => return,
            Err(error) => {
                tracing::warn!(controller = C::NAME, %error, "waiting for the store");
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        let mut stretch = Stretch::begin();
        for (key, entry) in snapshot.list(b"") {
            controller.map(api, key, None, Some(entry), queue);
            stretch.give_way().await;
        }
        let Ok(mut watch) = api.store().watch(b"", snapshot.version()) else { continue };
        drop(snapshot);
        loop {
            match watch.next().await {
                Ok(events) => {
                    let mut stretch = Stretch::begin();
                    for event in events.iter() {
                        let (before, after) = (event.before(), event.after());
                        controller.map(api, event.key(), before.map(|e| &**e), after.map(|e| &**e), queue);
                        stretch.give_way().await;
                    }
                }
                Err(store::Error::Closed) => return,
                // It fell too far behind: everything is looked at again.
                Err(_) => break,
            }
        }
    }
}

/// Work that lets other tasks run now and then: the renewal of the controller's own lease among them, which would
/// otherwise end while hundreds of thousands of objects are looked at in one go.
struct Stretch(Instant);

impl Stretch {
    fn begin() -> Stretch {
        Stretch(Instant::now())
    }

    async fn give_way(&mut self) {
        if self.0.elapsed() > AT_A_STRETCH {
            tokio::task::yield_now().await;
            self.0 = Instant::now();
        }
    }
}
