//! The kinds that a plane serves: those that ship, and those its users defined.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwap;
use krm::kind::{Kind, Planes};

use crate::plane::Plane;
use crate::retention::Policies;

/// The kinds of one plane at one moment.
#[derive(Default)]
pub struct Catalog {
    /// By group and plural, groups in the order in which discovery lists them.
    kinds: BTreeMap<(String, String), Arc<Kind>>,
    by_kind: HashMap<(String, String), Arc<Kind>>,
    /// Changes with every change of the catalog.
    pub edition: u64,
}

impl Catalog {
    /// A catalog of these kinds.
    pub fn new(kinds: impl IntoIterator<Item = Arc<Kind>>, edition: u64) -> Catalog {
        let mut catalog = Catalog { edition, ..Catalog::default() };
        for kind in kinds {
            let by_kind = (kind.group.clone(), kind.names.kind.clone());
            catalog.by_kind.insert(by_kind, kind.clone());
            catalog.kinds.insert((kind.group.clone(), kind.names.plural.clone()), kind);
        }
        catalog
    }

    /// A kind by its group and plural.
    pub fn resource(&self, group: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.kinds.get(&(group.to_owned(), plural.to_owned()))
    }

    /// A kind by its group and name.
    pub fn kind(&self, group: &str, kind: &str) -> Option<&Arc<Kind>> {
        self.by_kind.get(&(group.to_owned(), kind.to_owned()))
    }

    /// All kinds, by group and plural.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.kinds.values()
    }

    /// The kinds of a group.
    pub fn group<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a Arc<Kind>> {
        self.kinds
            .range((group.to_owned(), String::new())..)
            .take_while(move |((found, _), _)| found == group)
            .map(|(_, kind)| kind)
    }
}

/// The catalogs of all planes.
pub struct Kinds {
    built_in: Vec<Arc<Kind>>,
    root: ArcSwap<Catalog>,
    /// What every project has before it defines kinds of its own.
    project: Arc<Catalog>,
    projects: ArcSwap<HashMap<Plane, Arc<Catalog>>>,
    /// By which fields objects of kinds that users defined are found.
    selectable: ArcSwap<HashMap<(Plane, String, String), Vec<String>>>,
    /// How long the past of each is kept.
    pub retention: Policies,
}

impl Kinds {
    /// The kinds that ship.
    pub fn new(built_in: Vec<Kind>) -> Kinds {
        let built_in: Vec<Arc<Kind>> = built_in.into_iter().map(Arc::new).collect();
        let of = |plane: Planes| {
            let served =
                built_in.iter().filter(move |kind| kind.planes == plane || kind.planes == Planes::Both);
            Catalog::new(served.cloned(), 1)
        };
        Kinds {
            root: ArcSwap::from_pointee(of(Planes::Root)),
            project: Arc::new(of(Planes::Project)),
            projects: ArcSwap::default(),
            selectable: ArcSwap::default(),
            retention: Policies::default(),
            built_in,
        }
    }

    /// The catalog of a plane as it is now.
    pub fn of(&self, plane: &Plane) -> Arc<Catalog> {
        if plane.is_root() {
            return self.root.load_full();
        }
        self.projects.load().get(plane).unwrap_or(&self.project).clone()
    }

    /// From now on objects of a kind that users defined are also found by its selectable fields. Whether that is new:
    /// then those that are there already have to be looked at again.
    pub fn select(&self, plane: &Plane, kind: &Kind) -> bool {
        let of = (plane.clone(), kind.group.clone(), kind.names.plural.clone());
        let known = self.selectable.load().get(&of).cloned().unwrap_or_default();
        let mut all = known.clone();
        let fields = kind.versions.iter().flat_map(|version| &version.selectable);
        all.extend(fields.filter(|field| !known.contains(field)).cloned());
        if all == known {
            return false;
        }
        self.selectable.rcu(|selectable| {
            let mut selectable = HashMap::clone(selectable);
            selectable.insert(of.clone(), all.clone());
            selectable
        });
        true
    }

    /// The fields that objects of a kind that users defined are found by.
    pub fn selected(&self, plane: &Plane, group: &str, plural: &str) -> Vec<String> {
        let selectable = self.selectable.load();
        match selectable.is_empty() {
            true => Vec::new(),
            false => {
                let of = (plane.clone(), group.to_owned(), plural.to_owned());
                selectable.get(&of).cloned().unwrap_or_default()
            }
        }
    }

    /// Replaces the kinds that the users of a plane defined.
    pub fn define(&self, plane: &Plane, custom: Vec<Arc<Kind>>) {
        let here = if plane.is_root() { Planes::Root } else { Planes::Project };
        let served = self.built_in.iter().filter(|kind| kind.planes == here || kind.planes == Planes::Both);
        let catalog = Catalog::new(served.cloned().chain(custom), self.of(plane).edition + 1);
        if plane.is_root() {
            self.root.store(Arc::new(catalog));
            return;
        }
        let catalog = Arc::new(catalog);
        self.projects.rcu(|projects| {
            let mut projects = HashMap::clone(projects);
            projects.insert(plane.clone(), catalog.clone());
            projects
        });
    }
}
