//! Objects that were amended last, as they were left: the next amendment of one need not read it again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use krm::Object;
use store::{Body, Entry, Key};

/// Objects that are kept, at most.
const MOST: usize = 256;

/// The last amended objects.
#[derive(Default)]
pub struct Amended(Mutex<HashMap<Key, (Body, Object)>>);

impl Amended {
    /// The object of an entry, if it is still as an amendment left it.
    pub fn take(&self, key: &Key, entry: &Entry) -> Option<Object> {
        let (body, object) = self.lock().remove(key)?;
        entry.has_body(&body).then_some(object)
    }

    /// Keeps what an amendment makes of an object. Whether it comes to that is found out when it is taken.
    pub fn keep(&self, key: &Key, body: &Body, object: Object) {
        let mut all = self.lock();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(key.clone(), (body.clone(), object));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, (Body, Object)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
