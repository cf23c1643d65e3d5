//! An inventory in memory, found as the server finds it: by buckets, references and fields.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Kind, Look};
use krm::selector::field_texts;

use crate::kinds;

/// An inventory in memory, of which the same questions can be asked as of a server's.
pub struct Memory {
    kinds: BTreeMap<String, Kind>,
    objects: BTreeMap<(String, String), Arc<Object>>,
    found: BTreeMap<String, Vec<Arc<Object>>>,
}

impl Memory {
    /// With these objects; those of kinds that the inventory has not are left out.
    pub fn of(objects: Vec<Object>) -> Memory {
        let kinds: BTreeMap<String, Kind> =
            kinds::all().into_iter().map(|kind| (kind.names.kind.clone(), kind)).collect();
        let mut memory = Memory { kinds, objects: BTreeMap::new(), found: BTreeMap::new() };
        for object in objects {
            memory.add(Arc::new(object));
        }
        memory
    }

    fn add(&mut self, object: Arc<Object>) {
        let Some(kind) = self.kinds.get(object.kind()) else { return };
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

    fn term(&self, term: &str) -> Vec<Arc<Object>> {
        self.found.get(term).cloned().unwrap_or_default()
    }
}

impl Look for Memory {
    fn get(&self, at: &Address) -> Option<Arc<Object>> {
        self.objects.get(&(at.plural.clone(), at.name.clone())).cloned()
    }

    fn bucket(&self, bucket: &str, value: &str) -> Vec<Arc<Object>> {
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

    fn bucket_version(&self, _: &str, _: &str) -> u64 {
        1
    }
}
