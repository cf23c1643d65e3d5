//! Bindings by subject and selector: a decision takes a few lookups, regardless of their number.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use krm::Object;
use serde_json::Value;

use super::directory::{by_group, by_service_account, by_uid};
use super::roles::At;
use super::selector::{self, Place};

/// The roles that somebody has somewhere, each with the bindings that say so.
pub type Given = BTreeMap<At, BTreeSet<At>>;

/// A binding as it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// Who, as the directory calls them.
    pub subjects: Vec<Arc<str>>,
    /// On what.
    pub selector: Arc<str>,
    /// Which role.
    pub role: At,
    /// The uid of the one object it is about.
    pub target: Option<Arc<str>>,
    /// Whether that object is there: then it counts.
    pub is_live: bool,
}

impl Binding {
    /// Reads a binding; nothing when it selects nothing.
    pub fn read(at: &At, object: &Object) -> Option<Binding> {
        let place = |value: &Value| -> (String, String, String, String) {
            let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
            (text("apiGroup"), text("kind"), text("namespace"), text("name"))
        };
        let (selector, target) = match object.at("spec.resourceSelector.resourceRef") {
            Some(reference) => {
                let (group, kind, namespace, name) = place(reference);
                let at = Place {
                    plane: &at.plane,
                    group: &group,
                    kind: &kind,
                    namespace: &namespace,
                    name: &name,
                };
                let uid = reference.get("uid").and_then(Value::as_str).unwrap_or_default();
                (selector::object(&at), Some(uid.into()))
            }
            None => {
                let (group, kind, ..) = place(object.at("spec.resourceSelector.resourceKind")?);
                let selector = match at.plane.is_empty() {
                    true => selector::everywhere(&group, &kind),
                    false => selector::in_project(&at.plane, &group, &kind),
                };
                (selector, None)
            }
        };
        let subjects = object.at("spec.subjects").and_then(Value::as_array).into_iter().flatten();
        Some(Binding {
            subjects: subjects.filter_map(|subject| subject_of(at, subject)).map(Arc::from).collect(),
            selector: selector.into(),
            role: at.role(object.at("spec.roleRef")?),
            is_live: target.is_none(),
            target,
        })
    }
}

fn subject_of(at: &At, subject: &Value) -> Option<String> {
    let text = |field: &str| subject.get(field).and_then(Value::as_str).unwrap_or_default();
    match (text("kind"), text("uid")) {
        ("Group", _) if text("name").starts_with("system:") => Some(by_group(text("name"))),
        ("ServiceAccount", _) => {
            let namespace = if text("namespace").is_empty() { &*at.namespace } else { text("namespace") };
            Some(by_service_account(&at.plane, namespace, text("name")))
        }
        (_, "") => None,
        (_, uid) => Some(by_uid(uid)),
    }
}

/// All bindings of all planes.
#[derive(Debug, Default)]
pub struct Policies {
    bindings: HashMap<At, Binding>,
    by_subject: HashMap<Arc<str>, BTreeMap<Arc<str>, Given>>,
    by_target: HashMap<Arc<str>, BTreeSet<At>>,
    by_role: HashMap<At, BTreeSet<At>>,
}

impl Policies {
    /// Takes in a binding, new or changed.
    pub fn put(&mut self, at: &At, binding: Binding) {
        self.remove(at);
        if binding.target.is_some() {
            self.by_target.entry(binding.selector.clone()).or_default().insert(at.clone());
        }
        self.by_role.entry(binding.role.clone()).or_default().insert(at.clone());
        if binding.is_live {
            self.give(at, &binding);
        }
        self.bindings.insert(at.clone(), binding);
    }

    /// Forgets a binding.
    pub fn remove(&mut self, at: &At) {
        let Some(binding) = self.bindings.remove(at) else { return };
        take(&mut self.by_target, &binding.selector, at);
        take(&mut self.by_role, &binding.role, at);
        self.take_back(at, &binding);
    }

    /// Whether any binding is about a single object.
    pub fn has_targets(&self) -> bool {
        !self.by_target.is_empty()
    }

    /// Whether a binding is about this one object.
    pub fn is_target(&self, selector: &str) -> bool {
        self.by_target.contains_key(selector)
    }

    /// The bindings that are about one object.
    pub fn about(&self, selector: &str) -> impl Iterator<Item = &At> {
        self.by_target.get(selector).into_iter().flatten()
    }

    /// An object that bindings are about is there with this uid, or has gone.
    pub fn target(&mut self, selector: &str, uid: Option<&str>) {
        for at in self.by_target.get(selector).cloned().into_iter().flatten() {
            let Some(mut binding) = self.bindings.remove(&at) else { continue };
            let is_live = uid.is_some() && binding.target.as_deref() == uid;
            match (binding.is_live, is_live) {
                (false, true) => self.give(&at, &binding),
                (true, false) => self.take_back(&at, &binding),
                _ => {}
            }
            binding.is_live = is_live;
            self.bindings.insert(at, binding);
        }
    }

    /// What somebody has, by selector.
    pub fn of(&self, subject: &str) -> Option<&BTreeMap<Arc<str>, Given>> {
        self.by_subject.get(subject)
    }

    /// One binding.
    pub fn get(&self, at: &At) -> Option<&Binding> {
        self.bindings.get(at)
    }

    /// The bindings that give a role.
    pub fn giving(&self, role: &At) -> impl Iterator<Item = (&At, &Binding)> {
        let found = self.by_role.get(role).into_iter().flatten();
        found.filter_map(|at| Some((at, self.bindings.get(at)?)))
    }

    fn give(&mut self, at: &At, binding: &Binding) {
        for subject in &binding.subjects {
            let grants = self.by_subject.entry(subject.clone()).or_default();
            let given = grants.entry(binding.selector.clone()).or_default();
            given.entry(binding.role.clone()).or_default().insert(at.clone());
        }
    }

    fn take_back(&mut self, at: &At, binding: &Binding) {
        for subject in &binding.subjects {
            let Some(grants) = self.by_subject.get_mut(subject) else { continue };
            if let Some(given) = grants.get_mut(&binding.selector) {
                if let Some(bindings) = given.get_mut(&binding.role) {
                    bindings.remove(at);
                }
                given.retain(|_, bindings| !bindings.is_empty());
                if given.is_empty() {
                    grants.remove(&binding.selector);
                }
            }
            if grants.is_empty() {
                self.by_subject.remove(subject);
            }
        }
    }
}

fn take<K: std::hash::Hash + Eq>(map: &mut HashMap<K, BTreeSet<At>>, key: &K, at: &At) {
    if let Some(found) = map.get_mut(key) {
        found.remove(at);
        if found.is_empty() {
            map.remove(key);
        }
    }
}
