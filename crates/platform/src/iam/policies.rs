//! Bindings by subject and selector: a decision takes a few lookups, regardless of their number.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use krm::Object;
use serde_json::Value;

use super::directory::{by_group, by_service_account, by_uid, organization_of_namespace};
use super::roles::At;
use super::selector::{self, ResourceLocation};
use crate::tenancy::{OF_MEMBERSHIP, ORGANIZATION, PROJECT};

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
    /// Whether that object is there.
    pub is_there: bool,
    /// What it was made for.
    pub comes_from: Source,
    /// When it was made, in microseconds since 1970.
    pub born: u64,
    /// Whether it counts: the object is there, and what it was made for still holds.
    pub is_live: bool,
}

/// What a binding was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Somebody made it.
    Somebody,
    /// It gives the role of a membership of an organization, by the uid of that.
    Membership(Arc<str>),
    /// It came with an organization, or with a project of one, for whoever made that, by their uid.
    Creation(Arc<str>),
}

impl Source {
    fn of(at: &At, object: &Object) -> Source {
        if let Some((_, uid)) = object.labels().find(|(key, _)| *key == OF_MEMBERSHIP) {
            return Source::Membership(uid.into());
        }
        let owners = object.meta("ownerReferences").and_then(Value::as_array).into_iter().flatten();
        let is_own = |owner: &&Value| owner["controller"] == true && owner["name"] == *owner_name(object);
        let is_created = at.plane.is_empty()
            && organization_of_namespace(&at.namespace).is_some()
            && owners
                .filter(is_own)
                .any(|owner| matches!(owner["kind"].as_str(), Some(PROJECT | ORGANIZATION)));
        let creator = object.at("spec.subjects").and_then(|subjects| subjects.get(0)?.get("uid")?.as_str());
        match creator.filter(|_| is_created) {
            Some(creator) => Source::Creation(creator.into()),
            None => Source::Somebody,
        }
    }
}

/// The name of the one object that a binding is about.
fn owner_name(binding: &Object) -> &str {
    let name = binding.at("spec.resourceSelector.resourceRef.name");
    name.and_then(Value::as_str).unwrap_or_default()
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
                let at = ResourceLocation {
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
            subjects: subjects.flat_map(|subject| subject_of(at, subject)).map(Arc::from).collect(),
            selector: selector.into(),
            role: at.role(object.at("spec.roleRef")?),
            is_there: target.is_none(),
            comes_from: Source::of(at, object),
            born: 0,
            is_live: target.is_none(),
            target,
        })
    }
}

fn subject_of(at: &At, subject: &Value) -> Vec<String> {
    let text = |field: &str| subject.get(field).and_then(Value::as_str).unwrap_or_default();
    match (text("kind"), text("uid")) {
        ("Group", _) if text("name").starts_with("system:") => vec![by_group(text("name"))],
        ("ServiceAccount", _) => {
            let namespace = if text("namespace").is_empty() { &*at.namespace } else { text("namespace") };
            let by = |uid| by_service_account(&at.plane, namespace, text("name"), uid);
            vec![by(Some(text("uid"))), by(None)]
        }
        (_, "") => Vec::new(),
        (_, uid) => vec![by_uid(uid)],
    }
}

/// All bindings of all planes.
#[derive(Debug, Default)]
pub struct Policies {
    bindings: HashMap<At, Binding>,
    by_subject: HashMap<Arc<str>, BTreeMap<Arc<str>, Given>>,
    by_target: HashMap<Arc<str>, BTreeSet<At>>,
    by_role: HashMap<At, BTreeSet<At>>,
    /// By namespace, the bindings that were made for a membership or a maker.
    dependent: HashMap<Arc<str>, BTreeSet<At>>,
}

impl Policies {
    /// Takes in a binding, new or changed.
    ///
    /// `holds` says whether what it was made for still does.
    pub fn put(&mut self, at: &At, mut binding: Binding, holds: bool) {
        self.remove(at);
        binding.is_live = binding.is_there && holds;
        if binding.comes_from != Source::Somebody {
            self.dependent.entry(at.namespace.clone()).or_default().insert(at.clone());
        }
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
        take(&mut self.dependent, &at.namespace, at);
        self.take_back(at, &binding);
    }

    /// The bindings of a namespace that were made for a membership or a maker.
    pub fn depending(&self, namespace: &str) -> Vec<At> {
        self.dependent.get(namespace).into_iter().flatten().cloned().collect()
    }

    /// What a binding was made for holds, or no longer does.
    pub fn holds(&mut self, at: &At, holds: bool) {
        let Some(binding) = self.bindings.get(at).cloned() else { return };
        self.put(at, binding, holds);
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

    /// An object that bindings are about is there with this uid, or has gone: those whose target it is.
    pub fn target(&mut self, selector: &str, uid: Option<&str>) -> Vec<At> {
        let about: Vec<At> = self.by_target.get(selector).into_iter().flatten().cloned().collect();
        for at in &about {
            if let Some(binding) = self.bindings.get_mut(at) {
                binding.is_there = uid.is_some() && binding.target.as_deref() == uid;
            }
        }
        about
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
