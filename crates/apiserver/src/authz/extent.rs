//! On which objects of a collection somebody may do something, decided once for all of them.

use std::collections::{BTreeSet, HashSet};

use super::Only;

/// The objects of a kind in one namespace, or of a kind without namespaces, on which somebody may do something.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extent {
    /// All of them, those to come included.
    is_whole: bool,
    /// Those with these names.
    names: HashSet<String>,
    /// The part that other authorizers allow.
    only: Only,
}

impl Extent {
    /// All objects.
    pub fn whole() -> Extent {
        Extent { is_whole: true, ..Extent::default() }
    }

    /// Whether it is all objects, those to come included.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether an object is in it.
    pub fn has(&self, namespace: &str, name: &str) -> bool {
        self.is_whole || self.names.contains(name) || self.only.has(namespace, name)
    }

    /// The names of the objects without a namespace that are in it, if it names each of them.
    pub fn names(&self) -> Option<BTreeSet<&str>> {
        if self.is_whole || !self.only.is_of_single_objects() {
            return None;
        }
        let single = self.only.objects.iter().filter(|(namespace, _)| namespace.is_empty());
        Some(self.names.iter().map(String::as_str).chain(single.map(|(_, name)| &**name)).collect())
    }

    /// Adds what a rule allows: the objects with these names, or all if there are none.
    pub(super) fn add_names(&mut self, names: &[String]) {
        match names.is_empty() {
            true => self.add_all(),
            false if self.is_whole => {}
            false => self.names.extend(names.iter().cloned()),
        }
    }

    /// Adds a part that another authorizer allows.
    pub(crate) fn add_part(&mut self, part: Only) {
        if !self.is_whole {
            self.only.extend(part);
        }
    }

    /// Adds all objects.
    pub(crate) fn add_all(&mut self) {
        *self = Extent::whole();
    }

    /// Adds another extent.
    pub(super) fn add(&mut self, other: Extent) {
        match other.is_whole {
            true => self.add_all(),
            false if self.is_whole => {}
            false => {
                self.names.extend(other.names);
                self.only.extend(other.only);
            }
        }
    }
}
