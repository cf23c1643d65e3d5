//! The objects at one revision, and what they are found by: a persistent value that is cheap to keep.

use std::sync::Arc;

use bytes::Bytes;
use imbl::{OrdMap, OrdSet};

use super::indexer::Indexer;
use crate::entry::Entry;
use crate::key::Key;
use crate::model::Term;
use crate::version::Revision;

/// All objects at one revision. Clones share what they have in common.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub revision: Revision,
    pub objects: OrdMap<Key, Arc<Entry>>,
    /// Who has which term.
    pub postings: OrdSet<(Bytes, Key)>,
    /// Who goes by itself, and when.
    pub expiries: OrdSet<(u64, Key)>,
}

impl State {
    /// Puts or removes one object; gives what was there before.
    pub fn set(&mut self, indexer: &Indexer, key: &Key, entry: Option<Arc<Entry>>) -> Option<Arc<Entry>> {
        let before = match &entry {
            Some(entry) => self.objects.insert(key.clone(), entry.clone()),
            None => self.objects.remove(key),
        };
        self.index(indexer, key, before.as_deref(), entry.as_deref());
        before
    }

    /// The terms an object has before and after a write, for buckets; both sorted.
    pub fn terms(indexer: &Indexer, key: &Key, entry: Option<&Entry>) -> Vec<Term> {
        entry.map(|entry| indexer.terms(key, entry)).unwrap_or_default()
    }

    /// Works out every object's terms anew.
    pub fn reindex(&mut self, indexer: &Indexer) {
        self.postings = OrdSet::new();
        for (key, entry) in &self.objects {
            for term in indexer.terms(key, entry) {
                self.postings.insert((term.bytes, key.clone()));
            }
        }
    }

    fn index(&mut self, indexer: &Indexer, key: &Key, before: Option<&Entry>, after: Option<&Entry>) {
        if indexer.has_terms() {
            let old = State::terms(indexer, key, before);
            let new = State::terms(indexer, key, after);
            for gone in old.iter().filter(|term| new.binary_search(term).is_err()) {
                self.postings.remove(&(gone.bytes.clone(), key.clone()));
            }
            for term in new.into_iter().filter(|term| old.binary_search(term).is_err()) {
                self.postings.insert((term.bytes, key.clone()));
            }
        }
        let expiry = |entry: Option<&Entry>| entry.and_then(|entry| entry.expires);
        if expiry(before) != expiry(after) {
            if let Some(time) = expiry(before) {
                self.expiries.remove(&(time, key.clone()));
            }
            if let Some(time) = expiry(after) {
                self.expiries.insert((time, key.clone()));
            }
        }
    }
}
