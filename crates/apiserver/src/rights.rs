//! Who may do what in each plane, kept up with the roles and bindings in the store.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use krm::Object;

use crate::authz::{
    Attributes, Authorizer, Decision, RBAC_GROUP, Rbac, RbacKey, RbacKind, RulesFound, bootstrap_objects,
};
use crate::identity::Identity;
use crate::keys::Parts;
use crate::plane::Plane;

/// The rights of all planes.
pub struct Rights {
    planes: RwLock<HashMap<Plane, Rbac>>,
    /// A project to which nothing was added yet: what ships counts in every plane, without being kept in each.
    project: Rbac,
}

impl Default for Rights {
    fn default() -> Rights {
        let shipped = Arc::new(Rbac::compile(bootstrap_objects().iter()));
        Rights { planes: RwLock::default(), project: Rbac::on(shipped) }
    }
}

impl Rights {
    /// Takes in a role or a binding as it is now; others are none of its business.
    pub fn take_in(&self, parts: &Parts<'_>, object: Option<&Object>) {
        if parts.group != RBAC_GROUP {
            return;
        }
        let Some(kind) = RbacKind::of_resource(parts.plural) else { return };
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        let key = RbacKey { kind, namespace: parts.namespace.into(), name: parts.name.into() };
        let mut planes = self.planes.write().unwrap_or_else(PoisonError::into_inner);
        let rbac = planes.entry(plane).or_insert_with_key(|plane| match plane.is_root() {
            true => Rbac::default(),
            false => self.project.bare(),
        });
        match object {
            Some(object) => rbac.put(&key, object),
            None => rbac.remove(&key),
        }
    }

    /// Whether somebody may do something in a plane.
    pub fn decide(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Decision {
        self.in_plane(plane, |rbac| rbac.decide(who, what))
    }

    /// What somebody may do in a namespace of a plane.
    pub fn rules_for(&self, plane: &Plane, who: &Identity, namespace: &str) -> RulesFound {
        self.in_plane(plane, |rbac| rbac.rules_for(who, namespace))
    }

    /// Asks the rights of one plane something.
    pub fn in_plane<T>(&self, plane: &Plane, ask: impl FnOnce(&Rbac) -> T) -> T {
        let planes = self.planes.read().unwrap_or_else(PoisonError::into_inner);
        match planes.get(plane) {
            Some(rbac) => ask(rbac),
            // Nothing was granted there yet; who may do everything may do so there too.
            None if plane.is_root() => ask(&Rbac::default()),
            None => ask(&self.project),
        }
    }

    /// Whether anything was granted to somebody in a plane, apart from what ships.
    pub fn knows(&self, plane: &Plane, who: &Identity) -> bool {
        self.in_plane(plane, |rbac| rbac.knows(who))
    }
}
