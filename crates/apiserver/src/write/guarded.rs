//! The store inside a transaction, as rules and references see it: every read guards the commit.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Reader};
use krm::status::Status;
use store::{Entry, Key, View};

use crate::index;
use crate::keys;
use crate::plane::Plane;

/// Reads objects of one plane.
pub struct Guarded<'a> {
    view: &'a mut View,
    plane: &'a Plane,
    /// What is in no bucket yet, as far as the reader is concerned.
    newcomer: Option<Key>,
}

impl<'a> Guarded<'a> {
    /// Reads this plane through the view.
    pub fn new(view: &'a mut View, plane: &'a Plane) -> Guarded<'a> {
        Guarded { view, plane, newcomer: None }
    }

    /// The same for the rules of an object that is made: whether it is written already or not, it is in no bucket.
    pub fn making(self, key: Option<Key>) -> Guarded<'a> {
        Guarded { newcomer: key, ..self }
    }

    /// The view below.
    pub fn view(&mut self) -> &mut View {
        self.view
    }

    /// A stored object with what the store knows of it.
    pub fn entry(&mut self, key: &Key) -> Result<Option<(Arc<Entry>, Object)>, Status> {
        let Some(entry) = self.view.get(key) else { return Ok(None) };
        let object = open(self.view, key, &entry)?;
        Ok(Some((entry, object)))
    }

    /// Whether an object is marked as being deleted. It may change otherwise before the commit, but not be marked.
    pub fn is_going(&mut self, at: &Address) -> bool {
        !self.view.bucket(&index::going(self.plane, at)).is_empty()
    }

    /// Those who refer to an object: the guarded bucket of its referrers.
    pub fn referrers(&mut self, target: &Address) -> Vec<(Key, Object)> {
        let members = self.view.bucket(&index::referring_to(self.plane, target));
        let open = |(key, entry): (Key, Arc<Entry>)| Some((key.clone(), open(self.view, &key, &entry).ok()?));
        members.into_iter().filter_map(open).collect()
    }
}

fn open(view: &View, key: &Key, entry: &Entry) -> Result<Object, Status> {
    match entry.is_sealed() {
        false => crate::encode::read(entry.bytes()),
        true => {
            let bytes = view.reveal(key, entry).map_err(|error| crate::api::store_failure(&error))?;
            crate::encode::read(&bytes)
        }
    }
}

impl Reader for Guarded<'_> {
    fn get(&mut self, at: &Address) -> Option<Arc<Object>> {
        let key = keys::object(self.plane, at).ok()?;
        let (_, object) = self.entry(&key).ok()??;
        Some(Arc::new(object))
    }

    fn exists(&mut self, at: &Address) -> bool {
        keys::object(self.plane, at).is_ok_and(|key| self.view.exists(&key))
    }

    fn bucket(&mut self, bucket: &str, value: &str) -> Vec<Arc<Object>> {
        let members = self.view.bucket(&index::in_bucket(self.plane, bucket, value));
        let others = members.into_iter().filter(|(key, _)| Some(key) != self.newcomer.as_ref());
        let open = |(key, entry): (Key, Arc<Entry>)| open(self.view, &key, &entry).ok().map(Arc::new);
        others.filter_map(open).collect()
    }
}
