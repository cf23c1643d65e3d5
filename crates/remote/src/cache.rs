//! The objects that are followed, as bytes, with an index of what can be read of them.
//!
//! A snapshot is a clone of persistent maps: plans look at one moment while changes go on. An object is kept as its JSON; it is
//! parsed when a plan reads it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use krm::Object;
use krm::kind::Kind;
use reconcile::read::{What, visit_content};

use crate::place::Place;
use crate::source::Source;

/// Something that objects can be found by: 128 bits, keyed at random, so that no two are the same by chance or by design.
type Term = (u64, u64);

/// Makes terms.
#[derive(Clone, Default)]
pub(crate) struct Terms(Arc<(RandomState, RandomState)>);

impl Terms {
    fn of(&self, what: &What<'_>) -> Term {
        (self.0.0.hash_one(what), self.0.1.hash_one(what))
    }
}

/// An object as it is kept.
pub(crate) struct Entry {
    /// Its resource version.
    pub version: u64,
    bytes: Box<[u8]>,
}

impl Entry {
    pub fn new(object: &Object) -> Entry {
        let bytes = serde_json::to_vec(&object.0).unwrap_or_default().into_boxed_slice();
        Entry { version: version_of(object), bytes }
    }

    pub fn object(&self) -> Option<Object> {
        serde_json::from_slice(&self.bytes).ok().map(Object)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The number of an object's resource version. Those of one server are ordered.
pub(crate) fn version_of(object: &Object) -> u64 {
    object.resource_version().parse().unwrap_or(0)
}

/// How far a source is followed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Followed {
    /// Whether its first list is whole. Until then nothing of it may be shown.
    pub is_whole: bool,
    /// Everything up to this resource version is in the cache.
    pub version: u64,
    /// Why it can't be followed now.
    pub problem: Option<Arc<str>>,
}

/// How much a cache holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Objects.
    pub objects: usize,
    /// Bytes of their JSON.
    pub bytes: usize,
    /// Entries of the index.
    pub terms: usize,
}

/// Everything that is followed, at one moment.
#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    objects: OrdMap<Place, Arc<Entry>>,
    terms: OrdSet<(Term, Place)>,
    hasher: Terms,
    /// The sources, and how far they are followed.
    pub followed: Arc<BTreeMap<Source, Followed>>,
    /// Counts changes.
    pub sequence: u64,
}

impl Snapshot {
    /// An object.
    pub fn get(&self, place: &Place) -> Option<&Arc<Entry>> {
        self.objects.get(place)
    }

    /// The objects whose places begin with a prefix, in order.
    pub fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a Place, &'a Arc<Entry>)> {
        let from = self.objects.range(Place::before(prefix)..);
        from.take_while(move |(place, _)| place.as_str().starts_with(prefix))
    }

    /// All objects, in order.
    pub fn all(&self) -> impl Iterator<Item = (&Place, &Arc<Entry>)> {
        self.objects.iter()
    }

    /// The places of the objects that can be found by something, in order.
    pub fn having<'a>(&'a self, what: &What<'_>) -> impl Iterator<Item = &'a Place> + use<'a> {
        let term = self.hasher.of(what);
        let from = self.terms.range((term, Place::before(""))..);
        from.take_while(move |(found, _)| *found == term).map(|(_, place)| place)
    }

    /// Puts an object, or takes it away. `before` is the one that is there.
    pub fn set(&mut self, place: &Place, kind: &Kind, before: Option<&Object>, after: Option<&Object>) {
        let plane = place.plane().to_owned();
        if let Some(before) = before {
            visit_content(&plane, kind, before, &mut |what| {
                self.terms.remove(&(self.hasher.of(&what), place.clone()));
            });
        }
        match after {
            None => drop(self.objects.remove(place)),
            Some(after) => {
                visit_content(&plane, kind, after, &mut |what| {
                    self.terms.insert((self.hasher.of(&what), place.clone()));
                });
                self.objects.insert(place.clone(), Arc::new(Entry::new(after)));
            }
        }
    }

    /// Changes what is known of a source.
    pub fn note(&mut self, source: &Source, change: impl FnOnce(&mut Followed)) {
        change(Arc::make_mut(&mut self.followed).entry(source.clone()).or_default());
    }

    /// Whether the first list of a source is whole.
    pub fn is_whole(&self, source: &Source) -> bool {
        self.followed.get(source).is_some_and(|followed| followed.is_whole)
    }

    /// How much it holds.
    pub fn size(&self) -> Size {
        let bytes = self.objects.values().map(|entry| entry.bytes().len()).sum();
        Size { objects: self.objects.len(), bytes, terms: self.terms.len() }
    }
}

#[cfg(test)]
mod tests {
    use krm::kind::{Address, Bucket, Scope, Version};
    use reconcile::target::Target;
    use serde_json::json;

    use super::*;

    const AUTHOR: Bucket = Bucket::new("example.com/author");

    fn kind() -> Kind {
        let version = Version::new("v1", json!({"type": "object"})).unwrap();
        let mut kind = Kind::new("example.com", "Book", "books", Scope::Cluster, version);
        kind.buckets.push((
            AUTHOR,
            Arc::new(|book: &Object| {
                book.at("spec.author").and_then(|it| it.as_str()).map(str::to_owned).into_iter().collect()
            }),
        ));
        kind
    }

    fn place(number: u64) -> Place {
        let [group, plural, namespace] = ["example.com", "books", ""].map(str::to_owned);
        Place::of(&Target::new("", Address { group, plural, namespace, name: format!("book-{number:03}") }))
    }

    fn book(number: u64, author: u64, label: u64, version: u64) -> Object {
        let value = json!({
            "metadata": {
                "name": format!("book-{number:03}"), "resourceVersion": version.to_string(),
                "labels": {"shelf": label.to_string()},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Shelf", "name": "s", "uid": label.to_string()}],
            },
            "spec": {"author": author.to_string()},
        });
        Object::from_value(value).unwrap()
    }

    /// Whatever comes, changes and goes: the index finds what a look at all objects finds, and an older snapshot stays as it was.
    #[test]
    fn the_index_finds_what_a_scan_finds() {
        let (kind, mut snapshot, mut plain) =
            (kind(), Snapshot::default(), BTreeMap::<u64, (u64, u64)>::new());
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let names = |snapshot: &Snapshot, what: &What<'_>| -> Vec<String> {
            snapshot.having(what).map(|place| place.target().at.name).collect()
        };
        for version in 1..4_000 {
            let number = random(40);
            let before = snapshot.get(&place(number)).and_then(|entry| entry.object());
            let (author, label) = (random(5), random(5));
            let after = (random(4) > 0).then(|| book(number, author, label, version));
            let earlier = (snapshot.clone(), snapshot.size());
            snapshot.set(&place(number), &kind, before.as_ref(), after.as_ref());
            match after {
                Some(_) => drop(plain.insert(number, (author, label))),
                None => drop(plain.remove(&number)),
            }
            assert_eq!(earlier.0.size(), earlier.1);
            let text = random(5);
            let by = |is_so: &dyn Fn(&(u64, u64)) -> bool| -> Vec<String> {
                plain
                    .iter()
                    .filter(|(_, it)| is_so(it))
                    .map(|(number, _)| format!("book-{number:03}"))
                    .collect()
            };
            let word = text.to_string();
            assert_eq!(names(&snapshot, &What::Bucket("", AUTHOR, &word)), by(&|it| it.0 == text));
            assert_eq!(names(&snapshot, &What::Owned("", &word)), by(&|it| it.1 == text));
            let label = What::Label("", "example.com", "books", "shelf", &word);
            assert_eq!(names(&snapshot, &label), by(&|it| it.1 == text));
            assert_eq!(snapshot.under("/example.com/books/").count(), plain.len());
        }
        let size = snapshot.size();
        assert_eq!((size.objects, size.terms), (plain.len(), plain.len() * 3), "nothing is left behind");
    }
}
