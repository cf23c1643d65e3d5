//! Who may do what: roles of permissions, and the policies that bind them to people and resources.

use krm::kind::Kind;

/// The kinds of this group.
pub fn all() -> Vec<Kind> {
    Vec::new()
}
