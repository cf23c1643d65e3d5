//! The world that a remote plan sees: a snapshot of the caches.
//!
//! What is not followed yet is noted. A plan that has read any of it does not count: it is made again once the first list of
//! that is whole.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Bucket, Kind, Planes, QueryContext};
use krm::selector::field_texts;
use krm::time::Moment;
use reconcile::context::{Kinds, World};
use reconcile::metadata;
use reconcile::read::What;
use reconcile::target::Target;

use crate::cache::{Entry, Snapshot};
use crate::catalog::{Catalog, Served};
use crate::place::{self, Place};
use crate::source::Source;

/// What has to be known before a plan can be made.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    /// Resources that are not followed, or not wholly.
    pub sources: BTreeSet<Source>,
    /// Planes whose kinds are not known.
    pub planes: BTreeSet<String>,
    /// What can't be answered outside of the server.
    pub unanswerable: Option<&'static str>,
}

impl Missing {
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.planes.is_empty() && self.unanswerable.is_none()
    }
}

/// The world as a snapshot of the caches shows it.
pub(crate) struct CacheWorld<'a> {
    catalog: &'a Catalog,
    snapshot: Snapshot,
    /// Whether kinds are followed in all planes at once.
    in_all_planes: bool,
    /// Resources whose objects the controller creates: what an object owns is looked for among them, besides what is followed.
    creates: &'a [(String, String)],
    missing: RefCell<Missing>,
}

impl<'a> CacheWorld<'a> {
    pub fn new(
        catalog: &'a Catalog,
        snapshot: Snapshot,
        in_all_planes: bool,
        creates: &'a [(String, String)],
    ) -> CacheWorld<'a> {
        CacheWorld { catalog, snapshot, in_all_planes, creates, missing: RefCell::default() }
    }

    /// What was read and is not known.
    pub fn into_missing(self) -> Missing {
        self.missing.into_inner()
    }

    /// Whether the objects of a resource in a plane are all at hand. A resource that is not served has none.
    fn has(&self, plane: &str, group: &str, plural: &str) -> bool {
        let everywhere = Source::everywhere(group, plural);
        if self.snapshot.is_whole(&everywhere) {
            return true;
        }
        let kinds = self.catalog.of(plane);
        let Some(kind) = kinds.resource(group, plural) else {
            if !kinds.is_discovered() {
                self.missing.borrow_mut().planes.insert(plane.to_owned());
            }
            return false;
        };
        let is_shared = self.in_all_planes && kinds.is_linked(group, plural) && kind.planes != Planes::Root;
        let is_begun = self.snapshot.followed.contains_key(&everywhere);
        let source = match is_shared || is_begun {
            true => everywhere,
            false => Source::in_plane(plane, group, plural),
        };
        let is_whole = self.snapshot.is_whole(&source);
        if !is_whole {
            self.missing.borrow_mut().sources.insert(source);
        }
        is_whole
    }

    /// The same for all kinds of a plane that the program links and that are meant.
    fn has_all(&self, plane: &str, is_meant: impl Fn(&Kind) -> bool) {
        let meant: Vec<_> = self.catalog.linked().into_iter().filter(|kind| is_meant(kind)).collect();
        for kind in meant {
            let is_served = match kind.planes {
                Planes::Both => true,
                Planes::Root => plane.is_empty(),
                Planes::Project => !plane.is_empty(),
            };
            if is_served {
                self.has(plane, &kind.group, &kind.names.plural);
            }
        }
    }

    fn cannot(&self, why: &'static str) {
        self.missing.borrow_mut().unanswerable.get_or_insert(why);
    }
}

impl World for CacheWorld<'_> {
    fn look(&self, plane: &str) -> Box<dyn QueryContext + '_> {
        Box::new(InPlane { world: self, plane: plane.to_owned() })
    }

    fn kinds(&self, plane: &str) -> Box<dyn Kinds + '_> {
        Box::new(AskedKinds { world: self, plane: plane.to_owned(), kinds: self.catalog.of(plane) })
    }

    fn metadata(&self, target: &Target) -> Option<Object> {
        self.has(&target.plane, &target.at.group, &target.at.plural);
        metadata::read(self.snapshot.get(&Place::of(target))?.bytes())
    }

    fn born(&self, target: &Target) -> Option<u64> {
        self.has(&target.plane, &target.at.group, &target.at.plural);
        let object = self.snapshot.get(&Place::of(target))?.object()?;
        let born = Moment::parse(object.meta_text("creationTimestamp")).ok()?;
        Some(u64::try_from(born.seconds).ok()? * 1_000_000)
    }

    fn owned(&self, plane: &str, uid: &str) -> Vec<Target> {
        for (group, plural) in self.creates {
            self.has(plane, group, plural);
        }
        self.snapshot.having(&What::Owned(plane, uid)).map(Place::target).collect()
    }

    fn of_kind(&self, plane: &str, group: &str, plural: &str) -> Vec<Target> {
        self.has(plane, group, plural);
        let prefix = place::of_resource(plane, group, plural);
        self.snapshot.under(&prefix).map(|(place, _)| place.target()).collect()
    }

    fn in_namespace(&self, _: &str, _: &str) -> Vec<Target> {
        self.cannot("everything in a namespace can only be listed in the server");
        Vec::new()
    }

    fn in_plane(&self, _: &str) -> Vec<Target> {
        self.cannot("everything in a control plane can only be listed in the server");
        Vec::new()
    }
}

/// The kinds of a plane; asking for one that is not known asks discovery.
struct AskedKinds<'a> {
    world: &'a CacheWorld<'a>,
    plane: String,
    kinds: Served<'a>,
}

impl AskedKinds<'_> {
    fn known<T>(&self, found: Option<T>) -> Option<T> {
        if found.is_none() && !self.kinds.is_discovered() {
            self.world.missing.borrow_mut().planes.insert(self.plane.clone());
        }
        found
    }
}

impl Kinds for AskedKinds<'_> {
    fn kind(&self, group: &str, kind: &str) -> Option<Arc<Kind>> {
        self.known(self.kinds.kind(group, kind))
    }

    fn resource(&self, group: &str, plural: &str) -> Option<Arc<Kind>> {
        self.known(self.kinds.resource(group, plural))
    }

    fn all(&self) -> Vec<Arc<Kind>> {
        self.known(self.kinds.is_discovered().then_some(()));
        self.kinds.all()
    }
}

/// The objects of one plane.
struct InPlane<'a> {
    world: &'a CacheWorld<'a>,
    plane: String,
}

impl InPlane<'_> {
    fn entry(&self, at: &Address) -> Option<&Arc<Entry>> {
        self.world.has(&self.plane, &at.group, &at.plural);
        self.world.snapshot.get(&Place::of(&Target::new(self.plane.as_str(), at.clone())))
    }

    fn having(&self, what: &What<'_>) -> Vec<Arc<Object>> {
        self.world.snapshot.having(what).filter_map(|place| self.read(place)).collect()
    }

    fn read(&self, place: &Place) -> Option<Arc<Object>> {
        self.world.snapshot.get(place)?.object().map(Arc::new)
    }

    fn under(&self, prefix: &str) -> Vec<Arc<Object>> {
        let found = self.world.snapshot.under(prefix);
        found.filter_map(|(_, entry)| entry.object().map(Arc::new)).collect()
    }

    fn of_bucket(&self, bucket: Bucket) {
        self.world.has_all(&self.plane, |kind| kind.buckets.iter().any(|(name, _)| *name == bucket));
    }
}

impl QueryContext for InPlane<'_> {
    fn get(&self, at: &Address) -> Option<Arc<Object>> {
        self.entry(at)?.object().map(Arc::new)
    }

    fn bucket(&self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        self.of_bucket(bucket);
        self.having(&What::Bucket(&self.plane, bucket, value))
    }

    fn having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<Arc<Object>> {
        self.world.has(&self.plane, group, plural);
        let kind = self.world.catalog.of(&self.plane).resource(group, plural);
        if kind.is_some_and(|kind| kind.stored().selectable.iter().any(|found| found == field)) {
            return self.having(&What::Field(&self.plane, group, plural, field, value));
        }
        // Of a kind that only discovery tells of, no field is indexed.
        let is_so = |object: &Arc<Object>| field_texts(object, field).iter().any(|text| text == value);
        self.all(group, plural).into_iter().filter(is_so).collect()
    }

    fn labelled(&self, group: &str, plural: &str, label: &str, value: &str) -> Vec<Arc<Object>> {
        self.world.has(&self.plane, group, plural);
        self.having(&What::Label(&self.plane, group, plural, label, value))
    }

    fn referrers(&self, to: &Address) -> Vec<Arc<Object>> {
        self.world.has_all(&self.plane, |kind| {
            let mut references = kind.references.iter();
            references.any(|reference| reference.group == to.group && reference.plural == to.plural)
        });
        self.having(&What::Referrers(&self.plane, to))
    }

    fn all(&self, group: &str, plural: &str) -> Vec<Arc<Object>> {
        self.world.has(&self.plane, group, plural);
        self.under(&place::of_resource(&self.plane, group, plural))
    }

    fn all_in(&self, group: &str, plural: &str, namespace: &str) -> Vec<Arc<Object>> {
        self.world.has(&self.plane, group, plural);
        self.under(&place::in_namespace(&self.plane, group, plural, namespace))
    }

    fn count(&self, group: &str, plural: &str) -> usize {
        self.world.has(&self.plane, group, plural);
        self.world.snapshot.under(&place::of_resource(&self.plane, group, plural)).count()
    }

    fn names(&self, group: &str, plural: &str) -> Vec<String> {
        self.world.of_kind(&self.plane, group, plural).into_iter().map(|target| target.at.name).collect()
    }

    fn version(&self, at: &Address) -> Option<u64> {
        self.entry(at).map(|entry| entry.version)
    }

    fn bucket_version(&self, bucket: Bucket, value: &str) -> u64 {
        self.of_bucket(bucket);
        let mut hasher = DefaultHasher::new();
        for place in self.world.snapshot.having(&What::Bucket(&self.plane, bucket, value)) {
            let version = self.world.snapshot.get(place).map(|entry| entry.version);
            (place.as_str(), version).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn places(&self, bucket: Bucket, value: &str) -> Vec<Address> {
        self.of_bucket(bucket);
        let found = self.world.snapshot.having(&What::Bucket(&self.plane, bucket, value));
        found.map(|place| place.target().at).collect()
    }
}

#[cfg(test)]
mod tests {
    use krm::kind::{Scope, Version};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_wholly_listed_is_noted_and_what_is_not_served_needs_no_list() {
        let version = Version::new("v1", json!({"type": "object"})).unwrap();
        let catalog = Catalog::new(vec![Kind::new("example.com", "Book", "books", Scope::Cluster, version)]);
        let source = Source::in_plane("", "example.com", "books");
        let missing = |snapshot: &Snapshot, group: &str| {
            let world = CacheWorld::new(&catalog, snapshot.clone(), false, &[]);
            assert_eq!(world.look("").count(group, "books"), 0);
            world.into_missing()
        };
        let mut snapshot = Snapshot::default();
        assert_eq!(missing(&snapshot, "example.com").sources, BTreeSet::from([source.clone()]));
        snapshot.note(&source, |followed| followed.version = 7);
        assert_eq!(
            missing(&snapshot, "example.com").sources,
            BTreeSet::from([source.clone()]),
            "half a list"
        );
        snapshot.note(&source, |followed| followed.is_whole = true);
        assert!(missing(&snapshot, "example.com").is_empty());
        let unknown = missing(&snapshot, "other.example.com");
        assert_eq!(unknown.planes, BTreeSet::from([String::new()]), "discovery has to tell");
        let world = CacheWorld::new(&catalog, snapshot, false, &[]);
        assert!(world.in_plane("").is_empty());
        assert!(world.into_missing().unanswerable.is_some());
    }
}
