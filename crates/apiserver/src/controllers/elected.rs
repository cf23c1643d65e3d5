//! One server at a time: a controller that runs only while its lease is held.

use std::sync::Arc;
use std::time::Duration;

use reconcile::lease::{self, Keeper, Later, Terms};
use store::{Acquired, Fence};

use super::{Controller, run_until};
use crate::api::Api;
use crate::client::Client;

/// Runs a controller whenever this server holds its lease, until the server stops or the store is closed.
pub async fn run_elected<C: Controller>(controller: Arc<C>, client: Client, holder: String) {
    let controllers = client.api().controllers().clone();
    let Some(running) = controllers.begin(C::NAME) else { return };
    let name = format!("controller/{}", C::NAME);
    let keeper = StoreLease { api: client.api().clone(), name: name.clone(), holder };
    let (stop, running) = (controllers.stopping(), &running);
    lease::hold(&name, &keeper, Terms::default(), &stop, |fence, token| {
        let (controller, client) = (controller.clone(), client.fenced(fence));
        async move { run_until(controller, client, running, token).await }
    })
    .await;
}

/// A lease in the server's own store.
struct StoreLease {
    api: Api,
    name: String,
    holder: String,
}

impl Keeper for StoreLease {
    type Fence = Fence;
    type Error = store::Error;

    fn acquire(&self, lasts: Duration) -> Later<'_, Result<lease::Acquired<Fence>, store::Error>> {
        Box::pin(async move {
            Ok(match self.api.store().acquire(&self.name, &self.holder, lasts).await? {
                Acquired::Taken(fence) => lease::Acquired::Taken(fence),
                Acquired::HeldBy { for_at_most, .. } => lease::Acquired::HeldElsewhere(for_at_most),
            })
        })
    }

    fn renew<'a>(&'a self, fence: &'a Fence) -> Later<'a, Result<bool, store::Error>> {
        Box::pin(self.api.store().renew(fence))
    }

    fn release<'a>(&'a self, fence: &'a Fence) -> Later<'a, ()> {
        Box::pin(async move {
            if let Err(error) = self.api.store().release(fence).await {
                tracing::debug!(lease = self.name, %error, "not released; it ends by itself");
            }
        })
    }

    fn is_closed(&self, error: &store::Error) -> bool {
        matches!(error, store::Error::Closed)
    }
}
