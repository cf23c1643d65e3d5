//! Authorizers other than RBAC, with kinds of their own. A request is allowed if any authorizer allows it.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::kind::Address;
use krm::{Object, Status};
use serde_json::Value;
use store::Key;

use super::{Attributes, Authorizer, Decision, RulesFound};
use crate::api::Api;
use crate::call::Call;
use crate::identity::Identity;
use crate::keys::Parts;
use crate::plane::Plane;
use crate::planes::CREATOR;

/// Decides about requests of all planes, from objects in the store that it is told of.
pub trait AuthorizerPlugin: Send + Sync {
    /// Whether anything it decides may depend on an object.
    fn wants(&self, parts: &Parts<'_>) -> bool;

    /// Takes in an object as it is now, or that it is gone.
    fn take_in(&self, api: &Api, parts: &Parts<'_>, object: Option<&Object>);

    /// Whether a write to this group changes what it decides, so that the writer's next request has to wait for it.
    fn settles(&self, group: &str) -> bool;

    /// Whether `who` may do `what` in a plane.
    fn decide(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Decision;

    /// What `who` may do in a namespace of a plane.
    fn rules_for(&self, plane: &Plane, who: &Identity, namespace: &str) -> RulesFound;

    /// On which single objects of a collection `who` may do what may not be done to all of it.
    fn some_of(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Only;

    /// Whether anything was granted to somebody in a plane.
    fn knows(&self, plane: &Plane, who: &Identity) -> bool;

    /// Completes an object that is about to be written. The view shows what the same transaction writes before it.
    fn prepare(&self, call: &Call, view: &mut store::View, object: &mut Object);

    /// Whether `who` may write `new` in the place of `old`: a principal cannot grant permissions that it
    /// does not hold.
    fn admits(
        &self,
        rights: &dyn Authorizer,
        call: &Call,
        view: &mut store::View,
        old: Option<&Object>,
        new: &Object,
    ) -> Result<(), Status>;

    /// Whether somebody is still there to act in a plane, and which bindings to a name are theirs.
    fn standing(&self, _plane: &Plane, _who: &Identity) -> Standing {
        Standing::default()
    }

    /// Whether somebody's standing or grants may depend on an object, so that their open streams are decided on again.
    fn changes_rights(&self, _parts: &Parts<'_>) -> bool {
        false
    }

    /// The object that ships with the server under this name in the root plane, as it has to stay.
    fn shipped(&self, _at: &Address) -> Option<Object> {
        None
    }

    /// Whether anything may have to be kept when an object goes.
    fn leaves(&self, _parts: &Parts<'_>) -> bool {
        false
    }

    /// What is kept when an object goes of which [`AuthorizerPlugin::leaves`] says so, in the same commit, under keys that no kind has.
    fn remains(&self, _call: &Call, _gone: &Object) -> Vec<(Key, Object)> {
        Vec::new()
    }

    /// What is made along with a new object, in the same commit and plane.
    fn companions(&self, call: &Call, object: &Object) -> Vec<Object>;

    /// Which of its grants allow something, or which of what it knows would.
    fn explain(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Explained;
}

/// Whether an authenticated name is still somebody, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Why they may do nothing at all, whatever was granted to them.
    pub refusal: Option<String>,
    /// RBAC bindings to the name that were written before this version were made for an earlier account of it.
    pub since: u64,
    /// Whether the binding counts that came with a project which they made.
    pub as_creator: bool,
}

impl Default for Standing {
    fn default() -> Standing {
        Standing { refusal: None, since: 0, as_creator: true }
    }
}

impl Standing {
    /// Both of them.
    pub fn and(self, other: Standing) -> Standing {
        Standing {
            refusal: self.refusal.or(other.refusal),
            since: self.since.max(other.since),
            as_creator: self.as_creator && other.as_creator,
        }
    }

    /// Whether a binding of this name, written at this version, is theirs.
    pub fn counts(&self, binding: &str, version: u64) -> bool {
        version >= self.since && (self.as_creator || binding != CREATOR)
    }

    /// Whether every binding to the name is theirs.
    pub fn is_plain(&self) -> bool {
        self.since == 0 && self.as_creator
    }
}

/// The part of a collection that somebody may see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Only {
    /// Everything in these namespaces.
    pub namespaces: BTreeSet<Arc<str>>,
    /// Everything in namespaces whose names begin so.
    pub namespaces_beginning: BTreeSet<Arc<str>>,
    /// These, by namespace and name.
    pub objects: BTreeSet<(Arc<str>, Arc<str>)>,
    /// Those without a namespace whose names begin so.
    pub names_beginning: BTreeSet<Arc<str>>,
}

impl Only {
    /// Whether that is nothing.
    pub fn is_empty(&self) -> bool {
        self.is_of_single_objects() && self.objects.is_empty()
    }

    /// Whether it is single objects, each of which it names.
    pub fn is_of_single_objects(&self) -> bool {
        self.namespaces.is_empty() && self.namespaces_beginning.is_empty() && self.names_beginning.is_empty()
    }

    /// Whether an object is in it.
    pub fn has(&self, namespace: &str, name: &str) -> bool {
        let begins =
            |all: &BTreeSet<Arc<str>>, text: &str| all.iter().any(|start| text.starts_with(&**start));
        self.namespaces.contains(namespace)
            || self.objects.contains(&(namespace.into(), name.into()))
            || begins(&self.namespaces_beginning, namespace)
            || namespace.is_empty() && begins(&self.names_beginning, name)
    }

    /// Takes in another part.
    pub fn extend(&mut self, other: Only) {
        self.namespaces.extend(other.namespaces);
        self.namespaces_beginning.extend(other.namespaces_beginning);
        self.names_beginning.extend(other.names_beginning);
        self.objects.extend(other.objects);
    }
}

/// Why something is allowed, or what would allow it; each as JSON for people and programs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Explained {
    /// The grants that allow it.
    pub allowed_by: Vec<Value>,
    /// What could be granted for it to be allowed.
    pub would_allow: Vec<Value>,
}
