//! What readers see: the newest state and the recent commits, published through one pointer that is never locked.

pub(crate) mod hub;
pub(crate) mod indexer;
pub(crate) mod recent;
pub(crate) mod state;
pub(crate) mod watch;

use std::sync::Arc;

use arc_swap::ArcSwap;

use self::hub::Hub;
use self::indexer::Indexer;
use self::recent::Recent;
use self::state::State;
use self::watch::Watch;
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use crate::version::{Revision, Version};

/// One consistent picture.
#[derive(Clone)]
pub(crate) struct Published {
    pub state: Arc<State>,
    pub recent: Recent,
}

/// The engine's memory. One writer publishes; any number read. Clones are the same memory.
#[derive(Clone)]
pub(crate) struct Memory {
    published: Arc<ArcSwap<Published>>,
    hub: Arc<Hub>,
    pub indexer: Indexer,
}

impl Memory {
    pub fn new(indexer: Indexer, state: State, recent: Recent) -> Memory {
        let published = Arc::new(ArcSwap::from_pointee(Published { state: Arc::new(state), recent }));
        let hub = Hub::start(published.clone());
        Memory { published, hub, indexer }
    }

    /// Replaces the picture and tells the watches, without waiting for any of them.
    pub fn publish(&self, published: Published) {
        self.published.store(Arc::new(published));
        self.hub.published();
    }

    pub fn load(&self) -> arc_swap::Guard<Arc<Published>> {
        self.published.load()
    }

    pub fn latest(&self) -> Snapshot {
        Snapshot::new(self.published.load().state.clone())
    }

    pub fn revision(&self) -> Revision {
        self.published.load().state.revision
    }

    /// The state right after `revision`, while the window holds it.
    pub fn at(&self, revision: Revision) -> Result<Snapshot> {
        let published = self.published.load();
        let now = published.state.revision;
        if revision > now {
            return Err(Error::Future { asked: revision, now });
        }
        match published.recent.state_at(&self.indexer, &published.state, revision) {
            Some(state) => Ok(Snapshot::new(state)),
            None => Err(Error::Gone { asked: revision, earliest: published.recent.floor() }),
        }
    }

    /// Every change of a key under `prefix` after `from`.
    pub fn watch(&self, prefix: &[u8], from: Version) -> Result<Watch> {
        Watch::start(self.hub.clone(), prefix, from)
    }

    pub fn watches(&self) -> usize {
        self.hub.watches()
    }

    /// Ends every watch.
    pub fn close(&self) {
        self.hub.close();
    }
}
