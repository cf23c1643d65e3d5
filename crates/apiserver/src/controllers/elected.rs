//! Leader election: a controller runs only while this server holds its lease.

use std::sync::Arc;
use std::time::Duration;

use store::{Acquired, Fence};

use super::{Controller, run};
use crate::client::Client;

/// How long a lease lasts when it is not renewed.
const LASTS: Duration = Duration::from_secs(6);
/// How often it is renewed, and how often others ask for it.
const ROUND: Duration = Duration::from_secs(2);

/// Runs a controller whenever this server holds its lease, until the store is closed.
pub async fn run_elected<C: Controller>(controller: Arc<C>, client: Client, holder: String) {
    let name = format!("controller/{}", C::NAME);
    loop {
        match client.api().store().acquire(&name, &holder, LASTS).await {
            Ok(Acquired::Taken(fence)) => {
                tracing::debug!(controller = C::NAME, "became leader");
                tokio::select! {
                    () = run(controller.clone(), client.fenced(fence.clone())) => {
                        let _ = client.api().store().release(&fence).await;
                        return;
                    }
                    () = lost(&client, &fence) => tracing::warn!(controller = C::NAME, "lost leadership; another server runs the controller"),
                }
            }
            Ok(Acquired::HeldBy { for_at_most, .. }) => {
                tokio::time::sleep(for_at_most.min(ROUND)).await;
            }
            Err(store::Error::Closed) => return,
            Err(error) => {
                tracing::warn!(controller = C::NAME, %error, "failed to acquire the leader lease; will retry");
                tokio::time::sleep(ROUND).await;
            }
        }
    }
}

/// Renews a lease; ends when it is lost.
async fn lost(client: &Client, fence: &Fence) {
    loop {
        tokio::time::sleep(ROUND).await;
        match client.api().store().renew(fence).await {
            Ok(true) | Err(store::Error::Closed) => {}
            Ok(false) => return,
            // Whether it is still held is not known: the guard on every write decides.
            Err(error) => tracing::warn!(%error, "failed to renew a leader lease; will retry"),
        }
    }
}
