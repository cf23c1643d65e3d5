//! Activity: summaries of who did what, and queries over the store's history, events and the audit log.
//!
//! Only policies are stored. An activity is computed when it is requested, from the record that the change
//! itself left in the store. A new policy therefore applies to past changes too, and there is no second
//! history that could differ.

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

/// API group of these kinds.
pub const GROUP: &str = "activity.miloapis.com";
/// API version of these kinds.
pub const VERSION: &str = "v1alpha1";

/// The kinds of this group.
pub fn all() -> Vec<Kind> {
    kinds::all()
}

/// As objects of this group name it.
fn api_version() -> String {
    format!("{GROUP}/{VERSION}")
}
