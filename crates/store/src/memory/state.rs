//! The objects at one revision, and what they are found by: a persistent value that is cheap to keep.

use std::sync::Arc;

use bytes::Bytes;
use imbl::{OrdMap, OrdSet};

use super::Threads;
use super::indexer::Indexer;
use super::posting::Posting;
use crate::entry::Entry;
use crate::key::Key;
use crate::model::Term;
use crate::version::Revision;

/// So many objects are worth a thread of their own when all are indexed.
const MANY: usize = 1000;

/// All objects at one revision. Clones share what they have in common.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub revision: Revision,
    pub objects: OrdMap<Key, Arc<Entry>>,
    /// Who has which term. Each term stands here once, however many have it.
    pub postings: OrdMap<Bytes, Posting>,
    /// Who goes by itself, and when.
    pub expiries: OrdSet<(u64, Key)>,
    /// How many objects there are in each folder: what their keys have up to the last slash.
    pub folders: OrdMap<Bytes, usize>,
}

/// The folder of a key: all of it up to and with the last slash.
fn folder(key: &Key) -> &[u8] {
    let bytes = key.as_bytes();
    let end = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    &bytes[..end]
}

/// The terms that an object has before and after a write; both sorted.
#[derive(Default)]
pub(crate) struct Terms {
    pub before: Vec<Term>,
    pub after: Vec<Term>,
}

impl Terms {
    /// Reads both objects, once each.
    pub fn of(indexer: &Indexer, key: &Key, before: Option<&Entry>, after: Option<&Entry>) -> Terms {
        let terms = |entry: Option<&Entry>| entry.map(|entry| indexer.terms(key, entry)).unwrap_or_default();
        match indexer.has_terms() {
            true => Terms { before: terms(before), after: terms(after) },
            false => Terms::default(),
        }
    }

    /// Those of a change that leaves them as they are: one of both objects is read.
    pub fn kept(indexer: &Indexer, key: &Key, before: Option<&Entry>, after: Option<&Entry>) -> Terms {
        let after = Terms::of(indexer, key, None, after).after;
        debug_assert_eq!(
            Terms::of(indexer, key, before, None).before,
            after,
            "{key} is found by what is amended"
        );
        Terms { before: after.clone(), after }
    }

    /// The buckets that a write touches.
    pub fn buckets(&self) -> impl Iterator<Item = &Bytes> {
        self.before.iter().chain(&self.after).filter(|term| term.bucket).map(|term| &term.bytes)
    }
}

impl State {
    /// Everything that is there when a store is opened, as `found`; the model learns of all before it is asked about any.
    pub fn opened(
        revision: Revision,
        indexer: &Indexer,
        found: impl IntoIterator<Item = (Key, Arc<Entry>)>,
    ) -> State {
        let mut state = State { revision, ..State::default() };
        for (key, entry) in found {
            indexer.learn(&key, &entry);
            if let Some(time) = entry.expires {
                state.expiries.insert((time, key.clone()));
            }
            state.count_in(&key);
            state.objects.insert(key, entry);
        }
        state.reindex(indexer);
        state
    }

    /// Puts or removes one object; gives what was there before.
    pub fn set(&mut self, indexer: &Indexer, key: &Key, entry: Option<Arc<Entry>>) -> Option<Arc<Entry>> {
        let before = self.objects.get(key).cloned();
        let terms = Terms::of(indexer, key, before.as_deref(), entry.as_deref());
        self.set_known(key, before.as_deref(), entry, terms);
        before
    }

    /// The same where the terms, and what was there before, are known already.
    pub fn set_known(&mut self, key: &Key, before: Option<&Entry>, entry: Option<Arc<Entry>>, terms: Terms) {
        self.index(key, before, entry.as_deref(), terms);
        match (before.is_some(), entry.is_some()) {
            (false, true) => self.count_in(key),
            (true, false) => self.count_out(key),
            _ => {}
        }
        match entry {
            Some(entry) => self.objects.insert(key.clone(), entry),
            None => self.objects.remove(key),
        };
    }

    /// Works out every object's terms anew.
    pub fn reindex(&mut self, indexer: &Indexer) {
        self.postings = OrdMap::new();
        if !indexer.has_terms() {
            return;
        }
        let objects = self.objects.clone();
        let all: Vec<(&Key, &Arc<Entry>)> = objects.iter().collect();
        let threads = match indexer.threads() {
            Threads::Own => std::thread::available_parallelism().map_or(1, usize::from).min(all.len() / MANY),
            Threads::None => 1,
        };
        if threads < 2 {
            for (key, entry) in all {
                indexer.terms(key, entry).into_iter().for_each(|term| self.post(term.bytes, key));
            }
            return;
        }
        // What an object is found by takes longer to find out than to note down.
        std::thread::scope(|scope| {
            let (found, finds) = std::sync::mpsc::sync_channel::<Vec<(&Key, Vec<Term>)>>(2 * threads);
            for part in all.chunks(all.len().div_ceil(threads)) {
                let found = found.clone();
                scope.spawn(move || {
                    for piece in part.chunks(256) {
                        let terms = piece.iter().map(|(key, entry)| (*key, indexer.terms(key, entry)));
                        if found.send(terms.collect()).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(found);
            for (key, terms) in finds.into_iter().flatten() {
                // A copy of this thread's own: the few that are kept would hold on to all the memory of the others.
                terms.iter().for_each(|term| self.post(Bytes::copy_from_slice(&term.bytes), key));
            }
        });
    }

    fn count_in(&mut self, key: &Key) {
        match self.folders.get_mut(folder(key)) {
            Some(count) => *count += 1,
            None => drop(self.folders.insert(Bytes::copy_from_slice(folder(key)), 1)),
        }
    }

    fn count_out(&mut self, key: &Key) {
        let is_empty = self.folders.get_mut(folder(key)).is_some_and(|count| {
            *count = count.saturating_sub(1);
            *count == 0
        });
        if is_empty {
            self.folders.remove(folder(key));
        }
    }

    fn post(&mut self, term: Bytes, key: &Key) {
        match self.postings.get_mut(&term) {
            Some(posting) => posting.insert(key),
            None => drop(self.postings.insert(term, Posting::of(key))),
        }
    }

    fn index(&mut self, key: &Key, before: Option<&Entry>, after: Option<&Entry>, terms: Terms) {
        let Terms { before: old, after: new } = terms;
        for gone in old.iter().filter(|term| new.binary_search(term).is_err()) {
            let is_empty = self.postings.get_mut(&gone.bytes).is_some_and(|posting| posting.remove(key));
            if is_empty {
                self.postings.remove(&gone.bytes);
            }
        }
        for term in new.into_iter().filter(|term| old.binary_search(term).is_err()) {
            self.post(term.bytes, key);
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
