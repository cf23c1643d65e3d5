//! An in-memory inventory with the same indexes as the server: buckets, references and fields.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use krm::Object;
use krm::kind::{Address, Bucket, Kind, QueryContext};
use krm::selector::field_texts;

use crate::kinds;

static KINDS: LazyLock<BTreeMap<String, Kind>> =
    LazyLock::new(|| kinds::all().into_iter().map(|kind| (kind.names.kind.clone(), kind)).collect());

/// An in-memory inventory that answers the same queries as a server. It records what was read.
pub struct Memory {
    objects: BTreeMap<(String, String), Arc<Object>>,
    found: BTreeMap<String, Vec<Arc<Object>>>,
    read: RefCell<BTreeSet<String>>,
}

impl Memory {
    /// An inventory of these objects. Objects of other kinds are ignored.
    pub fn of(objects: Vec<Object>) -> Memory {
        let (objects_by_name, read) = (BTreeMap::new(), RefCell::default());
        let mut memory = Memory { objects: objects_by_name, found: BTreeMap::new(), read };
        for object in objects {
            memory.add(Arc::new(object));
        }
        memory
    }

    fn add(&mut self, object: Arc<Object>) {
        let Some(kind) = KINDS.get(object.kind()) else { return };
        let mut terms = Vec::new();
        for (bucket, values) in &kind.buckets {
            terms.extend(values(&object).into_iter().map(|value| format!("b/{bucket}/{value}")));
        }
        for reference in &kind.references {
            let names = reference.names(&object);
            terms.extend(names.iter().map(|(_, name)| format!("r/{}/{name}", reference.plural)));
        }
        for field in &kind.stored().selectable {
            for text in field_texts(&object, field) {
                terms.push(format!("f/{}/{field}/{text}", kind.names.plural));
            }
        }
        terms.sort();
        terms.dedup();
        for term in terms {
            self.found.entry(term).or_default().push(object.clone());
        }
        self.objects.insert((kind.names.plural.clone(), object.name().to_owned()), object);
    }

    /// The names of the objects that were read.
    pub fn read(&self) -> BTreeSet<String> {
        self.read.borrow().clone()
    }

    fn term(&self, term: &str) -> Vec<Arc<Object>> {
        self.found.get(term).cloned().unwrap_or_default()
    }
}

impl QueryContext for Memory {
    fn get(&self, at: &Address) -> Option<Arc<Object>> {
        self.read.borrow_mut().insert(at.name.clone());
        self.objects.get(&(at.plural.clone(), at.name.clone())).cloned()
    }

    fn bucket(&self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        self.term(&format!("b/{bucket}/{value}"))
    }

    fn having(&self, _: &str, plural: &str, field: &str, value: &str) -> Vec<Arc<Object>> {
        self.term(&format!("f/{plural}/{field}/{value}"))
    }

    fn referrers(&self, to: &Address) -> Vec<Arc<Object>> {
        self.term(&format!("r/{}/{}", to.plural, to.name))
    }

    fn all(&self, _: &str, plural: &str) -> Vec<Arc<Object>> {
        let of_kind = self.objects.iter().filter(|((found, _), _)| found == plural);
        of_kind.map(|(_, object)| object.clone()).collect()
    }

    fn count(&self, group: &str, plural: &str) -> usize {
        self.all(group, plural).len()
    }

    fn names(&self, group: &str, plural: &str) -> Vec<String> {
        self.all(group, plural).iter().map(|object| object.name().to_owned()).collect()
    }

    fn version(&self, at: &Address) -> Option<u64> {
        self.get(at).map(|_| 1)
    }

    fn bucket_version(&self, _: Bucket, _: &str) -> u64 {
        1
    }

    fn places(&self, bucket: Bucket, value: &str) -> Vec<Address> {
        let address = |object: &Arc<Object>| {
            let names = &KINDS[object.kind()].names;
            let (plural, name) = (names.plural.clone(), object.name().to_owned());
            Address { group: kinds::GROUP.to_owned(), plural, namespace: String::new(), name }
        };
        self.bucket(bucket, value).iter().map(address).collect()
    }
}
