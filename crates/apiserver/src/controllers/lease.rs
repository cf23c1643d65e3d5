//! Leases of controllers, in the server's own store.

use std::time::Duration;

use reconcile::lease::{self, Keeper, Later};
use store::{Acquired, Fence};

use crate::api::Api;

/// A lease in the server's own store.
pub(super) struct StoreLease {
    pub(super) api: Api,
    pub(super) name: String,
    pub(super) holder: String,
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
