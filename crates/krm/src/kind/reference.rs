//! References between objects, enforced by the server.

use serde_json::Value;

use super::{Address, Resource};
use crate::object::Object;

/// What happens if the target does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The write is refused.
    Refuse,
    /// The write is accepted, and the object is not ready for this reason.
    NotReady(&'static str),
    /// Nothing: the target may be created later or never.
    Ignore,
}

/// What happens when the target is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDelete {
    /// The delete is rejected, and the referring objects are named.
    Block,
    /// The target is deleted, and the referring objects are not ready for this reason.
    NotReady(&'static str),
    /// The target is deleted.
    Ignore,
}

/// A field that names an object of another kind.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Path of the name, with `[]` after a list: `spec.siteRef.name`, `spec.ends[].portRef.name`.
    pub path: String,
    /// The group of the kinds it may refer to.
    pub group: String,
    /// The plural of the kind it refers to.
    pub plural: String,
    /// The name of that kind, such as `Site`, where it is known.
    pub kind: Option<&'static str>,
    /// Whether the target is in the same namespace; otherwise it is cluster-scoped.
    pub same_namespace: bool,
    /// Whether the target is in the root plane, whatever plane the referring object is in.
    pub in_root: bool,
    /// Whether everybody who may write the referring object may refer to targets in the root plane. Otherwise a target
    /// that the writer may not get there is treated as missing.
    pub shared: bool,
    /// A verb on the target, besides those of the API, that the writer needs to refer to it.
    pub verb: Option<&'static str>,
    /// Whether the reference is immutable once set.
    pub immutable: bool,
    /// What happens if the target does not exist.
    pub missing: Missing,
    /// What happens when the target is deleted.
    pub on_delete: OnDelete,
    /// The sibling field with the kind, and its value for this reference.
    pub when: Option<(&'static str, &'static str)>,
    /// Message for a missing target, with `{}` for its name; otherwise a field error.
    pub absent: Option<&'static str>,
    /// Relation to the target in messages: `reference it`, `placed in it`.
    pub tie: &'static str,
    /// Reason of `Ready=False` while a target is missing that should exist by the rules.
    pub reason: Option<&'static str>,
    /// Message of `Ready=False` while the target is missing, with `{}` for its name; otherwise `Site "fra1" not found`.
    pub unresolved: Option<&'static str>,
    /// The condition that says whether the target exists, besides `Ready`, and its message if all such targets do.
    pub condition: Option<(&'static str, &'static str)>,
}

impl Reference {
    /// A reference at `path` to a kind of ours, cluster-scoped unless it says otherwise: the target must exist and cannot
    /// be deleted.
    pub fn to<T: Resource>(path: &str) -> Reference {
        Reference { kind: Some(T::KIND), ..Reference::at(path, T::GROUP, T::PLURAL) }
    }

    /// The same to a kind that has no type in Rust.
    pub fn at(path: &str, group: &str, plural: &str) -> Reference {
        Reference {
            path: path.to_owned(),
            group: group.to_owned(),
            plural: plural.to_owned(),
            kind: None,
            same_namespace: false,
            in_root: false,
            shared: false,
            verb: None,
            immutable: false,
            missing: Missing::Refuse,
            on_delete: OnDelete::Block,
            when: None,
            absent: None,
            tie: "reference it",
            reason: None,
            unresolved: None,
            condition: None,
        }
    }

    /// Only if the sibling field `kind` has this value: one field may refer to several kinds.
    pub fn when_kind(self, kind: &'static str) -> Reference {
        Reference { when: Some(("kind", kind)), ..self }
    }

    /// Message for a missing target, with `{}` for its name.
    pub fn absent(self, says: &'static str) -> Reference {
        Reference { absent: Some(says), ..self }
    }

    /// Relation to the target in the message that rejects its deletion: `placed in it`.
    pub fn tie(self, tie: &'static str) -> Reference {
        Reference { tie, ..self }
    }

    /// To an object of the same namespace.
    pub fn same_namespace(self) -> Reference {
        Reference { same_namespace: true, ..self }
    }

    /// To an object of the root plane, whatever plane the referring object is in. A target that the writer may not get
    /// in the root plane is treated as missing, so that the answer doesn't tell whether it exists.
    pub fn in_root(self) -> Reference {
        Reference { in_root: true, ..self }
    }

    /// To an object of the root plane that everybody who may write the referring object may know of, such as an entry
    /// of a catalog.
    pub fn shared(self) -> Reference {
        Reference { in_root: true, shared: true, ..self }
    }

    /// Takes a permission of the writer on each target that it newly names, in the plane of the referring object: a verb that
    /// the target's kind declares, such as `use`.
    pub fn takes(self, verb: &'static str) -> Reference {
        Reference { verb: Some(verb), ..self }
    }

    /// Makes the reference immutable once set.
    pub fn immutable(self) -> Reference {
        Reference { immutable: true, ..self }
    }

    /// What happens if the target does not exist.
    pub fn missing(self, missing: Missing) -> Reference {
        Reference { missing, ..self }
    }

    /// What happens when the target is deleted.
    pub fn on_delete(self, on_delete: OnDelete) -> Reference {
        Reference { on_delete, ..self }
    }

    /// Reason of `Ready=False` while the target is missing although a missing one is refused and a deletion blocked, such
    /// as in data that was written before the reference was declared. Without it, such a target is taken for granted.
    pub fn reason(self, reason: &'static str) -> Reference {
        Reference { reason: Some(reason), ..self }
    }

    /// Message of `Ready=False` while the target is missing, with `{}` for its name.
    pub fn unresolved(self, says: &'static str) -> Reference {
        Reference { unresolved: Some(says), ..self }
    }

    /// Says in a condition of its own, too, whether the target exists; `found` is its message if all such targets do.
    pub fn condition(self, kind: &'static str, found: &'static str) -> Reference {
        Reference { condition: Some((kind, found)), ..self }
    }

    /// Where the object of this name is that `object` refers to.
    pub fn target(&self, object: &Object, name: &str) -> Address {
        Address {
            group: self.group.clone(),
            plural: self.plural.clone(),
            namespace: if self.same_namespace { object.namespace().to_owned() } else { String::new() },
            name: name.to_owned(),
        }
    }

    /// The names it holds in `object`, each with the field it stands in.
    pub fn names<'a>(&self, object: &'a Object) -> Vec<(String, &'a str)> {
        let mut found = Vec::new();
        let mut steps = self.path.split('.');
        let Some(first) = steps.next() else { return found };
        let rest: Vec<&str> = steps.collect();
        self.step_into(&object.0, first, &rest, String::new(), &mut found);
        found
    }
}

impl Reference {
    fn step_into<'a>(
        &self,
        map: &'a serde_json::Map<String, Value>,
        step: &str,
        rest: &[&str],
        mut path: String,
        found: &mut Vec<(String, &'a str)>,
    ) {
        let (field, is_list) = match step.strip_suffix("[]") {
            Some(field) => (field, true),
            None => (step, false),
        };
        let is_meant = |(beside, says): (&str, &str)| map.get(beside).and_then(Value::as_str) == Some(says);
        if rest.is_empty() && !self.when.is_none_or(is_meant) {
            return;
        }
        let Some(value) = map.get(field) else { return };
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(field);
        if !is_list {
            return self.arrive(value, rest, path, found);
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            self.arrive(item, rest, format!("{path}[{index}]"), found);
        }
    }

    fn arrive<'a>(&self, value: &'a Value, rest: &[&str], path: String, found: &mut Vec<(String, &'a str)>) {
        match (rest.split_first(), value) {
            (None, Value::String(name)) if !name.is_empty() => found.push((path, name)),
            (Some((next, rest)), Value::Object(map)) => self.step_into(map, next, rest, path, found),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reference_is_found_in_lists_too_and_tells_its_field() {
        let object = Object::from_value(json!({
            "spec": {"siteRef": {"name": "s1"}, "ends": [{"portRef": {"name": "p1"}}, {}, {"portRef": {"name": "p2"}}]}
        }))
        .unwrap();
        let site = Reference::at("spec.siteRef.name", "g", "sites");
        assert_eq!(site.names(&object), [("spec.siteRef.name".to_owned(), "s1")]);
        let ports = Reference::at("spec.ends[].portRef.name", "g", "ports");
        assert_eq!(
            ports.names(&object),
            [("spec.ends[0].portRef.name".to_owned(), "p1"), ("spec.ends[2].portRef.name".to_owned(), "p2")]
        );
        assert!(Reference::at("spec.none.name", "g", "x").names(&object).is_empty());
    }

    #[test]
    fn a_shared_reference_is_one_to_the_root() {
        let class = Reference::at("spec.classRef.name", "g", "classes");
        assert!(!class.in_root);
        assert!(class.clone().in_root().in_root && !class.clone().in_root().shared);
        assert!(class.clone().shared().in_root && class.shared().shared);
    }

    #[test]
    fn a_field_beside_the_name_says_which_kind_is_meant() {
        let object = Object::from_value(json!({
            "spec": {"ends": [{"kind": "Site", "name": "s"}, {"kind": "Port", "name": "p"}]}
        }))
        .unwrap();
        let sites = Reference::at("spec.ends[].name", "g", "sites").when_kind("Site");
        assert_eq!(sites.names(&object), [("spec.ends[0].name".to_owned(), "s")]);
    }
}
