//! What rules and effects may read: their own plane and the root, under guard, and candidates without one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::change::read;
use super::{Address, Bucket, Resource};
use crate::object::Object;

/// The project in whose control plane a change is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// Its uid: a later project of the same name has another.
    pub uid: String,
}

/// Reads the store inside a transaction: whatever is read is a guard of it, unless it says otherwise.
pub trait Reader {
    /// An object.
    fn get(&mut self, at: &Address) -> Option<Arc<Object>>;
    /// The version of an object, without reading what it says: for those who know it already.
    fn version(&mut self, at: &Address) -> Option<String> {
        self.get(at).map(|object| object.resource_version().to_owned())
    }
    /// Whether an object is there, at whatever version.
    fn exists(&mut self, at: &Address) -> bool;
    /// The objects in a bucket.
    fn bucket(&mut self, bucket: Bucket, value: &str) -> Vec<Arc<Object>>;
    /// Where the first objects of a bucket after another are, `most` of them, in the order of their keys; without a guard.
    fn members(&mut self, bucket: Bucket, value: &str, after: Option<&Address>, most: usize) -> Vec<Address>;
    /// A place among the members of a bucket, chosen by `seed`; without a guard. Takes no longer the more there are.
    fn somewhere(&mut self, bucket: Bucket, value: &str, seed: u64) -> Option<Address>;
    /// An object, without a guard.
    fn peek(&mut self, at: &Address) -> Option<Arc<Object>>;
    /// The JSON of an object, without a guard: for those who want little of it.
    fn peek_json(&mut self, at: &Address) -> Option<Vec<u8>> {
        self.peek(at).map(|object| crate::encode::to_json(&serde_json::Value::Object(object.0.clone())))
    }
    /// The same in the root plane.
    fn root(&mut self) -> Box<dyn Reader + '_>;
    /// The project whose plane it reads; nothing in the root.
    fn project(&self) -> Option<Project>;
    /// Whether the change that is judged is an effect of another one.
    fn is_effect(&self) -> bool {
        false
    }
    /// The user who makes the change that is judged. Nothing where the reader does not know.
    fn writer(&self) -> Option<&str> {
        None
    }
}

impl<R: Reader + ?Sized> Reader for &mut R {
    fn get(&mut self, at: &Address) -> Option<Arc<Object>> {
        (**self).get(at)
    }

    fn version(&mut self, at: &Address) -> Option<String> {
        (**self).version(at)
    }

    fn exists(&mut self, at: &Address) -> bool {
        (**self).exists(at)
    }

    fn bucket(&mut self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        (**self).bucket(bucket, value)
    }

    fn members(&mut self, bucket: Bucket, value: &str, after: Option<&Address>, most: usize) -> Vec<Address> {
        (**self).members(bucket, value, after, most)
    }

    fn somewhere(&mut self, bucket: Bucket, value: &str, seed: u64) -> Option<Address> {
        (**self).somewhere(bucket, value, seed)
    }

    fn peek(&mut self, at: &Address) -> Option<Arc<Object>> {
        (**self).peek(at)
    }

    fn peek_json(&mut self, at: &Address) -> Option<Vec<u8>> {
        (**self).peek_json(at)
    }

    fn root(&mut self) -> Box<dyn Reader + '_> {
        (**self).root()
    }

    fn project(&self) -> Option<Project> {
        (**self).project()
    }

    fn is_effect(&self) -> bool {
        (**self).is_effect()
    }

    fn writer(&self) -> Option<&str> {
        (**self).writer()
    }
}

/// What a rule may read.
pub struct View<'a>(Box<dyn Reader + 'a>);

impl<'a> View<'a> {
    /// A view through this reader.
    pub fn new(reader: &'a mut dyn Reader) -> View<'a> {
        View(Box::new(reader))
    }

    /// An object of a kind of ours, without a namespace.
    pub fn get<T: Resource>(&mut self, name: &str) -> Option<T> {
        self.get_in("", name)
    }

    /// An object of a kind of ours in a namespace.
    pub fn get_in<T: Resource>(&mut self, namespace: &str, name: &str) -> Option<T> {
        let object = self.0.get(&T::address(namespace, name))?;
        read(&object)
    }

    /// Whether an object of a kind of ours is there, whatever it says.
    pub fn exists<T: Resource>(&mut self, namespace: &str, name: &str) -> bool {
        self.0.exists(&T::address(namespace, name))
    }

    /// The objects in a bucket, as they are stored: a bucket may hold several kinds.
    pub fn bucket(&mut self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        self.0.bucket(bucket, value)
    }

    /// The objects of one kind in a bucket.
    pub fn bucket_of<T: Resource>(&mut self, bucket: Bucket, value: &str) -> Vec<T> {
        let objects = self.0.bucket(bucket, value);
        objects.iter().filter(|object| object.kind() == T::KIND).filter_map(|object| read(object)).collect()
    }

    /// The root plane, in the same transaction; the same view if it is one of the root.
    pub fn root(&mut self) -> View<'_> {
        View(self.0.root())
    }

    /// The project in whose control plane the change is made; nothing in the root.
    pub fn project(&self) -> Option<Project> {
        self.0.project()
    }

    /// Chooses among the objects in a bucket: the first for which `accept` answers something. Nothing of it is guarded:
    /// guard what is chosen with [`View::take`], and that nothing was found with [`View::bucket`].
    ///
    /// It begins at a place that depends on `chooser`, such as its uid, so that many who choose at once don't all choose
    /// the same. How many are in the bucket makes no difference to how long it takes.
    pub fn choose<R>(
        &mut self,
        bucket: Bucket,
        value: &str,
        chooser: &str,
        mut accept: impl FnMut(&mut View<'_>, &Address) -> Option<R>,
    ) -> Option<R> {
        let start = self.0.somewhere(bucket, value, seed_of(chooser));
        // From there to the end, and from the beginning up to there.
        let mut parts = vec![(start.clone(), None)];
        parts.extend(start.map(|start| (None, Some(start))));
        for (mut after, until) in parts {
            loop {
                let page = self.0.members(bucket, value, after.as_ref(), PAGE);
                for at in &page {
                    if let Some(chosen) = accept(self, at) {
                        return Some(chosen);
                    }
                    if until.as_ref() == Some(at) {
                        return None;
                    }
                }
                match page.last() {
                    Some(last) if page.len() == PAGE => after = Some(last.clone()),
                    _ => break,
                }
            }
        }
        None
    }

    /// A candidate as it seems to be, without a guard, to compare it with others.
    pub fn peek<T: Resource>(&mut self, at: &Address) -> Option<T> {
        read(&*self.0.peek(at)?)
    }

    /// The chosen candidate. If it changes before the commit, the transaction is decided again, with a new choice.
    pub fn take<T: Resource>(&mut self, at: &Address) -> Option<T> {
        read(&*self.0.get(at)?)
    }

    /// Whether the change is an effect of another one, decided by code and not by a user.
    pub fn is_effect(&self) -> bool {
        self.0.is_effect()
    }

    /// The user who makes the change that is judged. Nothing where that is not known.
    pub fn writer(&self) -> Option<&str> {
        self.0.writer()
    }

    /// The reader below.
    pub fn reader(&mut self) -> &mut dyn Reader {
        &mut *self.0
    }
}

/// Members that are looked up at once.
const PAGE: usize = 16;

fn seed_of(chooser: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    chooser.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A bucket of numbered objects, and how many of them were looked up.
    struct Numbered {
        count: u64,
        read: usize,
    }

    const HOSTS: Bucket = Bucket::new("g/hosts");

    fn at(number: u64) -> Address {
        Address {
            group: "g".into(),
            plural: "hosts".into(),
            namespace: String::new(),
            name: format!("{number:06}"),
        }
    }

    impl Reader for Numbered {
        fn get(&mut self, _: &Address) -> Option<Arc<Object>> {
            None
        }
        fn exists(&mut self, _: &Address) -> bool {
            false
        }
        fn bucket(&mut self, _: Bucket, _: &str) -> Vec<Arc<Object>> {
            Vec::new()
        }
        fn members(&mut self, _: Bucket, _: &str, after: Option<&Address>, most: usize) -> Vec<Address> {
            let first = after.map_or(0, |after| after.name.parse::<u64>().unwrap() + 1);
            let page: Vec<Address> = (first..self.count).take(most).map(at).collect();
            self.read += page.len();
            page
        }
        fn somewhere(&mut self, _: Bucket, _: &str, seed: u64) -> Option<Address> {
            seed.checked_rem(self.count).map(at)
        }
        fn peek(&mut self, _: &Address) -> Option<Arc<Object>> {
            None
        }
        fn root(&mut self) -> Box<dyn Reader + '_> {
            Box::new(self)
        }
        fn project(&self) -> Option<Project> {
            None
        }
    }

    #[test]
    fn choosers_begin_at_different_places_and_see_everything_once() {
        let mut first = BTreeSet::new();
        for number in 0..64 {
            let mut bucket = Numbered { count: 48, read: 0 };
            let mut seen = Vec::new();
            let none: Option<()> =
                View::new(&mut bucket).choose(HOSTS, "v", &format!("claim-{number}"), |_, at| {
                    seen.push(at.name.clone());
                    None
                });
            assert_eq!(none, None);
            first.insert(seen[0].clone());
            assert_eq!((seen.len(), seen.iter().collect::<BTreeSet<_>>().len()), (48, 48));
        }
        assert!(first.len() > 24, "64 choosers begin at {} of 48 places", first.len());
        let mut empty = Numbered { count: 0, read: 0 };
        assert_eq!(View::new(&mut empty).choose(HOSTS, "v", "a", |_, _| Some(())), None);
    }

    #[test]
    fn choosing_among_a_hundred_thousand_looks_up_no_more_than_among_a_few() {
        let mut bucket = Numbered { count: 100_000, read: 0 };
        let chosen = View::new(&mut bucket).choose(HOSTS, "v", "claim-1", |_, at| Some(at.clone()));
        assert!(chosen.is_some());
        assert!(bucket.read <= 2 * PAGE, "{} looked up", bucket.read);
    }
}
