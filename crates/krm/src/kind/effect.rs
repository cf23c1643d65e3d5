//! Effects: what belongs to a change and is written in the same commit.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Addition, Address, Kind, Project, RawChange, Refusal, Resource, View, api_version};
use crate::object::Object;

/// A write that belongs to the change of an object and lands in the same commit.
///
/// Code decides it, not the user: permissions are not asked. It goes through schema, references, field ownership and the
/// rules of its target. What is created or deleted has effects of its own; a changed status, label or counter has none.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The plane of what is written.
    pub plane: EffectPlane,
    /// What is written.
    pub write: EffectWrite,
}

/// The plane of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectPlane {
    /// The plane of the change.
    Same,
    /// The root plane.
    Root,
    /// The control plane of a project, in this life of it; it may be the project that the change creates.
    Project(Project),
}

/// What an effect writes.
#[derive(Debug, Clone, PartialEq)]
pub enum EffectWrite {
    /// The status of the object that is changed.
    OwnStatus(Value),
    /// The status of another object.
    Status(Address, Value),
    /// Labels of another object, each set to a value or removed.
    Labels(Address, BTreeMap<String, Option<String>>),
    /// A counter in the status of another object.
    Count(Address, Addition),
    /// A change of the status of another object that is worked out when it is committed.
    Amend(Address, Amendment),
    /// A new object. Without a name, its `generateName` is completed.
    Create(Object),
    /// The deletion of an object, as by a user. Nothing if there is no such object.
    Delete(Address),
}

/// A change of a status that is worked out at the commit, on the object as it is then.
#[derive(Debug, Clone)]
pub struct Amendment {
    with: Value,
    change: fn(&mut Object, &Value) -> bool,
}

impl Amendment {
    /// Changes the status of an object; `false` if it can't be changed so.
    pub fn apply(&self, object: &mut Object) -> bool {
        (self.change)(object, &self.with)
    }
}

impl PartialEq for Amendment {
    fn eq(&self, other: &Amendment) -> bool {
        self.with == other.with && std::ptr::fn_addr_eq(self.change, other.change)
    }
}

impl Effect {
    /// Replaces the status of the object that is written.
    pub fn own_status(status: &impl Serialize) -> Effect {
        Effect::new(EffectWrite::OwnStatus(serde_json::to_value(status).unwrap_or_default()))
    }

    /// Gives another object the status that `object` has. Only what was read with [`View::get`] or [`View::take`] may be
    /// written: that read is the guard.
    pub fn status<T: Resource>(object: &T) -> Effect {
        let object = untyped(object);
        let at = T::address(object.namespace(), object.name());
        Effect::new(EffectWrite::Status(at, object.get("status").cloned().unwrap_or_default()))
    }

    /// Sets labels of another object, or removes those without a value. Its other labels stay.
    pub fn labels<K: Into<String>, V: Into<String>>(
        at: Address,
        labels: impl IntoIterator<Item = (K, Option<V>)>,
    ) -> Effect {
        let labels = labels.into_iter().map(|(key, value)| (key.into(), value.map(Into::into)));
        Effect::new(EffectWrite::Labels(at, labels.collect()))
    }

    /// Adds to a counter, or subtracts from it.
    pub fn count(at: Address, addition: Addition) -> Effect {
        Effect::new(EffectWrite::Count(at, addition))
    }

    /// Changes the status of another object by a function of nothing but that object and `with`. Where the store has one
    /// committer, it is worked out there, on the object as it is then, and guards nothing: transactions that amend the same
    /// object are not in each other's way, however many they are. If it answers `false`, the whole change is decided again.
    /// So decide on it by [`View::peek`], with the same conditions, and write no other status of that object along with it.
    ///
    /// The fields stay whose they are, and schema and rules are not asked: the function keeps them. It changes nothing that the
    /// object is found by: no label, selectable field or bucket.
    pub fn amend(at: Address, with: Value, change: fn(&mut Object, &Value) -> bool) -> Effect {
        Effect::new(EffectWrite::Amend(at, Amendment { with, change }))
    }

    /// Creates an object of a kind of ours.
    pub fn create<T: Resource>(object: &T) -> Effect {
        let mut object = untyped(object);
        object.set_type(&api_version(T::GROUP, T::VERSION), T::KIND);
        Effect::create_object(object)
    }

    /// Creates an object, which says its `apiVersion` and `kind`.
    pub fn create_object(object: Object) -> Effect {
        Effect::new(EffectWrite::Create(object))
    }

    /// Deletes an object.
    pub fn delete(at: Address) -> Effect {
        Effect::new(EffectWrite::Delete(at))
    }

    /// The same in the root plane.
    pub fn in_root(self) -> Effect {
        Effect { plane: EffectPlane::Root, ..self }
    }

    /// The same in the control plane of a project. If another one has its name by the commit, the change is refused.
    pub fn in_project(self, project: Project) -> Effect {
        Effect { plane: EffectPlane::Project(project), ..self }
    }

    fn new(write: EffectWrite) -> Effect {
        Effect { plane: EffectPlane::Same, write }
    }
}

fn untyped<T: Resource>(object: &T) -> Object {
    let value = serde_json::to_value(object).unwrap_or_default();
    Object::from_value(value).unwrap_or_default()
}

/// Effects on changes of objects of any kind, those of CustomResourceDefinitions too: for what concerns kinds that were not
/// written for it, such as metering. A module brings it.
///
/// It is called as the effects of a kind are: with every write of an object and of its status, when an object is gone, and
/// for objects that effects create and delete. Objects that go by themselves, such as Events, it never sees.
pub trait EffectPlugin: Send + Sync {
    /// Owner of the fields that it writes.
    fn name(&self) -> &'static str;

    /// Whether it may have effects on changes of a kind, in the plane of a project or in the root. Asked with every write,
    /// of whatever kind: it has to answer from memory.
    fn concerns(&self, kind: &Kind, project: Option<&str>) -> bool;

    /// The effects of a change. What decides them has to be read from the view, though [`EffectPlugin::concerns`] knew it
    /// already: only that is guarded. Its own status the object gets from its kind alone.
    fn effects(
        &self,
        kind: &Kind,
        change: &RawChange<'_>,
        view: &mut View<'_>,
    ) -> Result<Vec<Effect>, Refusal>;

    /// Resources whose objects it wants to know, by group and plural.
    fn follows(&self) -> &[(&'static str, &'static str)] {
        &[]
    }

    /// Takes in such an object as it is now, or that it is gone. A writer of one is answered after that.
    fn take_in(&self, _project: Option<&str>, _at: &Address, _object: Option<&Object>) {}
}
