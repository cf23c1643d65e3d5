//! The objects of a plane at one moment, as answers and controllers look at them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use krm::Object;
use krm::kind::{
    Address, Bucket, Parsed, Parser, QueryContext, SHOWN_TO_ALL, SHOWN_TO_PROJECT, definition_of,
    has_namespaces,
};
use store::{Entry, Key, Snapshot};

use crate::api::Api;
use crate::call::Call;
use crate::encode;
use crate::index;
use crate::keys::{self, Parts};
use crate::past::as_of::Shown;
use crate::plane::Plane;
use crate::sight::Sight;

/// The objects of a plane at one moment: all of them, or those that whoever asks may read.
pub struct Seen {
    api: Api,
    plane: Plane,
    snapshot: Snapshot,
    /// The objects of the root that are shown to the plane, where the snapshot is of the past.
    root: Option<Arc<Shown>>,
    sight: Option<Sight>,
}

impl Seen {
    /// All objects of a plane, for the server's own work.
    pub fn everything(api: &Api, plane: &Plane, snapshot: Snapshot) -> Seen {
        Seen { api: api.clone(), plane: plane.clone(), snapshot, root: None, sight: None }
    }

    /// The objects that whoever makes a call may read. With a snapshot of the past come the objects of the root that were
    /// shown to the plane then.
    pub fn by(call: &Call, snapshot: Snapshot, root: Option<Arc<Shown>>) -> Seen {
        let sight = Some(Sight::new(&call.api, &call.plane, &call.who));
        Seen { sight, root, ..Seen::everything(&call.api, &call.plane, snapshot) }
    }

    /// Whether everything that was read and withheld was so by the rights of one moment.
    pub fn still_holds(&self) -> bool {
        self.sight.as_ref().is_none_or(Sight::still_holds)
    }

    /// Whether an object that exists may be read.
    fn shows(&self, key: &Key) -> bool {
        self.sight.as_ref().is_none_or(|sight| sight.sees(key))
    }

    /// Whether all objects of a kind without namespaces may be read.
    fn shows_all(&self, group: &str, plural: &str) -> bool {
        self.sight.as_ref().is_none_or(|sight| sight.sees_all(group, plural, ""))
    }

    /// Of `total` objects of a kind without namespaces, those that the rights of whoever asks name one by one, without a look at
    /// the others. Nothing where rights don't name each.
    fn named(
        &self,
        group: &str,
        plural: &str,
        total: usize,
        is_among: impl Fn(&Key) -> bool,
    ) -> Option<Vec<Key>> {
        let sight = self.sight.as_ref()?;
        let count = |prefix: String| self.snapshot.count(prefix.as_bytes());
        let without_namespace = count(keys::in_namespace(&self.plane, group, plural, ""));
        if without_namespace != count(keys::of_kind(&self.plane, group, plural)) {
            return None;
        }
        let mut keys = sight.named(group, plural)?;
        keys.retain(|key| is_among(key));
        if keys.len() < total {
            sight.withhold();
        }
        Some(keys)
    }

    /// The same of the objects of a kind.
    fn named_of_kind(&self, group: &str, plural: &str) -> Option<Vec<Key>> {
        let total = self.snapshot.count(keys::of_kind(&self.plane, group, plural).as_bytes());
        self.named(group, plural, total, |key| self.snapshot.get(key).is_some())
    }

    /// The same of the objects with a term.
    fn named_having(&self, group: &str, plural: &str, term: &[u8]) -> Option<Vec<Key>> {
        let has =
            |key: &Key| self.snapshot.having_after(term, key.as_bytes(), None).any(|found| found == key);
        self.named(group, plural, self.snapshot.count_having(term), has)
    }

    fn read(&self, key: &Key) -> Option<Arc<Object>> {
        self.snapshot.get(key).filter(|_| self.shows(key))?;
        self.read_withheld(key)
    }

    /// Reads an object whether it may be read or not.
    fn read_withheld(&self, key: &Key) -> Option<Arc<Object>> {
        self.open(key, self.snapshot.get(key)?)
    }

    fn open(&self, key: &Key, entry: &Entry) -> Option<Arc<Object>> {
        let bytes = self.api.reveal(key, entry).ok()?;
        let object = encode::read(&bytes).ok()?;
        Some(Arc::new(self.api.kinds().in_storage_version(key, object)))
    }

    /// A bucket that no kind declares is empty: whoever reads it has made a mistake.
    fn term(&self, bucket: Bucket, value: &str) -> bytes::Bytes {
        debug_assert!(self.api.kinds().declares(bucket), "no kind declares the bucket {bucket}");
        index::in_bucket(&self.plane, bucket, value)
    }

    fn having(&self, term: &bytes::Bytes) -> Vec<Arc<Object>> {
        self.snapshot.having(term).filter_map(|key| self.read(key)).collect()
    }

    fn read_as(&self, key: &Key, parser: Parser) -> Option<Parsed> {
        let entry = self.snapshot.get(key).filter(|_| self.shows(key))?;
        let parse = || (parser.parse)(&*self.read_withheld(key)?);
        if entry.is_sealed() {
            return parse();
        }
        // Shared by all who ask: what is kept is the object, never whether it may be read.
        self.api.parsed().get(key, entry.version(), entry.bytes().len(), parse)
    }
}

/// The objects of the root that questions of a plane may be answered from.
pub fn shown_in_root(snapshot: &Snapshot, plane: &Plane) -> Vec<Key> {
    if plane.is_root() {
        return Vec::new();
    }
    let shown = [plane.as_str(), SHOWN_TO_ALL].into_iter().flat_map(|to| {
        let term = index::in_bucket(&Plane::root(), SHOWN_TO_PROJECT, to);
        snapshot.having(&term).cloned().collect::<Vec<Key>>()
    });
    shown.collect()
}

fn names<'k>(keys: impl IntoIterator<Item = &'k Key>) -> Vec<String> {
    keys.into_iter().filter_map(|key| keys::parts(key).map(|parts| parts.name.to_owned())).collect()
}

impl QueryContext for Seen {
    fn get(&self, at: &Address) -> Option<Arc<Object>> {
        self.read(&keys::object(&self.plane, at).ok()?)
    }

    fn bucket(&self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        self.having(&self.term(bucket, value))
    }

    fn having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<Arc<Object>> {
        let of = Parts { plane: self.plane.as_str(), group, plural, namespace: "", name: "" };
        self.having(&index::field_is(&of, field, value))
    }

    fn labelled(&self, group: &str, plural: &str, label: &str, value: &str) -> Vec<Arc<Object>> {
        let of = Parts { plane: self.plane.as_str(), group, plural, namespace: "", name: "" };
        self.having(&index::label_is(&of, label, value))
    }

    fn referrers(&self, to: &Address) -> Vec<Arc<Object>> {
        self.having(&index::referring_to(&self.plane, to))
    }

    fn all(&self, group: &str, plural: &str) -> Vec<Arc<Object>> {
        let prefix = keys::of_kind(&self.plane, group, plural);
        self.snapshot.list(prefix.as_bytes()).filter_map(|(key, _)| self.read(key)).collect()
    }

    fn all_in(&self, group: &str, plural: &str, namespace: &str) -> Vec<Arc<Object>> {
        let prefix = keys::in_namespace(&self.plane, group, plural, namespace);
        self.snapshot.list(prefix.as_bytes()).filter_map(|(key, _)| self.read(key)).collect()
    }

    fn names_having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<String> {
        let of = Parts { plane: self.plane.as_str(), group, plural, namespace: "", name: "" };
        let term = index::field_is(&of, field, value);
        if let Some(keys) = self.named_having(group, plural, &term) {
            return names(&keys);
        }
        let keys = self.snapshot.having(&term).filter(|key| self.shows(key));
        names(keys)
    }

    fn count_having(&self, group: &str, plural: &str, field: &str, value: &str) -> usize {
        let of = Parts { plane: self.plane.as_str(), group, plural, namespace: "", name: "" };
        let term = index::field_is(&of, field, value);
        if self.shows_all(group, plural) {
            return self.snapshot.count_having(&term);
        }
        match self.named_having(group, plural, &term) {
            Some(keys) => keys.len(),
            None => self.snapshot.having(&term).filter(|key| self.shows(key)).count(),
        }
    }

    fn count(&self, group: &str, plural: &str) -> usize {
        let prefix = keys::of_kind(&self.plane, group, plural);
        if self.shows_all(group, plural) {
            return self.snapshot.count(prefix.as_bytes());
        }
        if let Some(keys) = self.named_of_kind(group, plural) {
            return keys.len();
        }
        self.snapshot.list(prefix.as_bytes()).filter(|(key, _)| self.shows(key)).count()
    }

    fn names(&self, group: &str, plural: &str) -> Vec<String> {
        let prefix = keys::of_kind(&self.plane, group, plural);
        if let Some(keys) = self.named_of_kind(group, plural) {
            return names(&keys);
        }
        let keys = self.snapshot.list(prefix.as_bytes()).map(|(key, _)| key);
        names(keys.filter(|key| self.shows(key)))
    }

    fn version(&self, at: &Address) -> Option<u64> {
        let key = keys::object(&self.plane, at).ok()?;
        self.snapshot.get(&key).filter(|_| self.shows(&key)).map(|entry| entry.version().get())
    }

    fn bucket_version(&self, bucket: Bucket, value: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        let keys = self.snapshot.having(&self.term(bucket, value));
        // What may not be read does not count: the number would tell that it changed.
        for key in keys.filter(|key| self.shows(key)) {
            key.as_bytes().hash(&mut hasher);
            self.snapshot.get(key).map(|entry| entry.version().get()).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn places(&self, bucket: Bucket, value: &str) -> Vec<Address> {
        let keys = self.snapshot.having(&self.term(bucket, value));
        let keys = keys.filter(|key| self.shows(key));
        keys.filter_map(|key| keys::parts(key).map(|parts| parts.address())).collect()
    }

    fn shown_in_root(&self, group: &str, plural: &str) -> Vec<Arc<Object>> {
        if self.plane.is_root() {
            return Vec::new();
        }
        let of_kind = keys::of_kind(&Plane::root(), group, plural);
        let is_of_kind = |key: &Key| key.as_bytes().starts_with(of_kind.as_bytes());
        match &self.root {
            None => {
                let keys = shown_in_root(&self.snapshot, &self.plane);
                keys.iter().filter(|key| is_of_kind(key)).filter_map(|key| self.read_withheld(key)).collect()
            }
            Some(then) => {
                let entries = then.iter().filter(|(key, _)| is_of_kind(key));
                entries.filter_map(|(key, entry)| self.open(key, entry)).collect()
            }
        }
    }

    fn parsed(&self, name: &str, parser: Parser) -> Option<Parsed> {
        self.read_as(&keys::object(&self.plane, &parser.address(name)).ok()?, parser)
    }

    fn bucket_parsed(&self, bucket: Bucket, value: &str, parser: Parser) -> Vec<Parsed> {
        let term = self.term(bucket, value);
        let of_kind = keys::of_kind(&self.plane, parser.group, parser.plural);
        let found = self.snapshot.having_after(&term, of_kind.as_bytes(), None);
        found.filter_map(|key| self.read_as(key, parser)).collect()
    }

    fn versions_in(&self, group: &str, plural: &str, namespace: &str) -> Vec<(String, u64)> {
        let prefix = keys::in_namespace(&self.plane, group, plural, namespace);
        let sees_all = self.sight.as_ref().is_none_or(|sight| sight.sees_all(group, plural, namespace));
        let entries = self.snapshot.list(prefix.as_bytes()).filter(|(key, _)| sees_all || self.shows(key));
        let of = |(key, entry): (&Key, &Arc<store::Entry>)| {
            Some((keys::parts(key)?.name.to_owned(), entry.version().get()))
        };
        entries.filter_map(of).collect()
    }

    fn recall(&self, key: &str) -> Option<Parsed> {
        self.api.answers().get(&format!("{}/{key}", self.plane.as_str()))
    }

    fn keep(&self, key: &str, value: Parsed) {
        self.api.answers().put(format!("{}/{key}", self.plane.as_str()), value);
    }

    fn is_defined_in_namespaces(&self, group: &str, plural: &str) -> bool {
        let key = keys::object(&self.plane, &definition_of(group, plural)).ok();
        let definition = key.and_then(|key| self.read_withheld(&key));
        definition.is_some_and(|definition| has_namespaces(&definition))
    }

    fn is_incomplete(&self) -> bool {
        self.sight.as_ref().is_some_and(Sight::has_withheld)
    }
}
