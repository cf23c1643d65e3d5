//! The user of a request.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

/// The user name of unauthenticated requests.
pub const ANONYMOUS: &str = "system:anonymous";
/// The group of those whose identity was proved.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of those who gave no proof.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The group whose members are allowed everything, regardless of roles.
pub const MASTERS: &str = "system:masters";

/// A user, as authentication found it or as somebody else's stand-in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// The user's name.
    pub user: Arc<str>,
    /// What tells this user from an earlier one of the same name; may be empty.
    pub uid: Arc<str>,
    /// The groups the user is in.
    pub groups: Vec<Arc<str>>,
    /// What else is known, by key.
    pub extra: BTreeMap<String, Vec<String>>,
    /// The role of a controller of this server, compiled in. It holds in every plane, and nothing else is granted to its
    /// holder. Authentication never sets it, so that no request can have it.
    pub compiled_role: Option<Arc<[reconcile::role::Rule]>>,
    /// When the certificate or token that proved it is no longer accepted. What goes on then is ended.
    pub expires: Option<SystemTime>,
}

impl Identity {
    /// A user in groups.
    pub fn new(user: &str, groups: &[&str]) -> Identity {
        Identity {
            user: user.into(),
            groups: groups.iter().map(|group| Arc::from(*group)).collect(),
            ..Identity::default()
        }
    }

    /// A controller of this server, which may do what its role says and nothing else.
    pub fn controller(user: &str, role: Vec<reconcile::role::Rule>) -> Identity {
        Identity { compiled_role: Some(role.into()), ..Identity::new(user, &[AUTHENTICATED]) }
    }

    /// Nobody in particular.
    pub fn anonymous() -> Identity {
        Identity::new(ANONYMOUS, &[UNAUTHENTICATED])
    }

    /// Whether the user is in the group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|found| &**found == group)
    }

    /// Whether nothing was proved.
    pub fn is_anonymous(&self) -> bool {
        &*self.user == ANONYMOUS
    }
}
