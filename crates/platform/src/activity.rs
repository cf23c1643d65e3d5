//! Who did what: sentences and queries over the store's history and the audit.

use krm::kind::Kind;

/// The kinds of this group.
pub fn all() -> Vec<Kind> {
    Vec::new()
}
