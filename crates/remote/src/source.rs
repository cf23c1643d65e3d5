//! What an informer follows: a resource in one plane, or in all of them.

use std::fmt;
use std::sync::Arc;

use krm::kind::Planes;
use reconcile::context::Kinds;
use reconcile::reconciler::{Reconciler, Scope};

use crate::catalog::Catalog;
use crate::place::{self, Place};

/// A resource in one plane, or in all of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Source {
    /// The plane; `None` for all of them. The root's name is empty.
    pub plane: Option<String>,
    /// The group of the resource.
    pub group: String,
    /// The plural of the resource.
    pub plural: String,
}

impl Source {
    /// A resource in one plane.
    pub fn in_plane(plane: &str, group: &str, plural: &str) -> Source {
        Source { plane: Some(plane.to_owned()), group: group.to_owned(), plural: plural.to_owned() }
    }

    /// A resource in all planes.
    pub fn everywhere(group: &str, plural: &str) -> Source {
        Source { plane: None, group: group.to_owned(), plural: plural.to_owned() }
    }

    /// What the places of its objects begin with; of all planes, the beginning tells nothing.
    pub fn prefix(&self) -> Option<String> {
        Some(place::of_resource(self.plane.as_deref()?, &self.group, &self.plural))
    }

    /// Whether an object is one of those that it follows.
    pub fn has(&self, place: &Place) -> bool {
        let target = place.target();
        target.is(&self.group, &self.plural) && self.plane.as_ref().is_none_or(|plane| *plane == target.plane)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.plural)?;
        if !self.group.is_empty() {
            write!(out, ".{}", self.group)?;
        }
        match self.plane.as_deref() {
            None => out.write_str(" of all control planes"),
            Some("") => Ok(()),
            Some(project) => write!(out, " of the project {project:?}"),
        }
    }
}

/// What has to be followed before a reconciler can work. Kinds of a whole group are those that the catalog knows by then.
pub(crate) fn of_reconciler(reconciler: &dyn Reconciler, catalog: &Catalog) -> Vec<Source> {
    let scopes = [reconciler.scope(), reconciler.observes(), reconciler.reads()];
    let mut sources: Vec<Source> = scopes.iter().flat_map(|scope| of_scope(scope, catalog)).collect();
    sources.sort();
    sources.dedup();
    sources
}

/// The resources of a scope, each with the planes in which it is wanted.
pub(crate) fn of_scope(scope: &Scope, catalog: &Catalog) -> Vec<Source> {
    let source = |group: &str, plural: &str, planes: Planes| match planes {
        Planes::Root => Source::in_plane("", group, plural),
        Planes::Project | Planes::Both => Source::everywhere(group, plural),
    };
    match scope {
        Scope::Nothing | Scope::Everything => Vec::new(),
        Scope::Resources(resources, planes) => {
            resources.iter().map(|(group, plural)| source(group, plural, *planes)).collect()
        }
        Scope::Groups(groups, planes) => {
            let linked = catalog.linked().into_iter().cloned();
            let kinds = linked.chain(catalog.of("").all());
            let of_groups = kinds.filter(|kind| groups.contains(&kind.group.as_str()));
            of_groups.map(|kind: Arc<_>| source(&kind.group, &kind.names.plural, *planes)).collect()
        }
    }
}
