//! The kinds of Kubernetes' own that are served, one file each.

use krm::kind::Kind;

/// All of them.
pub fn all() -> Vec<Kind> {
    Vec::new()
}
