//! What readers see: the newest state and the recent commits, published through one pointer that is never locked.

mod holds;
pub(crate) mod hub;
pub(crate) mod indexer;
mod older;
pub(crate) mod overflow;
pub(crate) mod posting;
pub(crate) mod recent;
pub(crate) mod state;
pub(crate) mod watch;

use std::sync::Arc;

use arc_swap::ArcSwap;

pub(crate) use self::holds::HoldId;
use self::hub::Hub;
use self::indexer::Indexer;
use self::older::Older;
use self::overflow::Overflow;
use self::recent::{Recent, Window};
use self::state::State;
use self::watch::Watch;
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;
use crate::version::{Revision, Version};

/// Who does what is not done by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Threads of the engine's own.
    Own,
    /// The caller does everything: a simulation runs on one thread.
    None,
}

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
    older: Arc<Older>,
    pub indexer: Indexer,
}

impl Memory {
    pub fn new(indexer: Indexer, state: State, recent: Recent, overflow: Overflow) -> Memory {
        let published = Arc::new(ArcSwap::from_pointee(Published { state: Arc::new(state), recent }));
        let hub = Hub::start(published.clone(), overflow, indexer.threads());
        Memory { published, hub, older: Arc::default(), indexer }
    }

    /// Replaces the picture and tells the watches, without waiting for any of them.
    pub fn publish(&self, published: Published) {
        self.published.store(Arc::new(published));
        self.hub.published();
    }

    /// Lets go of what the window has no room for. What is not too old is kept on disk, before anybody is told that
    /// memory does not have it.
    pub fn trim(&self, recent: &mut Recent, window: &Window, now: u64) {
        let floor = recent.floor();
        let dropped = recent.trim(window, now);
        if !dropped.is_empty() {
            self.hub.overflow().take(floor, &dropped, window.oldest(now));
        }
    }

    /// Lets go of the recent commits through `revision`, on disk too.
    pub fn drop_through(&self, recent: &mut Recent, revision: Revision) {
        self.hub.overflow().clear();
        recent.drop_through(revision);
    }

    /// Lets go of the commits on disk: those that are in memory from now on do not follow them.
    pub fn forget_overflow(&self) {
        self.hub.overflow().clear();
    }

    /// An error once the thread that feeds the watches has failed.
    pub fn alive(&self) -> Result<()> {
        self.hub.alive()
    }

    /// Lets go of older states, whose objects were found by other terms.
    pub fn forget_older(&self) {
        self.older.forget();
    }

    /// Whether the other is the same memory.
    pub fn is(&self, other: &Memory) -> bool {
        Arc::ptr_eq(&self.published, &other.published)
    }

    pub fn load(&self) -> arc_swap::Guard<Arc<Published>> {
        self.published.load()
    }

    pub fn latest(&self) -> Snapshot {
        let published = self.published.load();
        let held = self.hub.holds().shown(&published, &self.indexer);
        Snapshot::new(held.unwrap_or_else(|| published.state.clone()))
    }

    /// Everything up to the last commit, whatever is held back.
    pub fn newest(&self) -> Snapshot {
        Snapshot::new(self.published.load().state.clone())
    }

    /// Shows nothing new under `prefix` to watches, and to readers of what is at hand, until it is let go of. For a
    /// simulation.
    pub fn hold(&self, prefix: &[u8]) -> HoldId {
        self.hub.holds().add(prefix, self.revision())
    }

    /// Lets go of what was held back.
    pub fn let_go(&self, hold: HoldId) {
        if let Some(prefix) = self.hub.holds().remove(hold) {
            self.hub.wake(&prefix);
        }
    }

    /// Whoever reads what is at hand sees everything up to `revision`, since this server has acknowledged it.
    pub fn acknowledged(&self, revision: Revision) {
        self.hub.holds().raise(revision);
    }

    /// Ends the watches that may see keys under `prefix`, as if they had fallen behind. For a simulation.
    pub fn cut(&self, prefix: &[u8]) {
        self.hub.cut(prefix);
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
        let floor = published.recent.floor();
        if revision < floor {
            return Err(Error::Gone { asked: revision, earliest: floor });
        }
        if revision == now {
            return Ok(Snapshot::new(published.state.clone()));
        }
        Ok(Snapshot::new(self.older.get(&published, &self.indexer, revision)))
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
