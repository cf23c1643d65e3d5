//! A set of fields of an object, as a tree of the steps to them.

mod encoding;
#[cfg(test)]
mod tests;

pub use encoding::MalformedFields;

use std::cmp::Ordering;
use std::fmt;

use super::element::{Element, FieldPath};

/// A set of fields of an object.
///
/// A field can be in the set without the fields below it, and those without it: owning `spec.size` is not owning
/// `spec`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Sorted by element; each is a member, or has members below it, or both.
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    element: Element,
    member: bool,
    below: FieldSet,
}

impl Node {
    fn is_needed(&self) -> bool {
        self.member || !self.below.is_empty()
    }
}

impl FieldSet {
    /// The set without fields.
    pub const fn new() -> FieldSet {
        FieldSet { nodes: Vec::new() }
    }

    /// The fields at these paths of names.
    pub fn of(paths: &[&[&str]]) -> FieldSet {
        let mut set = FieldSet::new();
        for path in paths {
            set.insert(&FieldPath::of(path));
        }
        set
    }

    /// Whether no field is in it.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many fields are in it.
    pub fn len(&self) -> usize {
        self.nodes.iter().map(|node| usize::from(node.member) + node.below.len()).sum()
    }

    /// Whether the field at `path` is in it. The object itself never is.
    pub fn contains(&self, path: &FieldPath) -> bool {
        let Some((last, way)) = path.0.split_last() else { return false };
        let mut set = self;
        for element in way {
            set = set.below(element);
        }
        set.has(last)
    }

    /// Puts the field at `path` in it.
    pub fn insert(&mut self, path: &FieldPath) {
        let Some((last, way)) = path.0.split_last() else { return };
        let mut set = self;
        for element in way {
            set = &mut set.node(element).below;
        }
        set.node(last).member = true;
    }

    /// Whether the field one step away is in it.
    pub fn has(&self, element: &Element) -> bool {
        self.find(element).is_ok_and(|at| self.nodes[at].member)
    }

    /// The fields below one step, as seen from there.
    pub fn below(&self, element: &Element) -> &FieldSet {
        const NOTHING: &FieldSet = &FieldSet::new();
        self.find(element).map_or(NOTHING, |at| &self.nodes[at].below)
    }

    /// Every step in the set, whether its field is a member, and the fields below it.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Element, bool, &FieldSet)> {
        self.nodes.iter().map(|node| (&node.element, node.member, &node.below))
    }

    /// Adds a step that sorts after all that are there. Nothing happens when there is nothing to add.
    pub(super) fn push(&mut self, element: Element, member: bool, below: FieldSet) {
        let node = Node { element, member, below };
        if node.is_needed() {
            debug_assert!(self.nodes.last().is_none_or(|last| last.element < node.element));
            self.nodes.push(node);
        }
    }

    /// The fields in either.
    pub fn union(mut self, other: FieldSet) -> FieldSet {
        self.extend(other);
        self
    }

    /// Adds the fields of another set.
    pub fn extend(&mut self, other: FieldSet) {
        if self.nodes.is_empty() {
            *self = other;
            return;
        }
        if other.nodes.is_empty() {
            return;
        }
        let mut merged = Vec::with_capacity(self.nodes.len() + other.nodes.len());
        let mut left = std::mem::take(&mut self.nodes).into_iter().peekable();
        let mut right = other.nodes.into_iter().peekable();
        while let (Some(ours), Some(theirs)) = (left.peek(), right.peek()) {
            match ours.element.cmp(&theirs.element) {
                Ordering::Less => merged.extend(left.next()),
                Ordering::Greater => merged.extend(right.next()),
                Ordering::Equal => {
                    if let (Some(mut ours), Some(theirs)) = (left.next(), right.next()) {
                        ours.member |= theirs.member;
                        ours.below.extend(theirs.below);
                        merged.push(ours);
                    }
                }
            }
        }
        merged.extend(left);
        merged.extend(right);
        self.nodes = merged;
    }

    /// These fields, and all that they are below of.
    pub fn with_ancestors(&self) -> FieldSet {
        let whole = |node: &Node| Node { member: true, below: node.below.with_ancestors(), ..node.clone() };
        FieldSet { nodes: self.nodes.iter().map(whole).collect() }
    }

    /// The fields in both.
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let mut both = FieldSet::new();
        let mut theirs = other.nodes.iter().peekable();
        for ours in &self.nodes {
            while theirs.next_if(|theirs| theirs.element < ours.element).is_some() {}
            if let Some(theirs) = theirs.next_if(|theirs| theirs.element == ours.element) {
                let member = ours.member && theirs.member;
                let below = ours.below.intersection(&theirs.below);
                if member || !below.is_empty() {
                    both.nodes.push(Node { element: ours.element.clone(), member, below });
                }
            }
        }
        both
    }

    /// Whether all its fields are in `other`, too.
    pub fn is_subset_of(&self, other: &FieldSet) -> bool {
        let mut theirs = other.nodes.iter().peekable();
        self.nodes.iter().all(|ours| {
            while theirs.next_if(|theirs| theirs.element < ours.element).is_some() {}
            theirs.next_if(|theirs| theirs.element == ours.element).is_some_and(|theirs| {
                (theirs.member || !ours.member) && ours.below.is_subset_of(&theirs.below)
            })
        })
    }

    /// The fields that are not in `other`.
    pub fn difference(mut self, other: &FieldSet) -> FieldSet {
        self.subtract(other);
        self
    }

    /// Takes out the fields of `other`; fields below those stay.
    pub fn subtract(&mut self, other: &FieldSet) {
        self.take_out(other, |ours, theirs| {
            ours.member &= !theirs.member;
            ours.below.subtract(&theirs.below);
        });
    }

    /// The fields that neither are in `other` nor below one that is.
    pub fn recursive_difference(mut self, other: &FieldSet) -> FieldSet {
        self.subtract_recursively(other);
        self
    }

    /// Takes out the fields of `other`, and every field below those.
    pub fn subtract_recursively(&mut self, other: &FieldSet) {
        self.take_out(other, |ours, theirs| {
            if theirs.member {
                ours.member = false;
                ours.below = FieldSet::new();
            } else {
                ours.below.subtract_recursively(&theirs.below);
            }
        });
    }

    fn take_out(&mut self, other: &FieldSet, mut cut: impl FnMut(&mut Node, &Node)) {
        if other.nodes.is_empty() {
            return;
        }
        let mut theirs = other.nodes.iter().peekable();
        self.nodes.retain_mut(|ours| {
            while theirs.next_if(|theirs| theirs.element < ours.element).is_some() {}
            if let Some(theirs) = theirs.next_if(|theirs| theirs.element == ours.element) {
                cut(ours, theirs);
            }
            ours.is_needed()
        });
    }

    /// The fields below which there is none in the set.
    pub fn leaves(&self) -> FieldSet {
        let mut leaves = FieldSet::new();
        for node in &self.nodes {
            let below = node.below.leaves();
            leaves.push(node.element.clone(), node.member && node.below.is_empty(), below);
        }
        leaves
    }

    /// The ways to all fields; at each level first the fields themselves, then those below them.
    pub fn paths(&self) -> Vec<FieldPath> {
        let mut paths = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect_paths(&self, way: &mut Vec<Element>, paths: &mut Vec<FieldPath>) {
        for node in self.nodes.iter().filter(|node| node.member) {
            let mut path = way.clone();
            path.push(node.element.clone());
            paths.push(FieldPath(path));
        }
        for node in self.nodes.iter().filter(|node| !node.below.is_empty()) {
            way.push(node.element.clone());
            node.below.collect_paths(way, paths);
            way.pop();
        }
    }

    fn find(&self, element: &Element) -> Result<usize, usize> {
        self.nodes.binary_search_by(|node| node.element.cmp(element))
    }

    /// The node of a step, made if there is none; whoever asks for it makes it needed.
    fn node(&mut self, element: &Element) -> &mut Node {
        let at = self.find(element).unwrap_or_else(|at| {
            let node = Node { element: element.clone(), member: false, below: FieldSet::new() };
            self.nodes.insert(at, node);
            at
        });
        &mut self.nodes[at]
    }
}

/// One field a line.
impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, path) in self.paths().iter().enumerate() {
            let line = if at > 0 { "\n" } else { "" };
            write!(f, "{line}{path}")?;
        }
        Ok(())
    }
}
