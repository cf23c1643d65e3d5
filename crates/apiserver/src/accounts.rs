//! Index of service accounts, for token verification.

use krm::kind::Address;

use crate::api::Api;
use crate::authn::ServiceAccounts;
use crate::encode;
use crate::keys;
use crate::plane::Plane;

/// The service accounts in the store.
pub struct Accounts {
    api: Api,
}

impl Accounts {
    /// Those of this server.
    pub fn new(api: Api) -> Accounts {
        Accounts { api }
    }

    fn uid(&self, plane: &str, plural: &str, namespace: &str, name: &str) -> Option<String> {
        let plane = if plane.is_empty() { Plane::root() } else { Plane::project(plane) };
        let at = Address {
            group: String::new(),
            plural: plural.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        let key = keys::object(&plane, &at).ok()?;
        let snapshot = self.api.store().latest();
        let entry = snapshot.get(&key)?;
        let object = encode::read(&self.api.reveal(&key, entry).ok()?).ok()?;
        Some(object.uid().to_owned())
    }
}

impl ServiceAccounts for Accounts {
    fn account_uid(&self, plane: &str, namespace: &str, name: &str) -> Option<String> {
        self.uid(plane, "serviceaccounts", namespace, name)
    }

    fn secret_uid(&self, plane: &str, namespace: &str, name: &str) -> Option<String> {
        self.uid(plane, "secrets", namespace, name)
    }
}
