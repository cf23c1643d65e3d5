//! The sight of whoever asks: which objects of a plane they may read.
//!
//! What may be read is decided once for a kind in a namespace and kept, so that an answer may look at any number of objects.
//! After the answer, [`Sight::still_holds`] tells whether all those decisions held together, so that an answer is never
//! computed with rights of two moments.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use store::Key;

use crate::api::Api;
use crate::authz::{Attributes, Extent, REVEAL};
use crate::identity::Identity;
use crate::keys::{self, Parts};
use crate::plane::Plane;
use crate::secrets;

/// What somebody may read in a plane.
pub struct Sight {
    api: Api,
    plane: Plane,
    who: Identity,
    /// By what the keys of a kind in a namespace begin with.
    known: RefCell<HashMap<String, Arc<Extent>>>,
    has_withheld: Cell<bool>,
}

impl Sight {
    /// The sight of somebody in a plane.
    pub fn new(api: &Api, plane: &Plane, who: &Identity) -> Sight {
        Sight {
            api: api.clone(),
            plane: plane.clone(),
            who: who.clone(),
            known: RefCell::default(),
            has_withheld: Cell::new(false),
        }
    }

    /// Whether they may read an object that exists. If not, it is noted that something was withheld.
    pub fn sees(&self, key: &Key) -> bool {
        let sees = self.may_read(key);
        if !sees {
            self.has_withheld.set(true);
        }
        sees
    }

    /// Whether they may read every object of a kind in a namespace, or of a kind without namespaces.
    pub fn sees_all(&self, group: &str, plural: &str, namespace: &str) -> bool {
        let parts = Parts { plane: self.plane.as_str(), group, plural, namespace, name: "" };
        self.extent(&keys::in_namespace(&self.plane, group, plural, namespace), &parts).is_whole()
    }

    /// The keys of the objects of a kind without namespaces that they may read, in order, if their rights name each one. Whether
    /// those exist is another question.
    pub fn named(&self, group: &str, plural: &str) -> Option<Vec<Key>> {
        let parts = Parts { plane: self.plane.as_str(), group, plural, namespace: "", name: "" };
        let prefix = keys::in_namespace(&self.plane, group, plural, "");
        let extent = self.extent(&prefix, &parts);
        let names = extent.names()?;
        Some(names.into_iter().filter_map(|name| Key::new(format!("{prefix}{name}")).ok()).collect())
    }

    /// Notes that something was withheld.
    pub fn withhold(&self) {
        self.has_withheld.set(true);
    }

    /// Whether an object that exists was withheld.
    pub fn has_withheld(&self) -> bool {
        self.has_withheld.get()
    }

    /// Whether all decisions so far still are as they were made: then they all held at one moment, between the last of them
    /// and the first that is asked again.
    pub fn still_holds(&self) -> bool {
        let known = self.known.borrow();
        known.iter().all(|(prefix, extent)| {
            let parts = keys::parts_of(prefix);
            parts.is_some_and(|parts| self.decide(&parts) == **extent)
        })
    }

    fn may_read(&self, key: &Key) -> bool {
        let Some(parts) = keys::parts(key) else { return false };
        let text = std::str::from_utf8(key.as_bytes()).unwrap_or_default();
        let prefix = text.strip_suffix(parts.name).unwrap_or(text);
        self.extent(prefix, &parts).has(parts.namespace, parts.name)
    }

    fn extent(&self, prefix: &str, parts: &Parts<'_>) -> Arc<Extent> {
        if let Some(known) = self.known.borrow().get(prefix) {
            return known.clone();
        }
        let extent = Arc::new(self.decide(parts));
        self.known.borrow_mut().insert(prefix.to_owned(), extent.clone());
        extent
    }

    fn decide(&self, parts: &Parts<'_>) -> Extent {
        // An answer is computed from whole objects: of Secrets, it takes the values.
        let verb = if secrets::are_at(parts.group, parts.plural) { REVEAL } else { "get" };
        let what = Attributes::resource(verb, parts.group, parts.plural).in_namespace(parts.namespace);
        self.api.followers().rights.extent(&self.plane, &self.who, &what)
    }
}
