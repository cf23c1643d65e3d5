//! A plan: what has to be written and done to bring an object to its desired state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::Bucket;
use serde_json::Value;

use crate::line::Line;
use crate::state::State;
use crate::target::Target;

/// The result of planning one object.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Writes that land together, in one commit, or not at all.
    pub writes: Vec<Write>,
    /// Conditions for that commit.
    pub guards: Vec<Guard>,
    /// Writes that land one by one, in commits of a bounded size. Those that are refused are shown to the next plan, which
    /// follows at once.
    pub independent: Vec<Write>,
    /// What is done after the commit.
    pub actions: Vec<Action>,
    /// When the object is to be planned again, even if nothing changes.
    pub again: Option<Duration>,
    /// What the object waits for, for people.
    pub waiting: Option<String>,
    /// The line that it waits in.
    pub line: Option<Line>,
    /// The state that it is in, if that has a time limit.
    pub state: Option<State>,
}

/// A write of a plan. Objects carry the resource version that they were planned on: if the stored object has another one by
/// then, nothing is written and the object is planned again.
#[derive(Debug, Clone)]
pub enum Write {
    /// Replaces the status of an object.
    Status(String, Object),
    /// Replaces what another subresource, such as `finalize`, has of an object.
    Subresource(String, Object, &'static str),
    /// Replaces an object except its status.
    Update(String, Object),
    /// Replaces an object and its status.
    Whole(String, Object),
    /// Creates an object.
    Create(String, Object),
    /// Applies fields of an object, with the controller as field manager, and takes them over from other managers.
    Apply(String, Object),
    /// Changes an object by a JSON merge patch.
    Patch(Target, Value),
    /// Deletes an object.
    Delete(Target, Deletion),
    /// Removes an object without looking at finalizers and referrers: it goes with its whole plane.
    Purge(Target),
    /// Records an event.
    Event(Target, Event),
}

/// What a write is about.
pub enum Subject<'a> {
    /// An object of a plane, which says its kind and name.
    Object(&'a str, &'a Object),
    /// What is at a place.
    Target(&'a Target),
}

impl Write {
    /// What it is about; of an event, the object that it happened to.
    pub fn subject(&self) -> Subject<'_> {
        match self {
            Write::Status(plane, object)
            | Write::Subresource(plane, object, _)
            | Write::Update(plane, object)
            | Write::Whole(plane, object)
            | Write::Create(plane, object)
            | Write::Apply(plane, object) => Subject::Object(plane, object),
            Write::Patch(target, _)
            | Write::Delete(target, _)
            | Write::Purge(target)
            | Write::Event(target, _) => Subject::Target(target),
        }
    }

    /// The verb and the subresource that the controller needs a permission for.
    pub fn verb(&self) -> (&'static str, &'static str) {
        match self {
            Write::Status(..) => ("update", "status"),
            Write::Subresource(_, _, subresource) => ("update", subresource),
            Write::Update(..) | Write::Whole(..) => ("update", ""),
            Write::Create(..) | Write::Event(..) => ("create", ""),
            Write::Apply(..) | Write::Patch(..) => ("patch", ""),
            Write::Delete(..) | Write::Purge(..) => ("delete", ""),
        }
    }
}

/// How an object is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deletion {
    /// Only this uid.
    pub uid: Option<String>,
    /// Only at this resource version.
    pub version: Option<String>,
    /// What happens to the objects that it owns.
    pub propagation: Propagation,
}

/// What happens to the objects that a deleted one owns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Propagation {
    /// What the object's finalizers say.
    #[default]
    Unset,
    /// They are deleted after it.
    Background,
    /// They are deleted before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// A condition for the commit of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// No object with this uid is there.
    Absent(Target, String),
    /// A bucket of a plane holds what it held when it was read: for decisions that depend on all of it, which several
    /// processes may take at once.
    Bucket {
        /// The plane; the root's name is empty.
        plane: String,
        /// The bucket.
        bucket: Bucket,
        /// Its value.
        value: String,
        /// Namespace, name and resource version of each object.
        members: BTreeSet<(String, String, String)>,
    },
}

impl Guard {
    /// The guard for a bucket that was read.
    pub fn bucket(plane: &str, bucket: Bucket, value: &str, members: &[Arc<Object>]) -> Guard {
        let member = |object: &Arc<Object>| {
            (object.namespace().to_owned(), object.name().to_owned(), object.resource_version().to_owned())
        };
        Guard::Bucket {
            plane: plane.to_owned(),
            bucket,
            value: value.to_owned(),
            members: members.iter().map(member).collect(),
        }
    }
}

/// Something that happened to an object, for people. Events of one object with the same reason are counted in one Event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Whether it is a warning.
    pub is_warning: bool,
    /// Machine-readable reason in CamelCase.
    pub reason: String,
    /// Message for people.
    pub note: String,
    /// Annotations of the Event.
    pub annotations: BTreeMap<String, String>,
}

/// Something that a controller does besides writing objects, such as a call to a BMC.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Name, unique among the actions of an object: `power-on`.
    pub name: String,
    /// Parameters.
    pub parameters: Value,
    /// Whether it has effects outside of the store. Then it is recorded before it is begun, and after a restart its outcome
    /// is looked up.
    pub is_external: bool,
}

impl Plan {
    /// Nothing to do.
    pub fn nothing() -> Plan {
        Plan::default()
    }

    /// Whether nothing is to be written or done.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.independent.is_empty() && self.actions.is_empty()
    }

    /// Writes an object if it differs from what is there: its status, the rest of it, or both.
    pub fn change(&mut self, plane: &str, old: &Object, new: Object) {
        let is_status = |(field, _): &(&String, &Value)| field.as_str() == "status";
        let rest = |object: &Object| -> Vec<(String, Value)> {
            let fields = object.0.iter().filter(|field| !is_status(field));
            fields.map(|(field, value)| (field.clone(), value.clone())).collect()
        };
        let plane = plane.to_owned();
        match (old.get("status") != new.get("status"), rest(old) != rest(&new)) {
            (false, false) => {}
            (true, false) => self.writes.push(Write::Status(plane, new)),
            (false, true) => self.writes.push(Write::Update(plane, new)),
            (true, true) => self.writes.push(Write::Whole(plane, new)),
        }
    }

    /// Adds a write to the commit.
    pub fn write(&mut self, write: Write) {
        self.writes.push(write);
    }

    /// Plans the object again after a pause, or sooner if it is set already.
    pub fn again_after(&mut self, pause: Duration) {
        self.again = Some(self.again.map_or(pause, |set| set.min(pause)));
    }

    /// The same plan, for an object that waits in line until it may take an object of a bucket: see
    /// [`Context::may_take`](crate::context::Context::may_take). The controller has to say that
    /// [it waits in lines](crate::reconciler::Reconciler::waits_in_line).
    pub fn in_line(self, line: Line) -> Plan {
        Plan { line: Some(line), ..self }
    }

    /// The same plan, with what the object waits for.
    pub fn waiting_for(self, what: impl Into<String>) -> Plan {
        Plan { waiting: Some(what.into()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(label: &str, phase: &str) -> Object {
        let value = json!({"metadata": {"name": "a", "labels": {"l": label}}, "status": {"phase": phase}});
        Object::from_value(value).unwrap()
    }

    #[test]
    fn only_what_differs_is_written() {
        let old = object("x", "New");
        let written = |new: Object| {
            let mut plan = Plan::nothing();
            plan.change("", &old, new);
            plan.writes.pop()
        };
        assert!(written(object("x", "New")).is_none());
        assert!(matches!(written(object("x", "Ready")), Some(Write::Status(..))));
        assert!(matches!(written(object("y", "New")), Some(Write::Update(..))));
        assert!(matches!(written(object("y", "Ready")), Some(Write::Whole(..))));
    }
}
