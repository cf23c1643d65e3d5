//! Leases of the embedded engine. The committer alone decides them, so a guard on one is exact.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::transaction::Fence;
use crate::version::Version;

/// Who holds what, until when. Times are of the monotonic clock: nothing runs out because a clock was set.
#[derive(Default, Clone)]
pub(crate) struct Leases {
    held: HashMap<Arc<str>, Held>,
}

#[derive(Clone)]
struct Held {
    kept: KeptLease,
    until: Instant,
}

/// A lease as it is kept on disk.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct KeptLease {
    pub holder: Arc<str>,
    pub taken: Version,
    pub milliseconds: u64,
}

impl Leases {
    /// A lease found on disk: its holder gets the full time again, for it can't have renewed meanwhile.
    pub fn found(&mut self, name: Arc<str>, kept: KeptLease, now: Instant) {
        let until = now + Duration::from_millis(kept.milliseconds);
        self.held.insert(name, Held { kept, until });
    }

    /// Who holds the lease now, and for how long still.
    pub fn holder(&self, name: &str, now: Instant) -> Option<(Arc<str>, Duration)> {
        let held = self.held.get(name).filter(|held| held.until > now)?;
        Some((held.kept.holder.clone(), held.until - now))
    }

    pub fn take(&mut self, name: Arc<str>, kept: KeptLease, now: Instant) -> Fence {
        let fence = Fence { name: name.clone(), taken: kept.taken };
        self.found(name, kept, now);
        fence
    }

    pub fn is_held(&self, fence: &Fence, now: Instant) -> bool {
        self.held.get(&fence.name).is_some_and(|held| held.kept.taken == fence.taken && held.until > now)
    }

    pub fn renew(&mut self, fence: &Fence, now: Instant) -> bool {
        if !self.is_held(fence, now) {
            return false;
        }
        if let Some(held) = self.held.get_mut(&fence.name) {
            held.until = now + Duration::from_millis(held.kept.milliseconds);
        }
        true
    }

    /// Ends a lease before its time, for a simulation.
    pub fn lose(&mut self, name: &str) {
        self.held.remove(name);
    }

    pub fn release(&mut self, fence: &Fence) -> bool {
        let mine = self.held.get(&fence.name).is_some_and(|held| held.kept.taken == fence.taken);
        if mine {
            self.held.remove(&fence.name);
        }
        mine
    }
}
