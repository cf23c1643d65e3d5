//! Whose requests come first when there is not room for all.

use crate::authn::service_account_of;
use crate::identity::{Identity, MASTERS};

/// The namespace of the system's own service accounts.
const SYSTEM_NAMESPACE: &str = "kube-system";

/// Whose a request is, as far as limits go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// Without credentials.
    Anonymous,
    /// Somebody's.
    User,
    /// An administrator's, or of a part of the system that others depend on.
    System,
}

impl Rank {
    /// The rank of a user in the root. A project's administrators are users like all others: what a project calls the system
    /// is its own.
    pub fn of(who: &Identity, is_in_root: bool) -> Rank {
        if who.is_anonymous() {
            return Rank::Anonymous;
        }
        let of_system = |(namespace, _): (&str, &str)| is_in_root && namespace == SYSTEM_NAMESPACE;
        match who.is_in(MASTERS) || service_account_of(&who.user).is_some_and(of_system) {
            true => Rank::System,
            false => Rank::User,
        }
    }
}
