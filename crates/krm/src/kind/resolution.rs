//! Resolution: what the declared references of an object say about its readiness.

use super::{Kind, Missing, OnDelete, QueryContext, Reference};
use crate::condition::{self, Finding};
use crate::object::Object;

/// `Ready` of an object and its reasons, as its declared references have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// `Ready`: whether everything exists that the object refers to.
    pub ready: Finding,
    /// The conditions that references have besides.
    pub conditions: Vec<Finding>,
}

impl Resolution {
    /// Looks up what an object of a kind refers to, in its own plane and in the root; `kind_of` names the kind that a
    /// reference is to. The first missing target is the reason, in the order of the declaration and of the fields.
    ///
    /// What is in the root and not for everybody is taken for granted: whether it exists is not for the status of an
    /// object to tell, unless its writer had to see it.
    pub fn of(
        kind: &Kind,
        object: &Object,
        here: &dyn QueryContext,
        root: &dyn QueryContext,
        kind_of: &dyn Fn(&Reference) -> String,
    ) -> Resolution {
        let mut missing: Vec<(usize, usize, String, &Reference, String)> = Vec::new();
        for reference in kind.references.iter().filter(|reference| reference.reports()) {
            let look = if reference.in_root { root } else { here };
            for (field, name) in reference.names(object) {
                if look.version(&reference.target(object, name)).is_some() {
                    continue;
                }
                // One field may refer to several kinds: what comes first in it is told first.
                let declared = kind.references.iter().position(|other| other.path == reference.path);
                missing.push((declared.unwrap_or_default(), field.len(), field, reference, name.to_owned()));
            }
        }
        missing.sort_by(|one, other| (one.0, one.1, &one.2).cmp(&(other.0, other.1, &other.2)));
        let fails = |condition: &'static str, (_, _, _, reference, name): &(_, _, _, &Reference, String)| {
            Finding::fails(condition, reference.why(object), reference.message(name, kind_of))
        };
        let ready = match missing.first() {
            Some(first) => fails("Ready", first),
            None => Finding::holds("Ready", "Accepted", format!("{} accepted", kind.names.kind)),
        };
        let mut conditions: Vec<Finding> = Vec::new();
        for (condition, found) in kind.references.iter().filter_map(|reference| reference.condition) {
            if conditions.iter().any(|told| told.kind == condition) {
                continue;
            }
            let is_told_here =
                |reference: &Reference| reference.condition.is_some_and(|(kind, _)| kind == condition);
            conditions.push(match missing.iter().find(|(_, _, _, reference, _)| is_told_here(reference)) {
                Some(first) => fails(condition, first),
                None => Finding::holds(condition, "Accepted", found),
            });
        }
        Resolution { ready, conditions }
    }

    /// Whether everything exists that the object refers to.
    pub fn is_ready(&self) -> bool {
        self.ready.holds
    }

    /// Writes it among the conditions of an object.
    pub fn tell(&self, object: &mut Object, now: &str) {
        self.ready.tell(object, now);
        self.conditions.iter().for_each(|finding| finding.tell(object, now));
    }
}

impl Reference {
    /// Whether a missing target makes the object not ready, and everybody who reads the object may know.
    fn reports(&self) -> bool {
        let is_for_all = !self.in_root || self.shared || self.missing == Missing::Refuse;
        is_for_all && (self.missing_reason().is_some() || self.deleted_reason().is_some())
    }

    fn missing_reason(&self) -> Option<&'static str> {
        match self.missing {
            Missing::NotReady(reason) => Some(reason),
            Missing::Refuse | Missing::Ignore => self.reason,
        }
    }

    fn deleted_reason(&self) -> Option<&'static str> {
        match self.on_delete {
            OnDelete::NotReady(reason) => Some(reason),
            OnDelete::Block | OnDelete::Ignore => self.reason,
        }
    }

    /// The reason while the target is missing. If it existed when the object was last looked at, with the spec that it
    /// has now, it has been deleted since.
    fn why(&self, object: &Object) -> &'static str {
        let (missing, deleted) = (self.missing_reason(), self.deleted_reason());
        let was_there = condition::find(object, "Ready").is_some_and(|ready| {
            let is_current = ready["observedGeneration"] == object.generation();
            let said_deleted = deleted.is_some_and(|deleted| ready["reason"] == deleted);
            is_current && (ready["status"] == "True" || said_deleted)
        });
        let (first, second) = if was_there { (deleted, missing) } else { (missing, deleted) };
        first.or(second).unwrap_or("NotFound")
    }

    fn message(&self, name: &str, kind_of: &dyn Fn(&Reference) -> String) -> String {
        match self.unresolved {
            Some(says) => says.replace("{}", name),
            None => format!("{} \"{name}\" not found", kind_of(self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::kind::{Address, Bucket, Scope, Version};

    /// A plane with these objects, `plural/name`.
    struct Plane(RefCell<BTreeSet<String>>);

    impl Plane {
        fn of(objects: &[&str]) -> Plane {
            Plane(RefCell::new(objects.iter().map(ToString::to_string).collect()))
        }
    }

    impl QueryContext for Plane {
        fn get(&self, _: &Address) -> Option<Arc<Object>> {
            None
        }

        fn bucket(&self, _: Bucket, _: &str) -> Vec<Arc<Object>> {
            Vec::new()
        }

        fn having(&self, _: &str, _: &str, _: &str, _: &str) -> Vec<Arc<Object>> {
            Vec::new()
        }

        fn referrers(&self, _: &Address) -> Vec<Arc<Object>> {
            Vec::new()
        }

        fn all(&self, _: &str, _: &str) -> Vec<Arc<Object>> {
            Vec::new()
        }

        fn count(&self, _: &str, _: &str) -> usize {
            0
        }

        fn names(&self, _: &str, _: &str) -> Vec<String> {
            Vec::new()
        }

        fn version(&self, at: &Address) -> Option<u64> {
            self.0.borrow().contains(&format!("{}/{}", at.plural, at.name)).then_some(1)
        }

        fn bucket_version(&self, _: Bucket, _: &str) -> u64 {
            0
        }

        fn places(&self, _: Bucket, _: &str) -> Vec<Address> {
            Vec::new()
        }
    }

    fn kind(references: Vec<Reference>) -> Kind {
        let version = Version::new("v1", json!({ "type": "object" })).unwrap();
        let mut kind = Kind::new("g", "Loan", "loans", Scope::Cluster, version);
        kind.references = references;
        kind
    }

    fn object(spec: &Value) -> Object {
        Object::from_value(json!({ "metadata": { "name": "x", "generation": 1 }, "spec": spec })).unwrap()
    }

    fn resolve(kind: &Kind, object: &Object, here: &Plane, root: &Plane) -> Resolution {
        Resolution::of(kind, object, here, root, &|reference| reference.plural.to_uppercase())
    }

    #[test]
    fn what_was_deleted_has_another_reason_than_what_never_was() {
        let books = Reference::at("spec.books[].name", "g", "books")
            .missing(Missing::NotReady("BookMissing"))
            .on_delete(OnDelete::NotReady("BookLost"));
        let (kind, here, root) = (kind(vec![books]), Plane::of(&["books/a"]), Plane::of(&[]));
        let mut loan = object(&json!({ "books": [{ "name": "a" }, { "name": "b" }] }));
        let now = "2026-01-01T00:00:00Z";
        let first = resolve(&kind, &loan, &here, &root);
        assert_eq!((first.ready.reason, &*first.ready.message), ("BookMissing", "BOOKS \"b\" not found"));
        first.tell(&mut loan, now);
        here.0.borrow_mut().insert("books/b".into());
        resolve(&kind, &loan, &here, &root).tell(&mut loan, now);
        assert_eq!(condition::find(&loan, "Ready").unwrap()["message"], "Loan accepted");
        here.0.borrow_mut().clear();
        for _ in 0..2 {
            let lost = resolve(&kind, &loan, &here, &root);
            assert_eq!((lost.ready.reason, &*lost.ready.message), ("BookLost", "BOOKS \"a\" not found"));
            lost.tell(&mut loan, now);
        }
        // Another spec has never been seen with its target.
        loan.set_meta("generation", Some(2.into()));
        assert_eq!(resolve(&kind, &loan, &here, &root).ready.reason, "BookMissing");
    }

    #[test]
    fn the_first_end_in_a_list_is_told_whatever_its_kind_and_has_a_condition_of_its_own() {
        let end = |plural, kind| {
            let end = Reference::at("spec.ends[].name", "g", plural).when_kind(kind);
            end.reason("EndNotFound").condition("EndsResolved", "All ends resolved")
        };
        let owner = Reference::at("spec.owner", "g", "owners").missing(Missing::NotReady("OwnerNotFound"));
        let kind = kind(vec![owner, end("sites", "Site"), end("ports", "Port")]);
        let mut ends: Vec<Value> = (0..11).map(|_| json!({ "kind": "Site", "name": "s" })).collect();
        ends[2] = json!({ "kind": "Port", "name": "third" });
        ends[10] = json!({ "kind": "Site", "name": "eleventh" });
        let object = object(&json!({ "owner": "o", "ends": ends }));
        let here = Plane::of(&["owners/o", "sites/s"]);
        let found = resolve(&kind, &object, &here, &Plane::of(&[]));
        assert_eq!((found.ready.reason, &*found.ready.message), ("EndNotFound", "PORTS \"third\" not found"));
        assert_eq!(found.conditions.len(), 1);
        assert_eq!((found.conditions[0].kind, found.conditions[0].holds), ("EndsResolved", false));
        // An end that exists is no reason for what else is missing.
        let all = Plane::of(&["sites/s", "ports/third", "sites/eleventh"]);
        let found = resolve(&kind, &object, &all, &Plane::of(&[]));
        assert_eq!(found.ready.reason, "OwnerNotFound");
        assert_eq!(found.conditions[0], Finding::holds("EndsResolved", "Accepted", "All ends resolved"));
    }

    #[test]
    fn the_status_tells_nothing_of_a_root_object_that_the_writer_need_not_have_seen() {
        let host = || Reference::at("spec.host", "g", "hosts").in_root();
        let reason = Missing::NotReady("HostNotFound");
        let object = object(&json!({ "host": "h" }));
        let (here, without, with) = (Plane::of(&[]), Plane::of(&[]), Plane::of(&["hosts/h"]));
        let ready = |reference: Reference, root: &Plane| {
            resolve(&kind(vec![reference]), &object, &here, root).is_ready()
        };
        assert!(ready(host().missing(reason), &without) && ready(host().missing(reason), &with));
        assert!(!ready(host().shared().missing(reason), &without));
        assert!(ready(host().shared().missing(reason), &with));
        // Whoever wrote this one had to see the target.
        let deleted = || host().on_delete(OnDelete::NotReady("HostGone"));
        assert!(!ready(deleted(), &without) && ready(deleted(), &with));
    }
}
