//! The kinds that a plane serves: built-in ones and custom resources.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwap;
use krm::Object;
use krm::kind::{Bucket, Kind, Mistakes, Planes};
use krm::sparse::Sparse;
use store::Key;

use crate::keys;
use crate::plane::{Plane, PlaneKind};
use crate::retention::Policies;

/// The kinds of one plane at one moment.
#[derive(Default)]
pub struct Catalog {
    /// By group and plural, groups in the order in which discovery lists them.
    kinds: BTreeMap<(String, String), Arc<Kind>>,
    by_kind: HashMap<(String, String), Arc<Kind>>,
    priorities: Arc<HashMap<String, i32>>,
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

    /// The same, whose groups have these priorities.
    fn with_priorities(self, priorities: &Arc<HashMap<String, i32>>) -> Catalog {
        Catalog { priorities: priorities.clone(), ..self }
    }

    /// The priority of a group: where a plural exists in several, clients take the one that discovery lists first.
    pub fn priority(&self, group: &str) -> i32 {
        self.priorities.get(group).copied().unwrap_or(0)
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
    /// The priority of each group that has one.
    priorities: Arc<HashMap<String, i32>>,
    /// The kind whose objects have control planes.
    planes: Option<PlaneKind>,
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
    /// The kinds that ship. An error names what their declarations say that doesn't exist.
    pub fn new(built_in: Vec<Kind>) -> Result<Kinds, Mistakes> {
        Kinds::shared(built_in.into_iter().map(Arc::new).collect())
    }

    /// The kinds that ship, which other servers of this process may have as well.
    pub fn shared(built_in: Vec<Arc<Kind>>) -> Result<Kinds, Mistakes> {
        krm::kind::check(&built_in)?;
        Ok(Kinds {
            root: ArcSwap::from_pointee(served_in(&built_in, Planes::Root)),
            project: Arc::new(served_in(&built_in, Planes::Project)),
            projects: ArcSwap::default(),
            shipped: built_in.iter().map(shipped).collect(),
            defined: ArcSwap::default(),
            anything: Arc::new(FoundBy::fields(Vec::new())),
            priorities: Arc::default(),
            planes: None,
            retention: Policies::default(),
            built_in,
        })
    }

    /// The same, where the objects of a kind have control planes.
    pub fn with_planes(self, planes: Option<PlaneKind>) -> Kinds {
        Kinds { planes, ..self }
    }

    /// The same, where discovery lists groups of a higher priority earlier. Those without one have 0.
    pub fn with_priorities(self, priorities: impl IntoIterator<Item = (String, i32)>) -> Kinds {
        let priorities = Arc::new(priorities.into_iter().collect());
        let of = |plane| served_in(&self.built_in, plane).with_priorities(&priorities);
        Kinds {
            root: ArcSwap::from_pointee(of(Planes::Root)),
            project: Arc::new(of(Planes::Project)),
            priorities,
            ..self
        }
    }

    /// The kind whose objects have control planes, if there is one.
    pub fn planes(&self) -> Option<&PlaneKind> {
        self.planes.as_ref()
    }

    /// Whether the kind whose objects have control planes is one of this group.
    pub fn has_planes(&self, group: &str) -> bool {
        self.planes.is_some_and(|planes| planes.group == group)
    }

    /// What all paths of a plane begin with; nothing for the root.
    pub fn path_of(&self, plane: &Plane) -> String {
        self.planes.map(|planes| planes.path(plane)).unwrap_or_default()
    }

    /// The catalog of a plane as it is now.
    pub fn of(&self, plane: &Plane) -> Arc<Catalog> {
        if plane.is_root() {
            return self.root.load_full();
        }
        self.projects.load().get(plane).unwrap_or(&self.project).clone()
    }

    /// The kinds that every project has.
    pub fn of_projects(&self) -> Arc<Catalog> {
        self.project.clone()
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

    /// The kinds that ship.
    pub fn built_in(&self) -> &[Arc<Kind>] {
        &self.built_in
    }

    /// Whether any kind that ships declares a bucket.
    pub fn declares(&self, bucket: Bucket) -> bool {
        self.built_in.iter().any(|kind| kind.buckets.iter().any(|(declared, _)| *declared == bucket))
    }

    /// A stored object in the version in which objects of its kind are stored today. One that can't be converted stays as
    /// it is: who reads it as its type finds that it can't be read.
    pub fn in_storage_version(&self, key: &Key, object: Object) -> Object {
        let kind = keys::kind(key).and_then(|of_kind| self.shipped(of_kind)).map(|(kind, _)| kind);
        match kind.and_then(|kind| kind.conversion.as_ref()) {
            Some(conversion) if !conversion.is_stored(&object) => {
                conversion.to_stored(object.clone()).unwrap_or(object)
            }
            _ => object,
        }
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
        let catalog = Catalog::new(served.cloned().chain(custom), self.of(plane).edition + 1)
            .with_priorities(&self.priorities);
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

fn served_in(kinds: &[Arc<Kind>], plane: Planes) -> Catalog {
    let served = kinds.iter().filter(|kind| kind.planes == plane || kind.planes == Planes::Both);
    Catalog::new(served.cloned(), 1)
}

fn shipped(kind: &Arc<Kind>) -> (String, (Arc<Kind>, FoundBy)) {
    let at = format!("{}/{}/", kind.group, kind.names.plural);
    (at, (kind.clone(), FoundBy::fields(kind.stored().selectable.clone())))
}
