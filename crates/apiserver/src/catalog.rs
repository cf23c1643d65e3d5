//! The kinds that a plane serves: built-in ones and custom resources.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwap;
use krm::kind::{Kind, Planes};
use krm::sparse::Sparse;

use crate::keys;
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
    /// What objects of the kinds that ship are found by, by the part of their keys that names the kind.
    shipped: HashMap<String, (Arc<Kind>, FoundBy)>,
    /// The same of kinds that users defined, by the beginning of their keys.
    defined: ArcSwap<HashMap<String, Arc<FoundBy>>>,
    /// What every object is found by.
    anything: Arc<FoundBy>,
    /// How long the past of each is kept.
    pub retention: Policies,
}

/// What objects of a kind are found by, besides labels and owners.
#[derive(Default)]
pub struct FoundBy {
    /// Fields that hold a text.
    pub fields: Vec<String>,
    /// Reads those out of an object, with its labels and owners.
    pub sparse: Sparse,
}

impl FoundBy {
    fn fields(fields: Vec<String>) -> FoundBy {
        let paths = fields.iter().map(String::as_str);
        let always = ["deletionTimestamp", "labels", "name", "ownerReferences"]
            .map(|field| format!("metadata.{field}"));
        let sparse = Sparse::new(always.iter().map(String::as_str).chain(paths));
        FoundBy { fields, sparse }
    }
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
            shipped: built_in.iter().map(shipped).collect(),
            defined: ArcSwap::default(),
            anything: Arc::new(FoundBy::fields(Vec::new())),
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
        let fields = kind.versions.iter().flat_map(|version| &version.selectable);
        let of = keys::of_kind(plane, &kind.group, &kind.names.plural);
        self.select_fields(of, fields.map(String::as_str))
    }

    /// The same for a kind that is named by the beginning of its objects' keys.
    pub fn select_fields<'a>(&self, of: String, fields: impl Iterator<Item = &'a str>) -> bool {
        let known = self.defined.load().get(&of).map(|found| found.fields.clone()).unwrap_or_default();
        let mut all = known.clone();
        for field in fields {
            if !all.iter().any(|known| known == field) {
                all.push(field.to_owned());
            }
        }
        if all == known {
            return false;
        }
        let found_by = Arc::new(FoundBy::fields(all));
        self.defined.rcu(|defined| {
            let mut defined = HashMap::clone(defined);
            defined.insert(of.clone(), found_by.clone());
            defined
        });
        true
    }

    /// A kind that ships, and what its objects are found by, by the beginning of their keys.
    pub fn shipped(&self, of_kind: &str) -> Option<(&Arc<Kind>, &FoundBy)> {
        let (plane, at) = of_kind.split_once('/')?;
        let (kind, found_by) = self.shipped.get(at)?;
        let here = if plane.is_empty() { Planes::Root } else { Planes::Project };
        (kind.planes == here || kind.planes == Planes::Both).then_some((kind, found_by))
    }

    /// What objects of a kind that users defined are found by, by the beginning of their keys.
    pub fn defined(&self, of_kind: &str) -> Arc<FoundBy> {
        self.defined.load().get(of_kind).unwrap_or(&self.anything).clone()
    }

    /// The fields that objects of a kind that users defined are found by.
    pub fn selected(&self, plane: &Plane, group: &str, plural: &str) -> Vec<String> {
        self.defined(&keys::of_kind(plane, group, plural)).fields.clone()
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

fn shipped(kind: &Arc<Kind>) -> (String, (Arc<Kind>, FoundBy)) {
    let at = format!("{}/{}/", kind.group, kind.names.plural);
    (at, (kind.clone(), FoundBy::fields(kind.stored().selectable.clone())))
}
