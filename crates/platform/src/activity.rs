//! Who did what: sentences and queries over the store's history, its events and the audit log.
//!
//! Nothing here is stored but policies. An activity is worked out when somebody asks, from the record that the change itself
//! left in the store, so a new policy tells the past anew, and there is no second history that could differ.

pub mod answers;
mod asked;
mod audit_log;
mod compose;
mod events;
mod facets;
mod feed;
mod filter;
mod kinds;
mod ledger;
mod page;
mod policies;
mod policy;
mod preview;
mod query;
mod seek;
mod sentences;
pub mod shipping;
mod sight;
mod window;

pub use answers::Activities;
pub use sentences::shipped;

use krm::kind::Kind;

/// The group of activities.
pub const GROUP: &str = "activity.miloapis.com";
/// The version they are at.
pub const VERSION: &str = "v1alpha1";

/// The kinds of this group.
pub fn all() -> Vec<Kind> {
    kinds::all()
}

/// As objects of this group name it.
fn api_version() -> String {
    format!("{GROUP}/{VERSION}")
}
