//! Counters of what a controller writes.

use std::sync::atomic::{AtomicU64, Ordering};

/// Writes of one controller since the start of the process.
#[derive(Debug, Default)]
pub struct Writes {
    commits: AtomicU64,
    specs: AtomicU64,
    statuses: AtomicU64,
    events: AtomicU64,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteCounts {
    /// Commits.
    pub commits: u64,
    /// Objects that were created, changed or deleted.
    pub specs: u64,
    /// Statuses.
    pub statuses: u64,
    /// Events.
    pub events: u64,
}

/// What a write changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// An object, or all of it but its status.
    Spec,
    /// The status of an object.
    Status,
    /// An Event.
    Event,
}

impl Writes {
    /// Counts a commit with these parts.
    pub fn committed(&self, parts: impl Iterator<Item = Part>) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        for part in parts {
            let count = match part {
                Part::Spec => &self.specs,
                Part::Status => &self.statuses,
                Part::Event => &self.events,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counts now.
    pub fn read(&self) -> WriteCounts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        WriteCounts {
            commits: of(&self.commits),
            specs: of(&self.specs),
            statuses: of(&self.statuses),
            events: of(&self.events),
        }
    }
}
