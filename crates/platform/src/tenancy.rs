//! Organizations and projects: whose a control plane is.

use krm::kind::Kind;

/// The kinds of this group.
pub fn all() -> Vec<Kind> {
    Vec::new()
}
