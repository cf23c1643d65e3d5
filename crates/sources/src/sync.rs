//! What a list of a source changes: a pure function of what the source says, what is stored and the time.
//!
//! A list that would lose, rename or re-class too many hosts, or that contradicts itself, is not believed: then nothing is
//! written. A host is only ever written by the source that owns it.

mod belief;
mod fields;
mod listing;
mod plan;
mod stored;

pub use belief::Doubt;
pub use fields::{FIELDS, Field};
pub use listing::Listing;
pub use plan::{Memory, Plan, Planner, Update, Write, plan};
pub use stored::Stored;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kinds::source::{InventoryMode, MissingPolicy, SourceSpec};

/// What a Source says about how its hosts are written.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Name of the Source.
    pub source: String,
    /// HostClasses of classes of the system.
    pub classes: BTreeMap<String, String>,
    /// What becomes of missing hosts.
    pub missing: MissingPolicy,
    /// How long a host is missing before it is deleted.
    pub delete_after: Duration,
    /// Share of hosts that may change at once, in percent.
    pub max_change_percent: u64,
    /// Fields that are set on hosts of other sources.
    pub enriches: Vec<String>,
    /// Digest of doubts that an operator confirmed.
    pub confirmed: Option<String>,
    /// Whether hosts are joined to the inventory.
    pub joins_inventory: bool,
}

impl Policy {
    /// The policy of a Source.
    pub fn of(source: &str, spec: &SourceSpec) -> Policy {
        Policy {
            source: source.to_owned(),
            classes: spec.classes.clone(),
            missing: spec.missing.unwrap_or(MissingPolicy::Mark),
            delete_after: spec.delete_after(),
            max_change_percent: spec
                .max_change_percent
                .and_then(|most| u64::try_from(most).ok())
                .unwrap_or(20),
            enriches: spec.enriches.clone(),
            confirmed: spec.confirmed.clone(),
            joins_inventory: spec.inventory != Some(InventoryMode::Off),
        }
    }

    /// The name of the HostClass for a class of the system; empty for none.
    pub fn class_of(&self, native: &str) -> String {
        match self.classes.get(native) {
            Some(class) => class.clone(),
            None if native.is_empty() => String::new(),
            None => fulfillment::identity::name_of(native),
        }
    }

    /// How many of so many hosts may change at once.
    pub fn limit(&self, hosts: usize) -> usize {
        let share = hosts as u64 * self.max_change_percent / 100;
        usize::try_from(share).unwrap_or(usize::MAX).max(2)
    }
}
