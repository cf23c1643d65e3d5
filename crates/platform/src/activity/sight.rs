//! Visibility: which records the caller may read.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use apiserver::api::Api;
use apiserver::authz::{Attributes, Authorizer};
use apiserver::identity::Identity;
use apiserver::keys::Parts;
use apiserver::pipeline::InPlane;
use apiserver::plane::Plane;
use apiserver::planes;

/// What one asker may see, from one plane.
pub struct Sight {
    api: Api,
    who: Identity,
    /// Where they look from: the root sees all planes, a project itself alone.
    from: Plane,
    planes: Mutex<HashMap<String, Option<u64>>>,
    whole: Mutex<HashMap<(String, String, String, String), bool>>,
}

impl Sight {
    /// The sight of somebody who looks from a plane.
    pub fn new(api: &Api, who: &Identity, from: &Plane) -> Sight {
        Sight {
            api: api.clone(),
            who: who.clone(),
            from: from.clone(),
            planes: Mutex::default(),
            whole: Mutex::default(),
        }
    }

    /// Whether they may see what happened in a plane at a time: to a project that is gone, and to an earlier one of the same
    /// name, only those who look from the root, with rights in all planes.
    pub fn reaches(&self, plane: &str, time: u64) -> bool {
        if plane == self.from.as_str() && plane.is_empty() {
            return true;
        }
        if !self.from.is_root() && plane != self.from.as_str() {
            return false;
        }
        if self.from.is_root() && self.who.is_in(apiserver::identity::MASTERS) {
            return true;
        }
        let (api, who) = (&self.api, &self.who);
        let mut known = self.planes.lock().unwrap_or_else(PoisonError::into_inner);
        let born = *known.entry(plane.to_owned()).or_insert_with(|| {
            let plane = Plane::project(plane);
            planes::admit(api, &plane, who).ok().and_then(|_| planes::born(api, &plane))
        });
        born.is_some_and(|born| time >= born)
    }

    /// Whether they may read every object of a kind in a namespace; nothing stands for all namespaces.
    pub fn sees_all(&self, plane: &str, group: &str, plural: &str, namespace: &str) -> bool {
        let of = (plane.to_owned(), group.to_owned(), plural.to_owned(), namespace.to_owned());
        if let Some(known) = self.whole.lock().unwrap_or_else(PoisonError::into_inner).get(&of) {
            return *known;
        }
        let get = Attributes::resource("get", group, plural).in_namespace(namespace);
        let rights = &self.api.followers().rights;
        let sees = rights.extent(&self::plane(plane), &self.who, &get).is_whole();
        self.whole.lock().unwrap_or_else(PoisonError::into_inner).insert(of, sees);
        sees
    }

    /// Whether they may read an object.
    pub fn sees(&self, of: &Parts<'_>) -> bool {
        self.sees_all(of.plane, of.group, of.plural, "")
            || (!of.namespace.is_empty() && self.sees_all(of.plane, of.group, of.plural, of.namespace))
            || (!of.name.is_empty() && self.may(of, "get"))
    }

    /// Whether they may do something to an object.
    pub fn may(&self, of: &Parts<'_>, verb: &str) -> bool {
        let attributes = Attributes {
            verb,
            group: of.group,
            version: "*",
            resource: of.plural,
            namespace: of.namespace,
            name: of.name,
            ..Attributes::default()
        };
        let plane = plane(of.plane);
        InPlane { api: &self.api, plane: &plane }.decide(&self.who, &attributes).allowed
    }

    /// Whether they may ask for a path that is no resource.
    pub fn may_ask(&self, path: &str) -> bool {
        let rights = InPlane { api: &self.api, plane: &self.from };
        rights.decide(&self.who, &Attributes::path("get", path)).allowed
    }
}

/// A plane by its name.
pub fn plane(name: &str) -> Plane {
    if name.is_empty() { Plane::root() } else { Plane::project(name) }
}
