//! User names and groups of service accounts.

use krm::names::{dns1123_label, dns1123_subdomain};

use crate::identity::{AUTHENTICATED, Identity};

const USER_PREFIX: &str = "system:serviceaccount:";
/// The group of all service accounts.
const EVERY_ACCOUNT: &str = "system:serviceaccounts";

/// The user that a service account is.
pub fn service_account_user(namespace: &str, name: &str) -> String {
    format!("{USER_PREFIX}{namespace}:{name}")
}

/// The namespace and name of the service account that a user is, if it is one.
pub fn service_account_of(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(USER_PREFIX)?.split_once(':')?;
    let is_one = dns1123_label(namespace).is_empty() && dns1123_subdomain(name).is_empty();
    is_one.then_some((namespace, name))
}

/// The groups of a namespace's service accounts.
pub fn service_account_groups(namespace: &str) -> [String; 2] {
    [EVERY_ACCOUNT.to_owned(), format!("{EVERY_ACCOUNT}:{namespace}")]
}

/// A service account as a user, with the groups that its tokens prove.
pub fn service_account(namespace: &str, name: &str) -> Identity {
    let groups = service_account_groups(namespace);
    Identity::new(
        &service_account_user(namespace, name),
        &[groups[0].as_str(), groups[1].as_str(), AUTHENTICATED],
    )
}
