//! Connections to hubs: what is seen of each through watches, and the calls that change it.
//!
//! All controllers of a process share them. A connection follows the kinds that its provisioner names and keeps what it
//! saw; a change has the objects concerned planned again. Plans read what was seen and never call a hub themselves.

mod access;
mod link;
mod watching;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reconcile::reconciler::Bell;
use reconcile::target::Target;

pub use self::access::{InvalidKubeconfig, access_of};
pub use self::link::{Call, Credentials, Link, Reachability};

/// The connections of a process, by the name of the hub.
#[derive(Default)]
pub struct Hubs {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    links: BTreeMap<String, Arc<Link>>,
    /// By resource.
    bells: BTreeMap<&'static str, Bell>,
}

impl Hubs {
    /// Has objects of a resource planned again from now on when something about them changes in a hub.
    pub fn attach(&self, plural: &'static str, bell: Bell) {
        self.lock().bells.insert(plural, bell);
    }

    /// The connection to a hub, made with these credentials; nothing if there is none, or it was made with others. Whoever
    /// asks is planned again when the connection changes.
    pub fn link(&self, hub: &str, version: &str, who: &Target) -> Option<Arc<Link>> {
        let link = self.lock().links.get(hub).filter(|link| link.version() == version).cloned()?;
        link.interest(who);
        Some(link)
    }

    /// Connects to a hub, instead of an earlier connection to it. If it is there already, nothing happens.
    pub fn connect(self: &Arc<Self>, hub: &str, credentials: Credentials) {
        let mut inner = self.lock();
        let before = inner.links.get(hub);
        if before.is_some_and(|before| before.version() == credentials.version) {
            return;
        }
        let interested = before.map(|before| before.interested()).unwrap_or_default();
        let link = Link::begin(hub, credentials, Arc::downgrade(self), interested);
        if let Some(before) = inner.links.insert(hub.to_owned(), link) {
            before.end();
        }
    }

    /// Ends the connection to a hub.
    pub fn forget(&self, hub: &str) {
        if let Some(link) = self.lock().links.remove(hub) {
            link.end();
        }
    }

    /// Has objects planned again.
    pub(crate) fn ring(&self, targets: &BTreeSet<Target>) {
        let bells = self.lock().bells.clone();
        for target in targets {
            if let Some(bell) = bells.get(target.at.plural.as_str()) {
                bell(target);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
