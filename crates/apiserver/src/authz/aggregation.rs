//! Aggregated cluster roles, whose rules are those of other roles, selected by label.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::roles::{Role, Shelf};
use super::{Attributes, Rule};

/// Which cluster roles are parts of which. A sum may be a part of another sum, and of itself through others.
#[derive(Debug, Default)]
pub(super) struct Aggregation {
    parts: HashMap<Arc<str>, BTreeSet<Arc<str>>>,
    sums: HashMap<Arc<str>, BTreeSet<Arc<str>>>,
}

impl Aggregation {
    /// Takes in the role `name` of `shelf`, which was put there just now.
    pub fn put(&mut self, name: &Arc<str>, shelf: &Shelf) {
        self.remove(name);
        let Some(role) = shelf.get(name) else { return };
        if role.sums.is_some() {
            let parts = shelf.iter().filter(|(other, part)| *other != name && is_part(part, role));
            let parts: BTreeSet<Arc<str>> = parts.map(|(other, _)| other.clone()).collect();
            for part in &parts {
                self.sums.entry(part.clone()).or_default().insert(name.clone());
            }
            self.parts.insert(name.clone(), parts);
        }
        let is_sum = |sum: &Arc<str>| shelf.get(sum).is_some_and(|sum| is_part(role, sum));
        let sums: BTreeSet<Arc<str>> =
            self.parts.keys().filter(|sum| *sum != name && is_sum(sum)).cloned().collect();
        for sum in &sums {
            self.parts.entry(sum.clone()).or_default().insert(name.clone());
        }
        if !sums.is_empty() {
            self.sums.insert(name.clone(), sums);
        }
    }

    /// Forgets the role.
    pub fn remove(&mut self, name: &str) {
        for part in self.parts.remove(name).unwrap_or_default() {
            take(&mut self.sums, &part, name);
        }
        for sum in self.sums.remove(name).unwrap_or_default() {
            if let Some(parts) = self.parts.get_mut(&sum) {
                parts.remove(name);
            }
        }
    }

    /// Whether the cluster role `name` allows this, itself or by one of its parts.
    pub fn allows(&self, shelf: &Shelf, name: &str, what: &Attributes<'_>) -> bool {
        let Some(role) = shelf.get(name) else { return false };
        if role.sums.is_none() {
            return role.rules.iter().any(|rule| rule.allows(what));
        }
        let leaves = |part: &Arc<str>| {
            let leaf = shelf.get(part).filter(|part| part.sums.is_none());
            leaf.is_some_and(|part| part.rules.iter().any(|rule| rule.allows(what)))
        };
        closure(&self.parts, name).iter().any(leaves)
    }

    /// The sums that `name` is part of, through others too.
    pub fn sums_of(&self, name: &str) -> BTreeSet<Arc<str>> {
        closure(&self.sums, name)
    }

    /// The rules of the cluster role `name`: its own, or those of its parts, each once, in the order of their names.
    pub fn rules<'a>(&self, shelf: &'a Shelf, name: &str) -> Vec<&'a Rule> {
        let mut found = Vec::new();
        self.gather(shelf, name, &mut HashSet::new(), &mut found);
        found
    }

    fn gather<'a>(
        &self,
        shelf: &'a Shelf,
        name: &str,
        seen: &mut HashSet<Arc<str>>,
        found: &mut Vec<&'a Rule>,
    ) {
        let Some(role) = shelf.get(name) else { return };
        let Some(selectors) = &role.sums else {
            found.extend(&role.rules);
            return;
        };
        if !seen.insert(name.into()) {
            return;
        }
        for selector in selectors {
            for part in self.parts.get(name).into_iter().flatten() {
                let labels = shelf.get(part).map(|part| &part.labels);
                if !labels.is_some_and(|labels| selector.matches(|key| labels.get(key).map(String::as_str))) {
                    continue;
                }
                let mut rules = Vec::new();
                self.gather(shelf, part, seen, &mut rules);
                for rule in rules {
                    if !found.contains(&rule) {
                        found.push(rule);
                    }
                }
            }
        }
    }
}

fn is_part(part: &Role, sum: &Role) -> bool {
    let selectors = sum.sums.as_deref().unwrap_or_default();
    selectors.iter().any(|selector| selector.matches(|key| part.labels.get(key).map(String::as_str)))
}

fn closure(edges: &HashMap<Arc<str>, BTreeSet<Arc<str>>>, from: &str) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&Arc<str>> = edges.get(from).into_iter().flatten().collect();
    while let Some(name) = next.pop() {
        if found.insert(name.clone()) {
            next.extend(edges.get(name).into_iter().flatten());
        }
    }
    found
}

fn take(sets: &mut HashMap<Arc<str>, BTreeSet<Arc<str>>>, at: &Arc<str>, name: &str) {
    if let Some(set) = sets.get_mut(at) {
        set.remove(name);
        if set.is_empty() {
            sets.remove(at);
        }
    }
}
