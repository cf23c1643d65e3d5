//! Leases: one holder at a time, and proof of it that a transaction can carry.

use std::sync::Arc;
use std::time::Duration;

use crate::transaction::{Fence, Guard};
use crate::version::Version;

/// What came of asking for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acquired {
    /// It is held from now on. Renew it in time; guard every write with it.
    Taken(Fence),
    /// Somebody else has it.
    HeldBy {
        /// Who.
        holder: Arc<str>,
        /// It is free after this time, unless it is renewed.
        for_at_most: Duration,
    },
}

impl Acquired {
    /// The fence, if the lease was taken.
    pub fn fence(self) -> Option<Fence> {
        match self {
            Acquired::Taken(fence) => Some(fence),
            Acquired::HeldBy { .. } => None,
        }
    }
}

impl Fence {
    /// The guard that lets a write land only while the lease is still held: after it ran out, or was taken
    /// over, the write is refused, however long its sender slept.
    pub fn guard(&self) -> Guard {
        Guard::Lease(self.clone())
    }

    /// The name of the lease.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of the taking that it proves: no other taking of the lease has it.
    pub fn number(&self) -> u64 {
        self.taken.get()
    }

    /// The fence of a lease as another process names it. It proves something only if the lease was taken so.
    pub fn numbered(name: &str, number: u64) -> Fence {
        Fence { name: name.into(), taken: Version::new(number) }
    }
}
