//! A view: what a rule may read while a transaction is decided. Everything it reads becomes a guard.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use crate::entry::{ChainEnd, Entry, Uid};
use crate::key::Key;
use crate::memory::indexer::Indexer;
use crate::size::{PER_WRITE, Size, Sizing};
use crate::snapshot::Snapshot;
use crate::transaction::{Amendment, Author, Guard, Put, Transaction, Write};
use crate::version::{Revision, Version};

/// The store at one revision, with this transaction's own writes on top.
pub struct View {
    snapshot: Snapshot,
    indexer: Indexer,
    guards: Vec<Guard>,
    guarded: BTreeSet<Key>,
    /// Keys that must only be there.
    existing: BTreeSet<Key>,
    /// Keys that must not have been deleted and created again.
    living: BTreeSet<Key>,
    buckets: BTreeSet<Bytes>,
    writes: Vec<Write>,
    /// What the writes so far make of their keys.
    written: BTreeMap<Key, Option<Arc<Entry>>>,
    /// Who of those has which term; worked out once it is asked for.
    terms: BTreeMap<Bytes, BTreeSet<Key>>,
    /// The terms of each key in there.
    indexed: BTreeMap<Key, Vec<Bytes>>,
    /// Keys that were written since.
    unindexed: BTreeSet<Key>,
    sizing: Sizing,
    /// Bytes that were put, those that were replaced since included.
    put_bytes: usize,
    /// Keys that were written since their size was asked for.
    unsized_keys: BTreeSet<Key>,
    /// What the writes of an attempt have replaced.
    undo: Option<Vec<Earlier>>,
    /// Whether the engine works out changes of objects when it commits.
    amends: bool,
    /// Such changes, of objects that are neither read nor written otherwise.
    amendments: BTreeMap<Key, Amendment>,
}

/// What a key was in a view before it was written.
#[derive(Clone)]
struct Earlier {
    key: Key,
    /// Nothing where this transaction had not written it.
    entry: Option<Option<Arc<Entry>>>,
    write: Option<Write>,
}

impl View {
    pub(crate) fn new(snapshot: Snapshot, indexer: Indexer) -> View {
        View {
            snapshot,
            indexer,
            guards: Vec::new(),
            guarded: BTreeSet::new(),
            existing: BTreeSet::new(),
            living: BTreeSet::new(),
            buckets: BTreeSet::new(),
            writes: Vec::new(),
            written: BTreeMap::new(),
            terms: BTreeMap::new(),
            indexed: BTreeMap::new(),
            unindexed: BTreeSet::new(),
            sizing: Sizing::default(),
            put_bytes: 0,
            unsized_keys: BTreeSet::new(),
            undo: None,
            amends: false,
            amendments: BTreeMap::new(),
        }
    }

    /// For an engine that takes amendments.
    pub(crate) fn amending(self, amends: bool) -> View {
        View { amends, ..self }
    }

    /// The revision it shows.
    pub fn revision(&self) -> Revision {
        self.snapshot.revision()
    }

    /// An object. If it changes before the commit, the transaction is decided anew.
    pub fn get(&mut self, key: &Key) -> Option<Arc<Entry>> {
        self.work_out(key);
        if let Some(written) = self.written.get(key) {
            return written.clone();
        }
        let found = self.snapshot.get(key).cloned();
        if self.guarded.insert(key.clone()) {
            let version = found.as_ref().map_or(Version::ZERO, |entry| entry.version());
            self.guards.push(Guard::At { key: key.clone(), version });
        }
        found
    }

    /// An object as this revision has it, without guarding that it stays so.
    pub fn peek(&self, key: &Key) -> Option<Arc<Entry>> {
        match self.written.get(key) {
            Some(written) => written.clone(),
            None => {
                let found = self.snapshot.get(key).cloned()?;
                let amended = self.amendments.get(key).and_then(|amendment| (amendment.change)(&found));
                Some(amended.map_or(found.clone(), |put| Arc::new(put_entry(&put, Some(&found)))))
            }
        }
    }

    /// Changes an object as `change` says, without a guard where the engine can: it is worked out at the commit, on the object
    /// as it is then. If that can't be, the transaction is decided anew. `false` if it can't be now.
    pub fn amend(
        &mut self,
        key: &Key,
        change: impl Fn(&Entry) -> Option<Put> + Send + Sync + 'static,
    ) -> bool {
        self.work_out(key);
        let is_known = self.guarded.contains(key) || self.written.contains_key(key);
        if self.amends && !is_known && self.snapshot.get(key).is_some() {
            let amendment = Amendment { key: key.clone(), change: Arc::new(change) };
            self.amendments.insert(key.clone(), amendment);
            return true;
        }
        match self.get(key).and_then(|found| change(&found)) {
            Some(put) => {
                self.put(put);
                true
            }
            None => false,
        }
    }

    /// Makes an amendment of a key that is read or written otherwise a write. One that is not possible now stays, and the
    /// transaction is decided anew.
    fn work_out(&mut self, key: &Key) {
        if self.amendments.is_empty() {
            return;
        }
        let Some(amendment) = self.amendments.remove(key) else { return };
        match self.get(key).and_then(|found| (amendment.change)(&found)) {
            Some(put) => self.put(put),
            None => drop(self.amendments.insert(key.clone(), amendment)),
        }
    }

    fn work_out_all(&mut self) {
        let keys: Vec<Key> = self.amendments.keys().cloned().collect();
        keys.iter().for_each(|key| self.work_out(key));
    }

    /// Whether an object exists. It may change before the commit, but not go or come.
    pub fn exists(&mut self, key: &Key) -> bool {
        self.work_out(key);
        if let Some(written) = self.written.get(key) {
            return written.is_some();
        }
        let found = self.snapshot.get(key).is_some();
        if !found {
            self.get(key);
        } else if !self.guarded.contains(key) && self.existing.insert(key.clone()) {
            self.guards.push(Guard::Exists(key.clone()));
        }
        found
    }

    /// Whether an object exists in this life of its key. It may change before the commit, but not be deleted, not even
    /// to be created again.
    pub fn lives(&mut self, key: &Key, uid: Uid) -> bool {
        self.work_out(key);
        if let Some(written) = self.written.get(key) {
            return written.as_ref().is_some_and(|entry| entry.uid == uid);
        }
        match self.snapshot.get(key).map(|entry| entry.uid) {
            Some(found) if found == uid => {
                if !self.guarded.contains(key) && self.living.insert(key.clone()) {
                    self.guards.push(Guard::Life { key: key.clone(), uid });
                }
                true
            }
            // Another life, or none: that is what the decision depends on.
            Some(other) => {
                if self.living.insert(key.clone()) {
                    self.guards.push(Guard::Life { key: key.clone(), uid: other });
                }
                false
            }
            None => self.get(key).is_some(),
        }
    }

    /// The objects that have `term`, which must be a bucket. If one comes, goes or changes before the
    /// commit, the transaction is decided anew.
    pub fn bucket(&mut self, term: &Bytes) -> Vec<(Key, Arc<Entry>)> {
        if self.buckets.insert(term.clone()) {
            self.guards.push(Guard::Bucket { term: term.clone(), at: self.snapshot.revision() });
        }
        self.having(term)
    }

    /// Whether an object has `term`, which must be a bucket that no other object can be in. Guarded as [`View::bucket`].
    pub fn is_in_bucket(&mut self, term: &Bytes, key: &Key) -> bool {
        if self.buckets.insert(term.clone()) {
            self.guards.push(Guard::Bucket { term: term.clone(), at: self.snapshot.revision() });
        }
        match self.written.contains_key(key) {
            true => self.having(term).iter().any(|(found, _)| found == key),
            // Nothing that this transaction wrote need be looked at.
            false => self.snapshot.having(term).any(|found| found == key),
        }
    }

    /// The objects that have `term` as far as this revision knows, without guarding the answer: for choosing among
    /// many, of which what is chosen is then read with [`View::get`].
    pub fn having(&mut self, term: &Bytes) -> Vec<(Key, Arc<Entry>)> {
        self.index_written();
        let stored = self.snapshot.having(term).filter(|key| !self.written.contains_key(*key));
        let stored = stored.filter_map(|key| Some((key.clone(), self.snapshot.get(key)?.clone())));
        let mut members: BTreeMap<Key, Arc<Entry>> = stored.collect();
        for key in self.terms.get(term).into_iter().flatten() {
            if let Some(Some(entry)) = self.written.get(key) {
                members.insert(key.clone(), entry.clone());
            }
        }
        members.into_iter().collect()
    }

    /// The first keys after `after` of objects that have `term`, `most` of them, found without looking at the others.
    /// Not guarded, as [`View::having`].
    pub fn having_after(&mut self, term: &Bytes, after: Option<&Key>, most: usize) -> Vec<Key> {
        self.index_written();
        let stored = self.snapshot.having_after(term, b"", after);
        let stored = stored.filter(|key| !self.written.contains_key(*key)).take(most);
        let written = self.terms.get(term).into_iter().flatten();
        let written = written.filter(|key| after.is_none_or(|after| *key > after)).take(most);
        let mut keys: Vec<Key> = stored.chain(written).cloned().collect();
        keys.sort_unstable();
        keys.truncate(most);
        keys
    }

    /// A key among those of the objects that have `term`, chosen by `seed`: a place to begin from. Finding it takes no
    /// longer the more there are. Not guarded, and the object may have been changed in this transaction.
    pub fn somewhere(&self, term: &Bytes, seed: u64) -> Option<Key> {
        self.snapshot.somewhere(term, seed).cloned()
    }

    /// The objects that had `term` before this transaction, and at which versions; not guarded.
    pub fn had(&self, term: &Bytes) -> Vec<(Key, Version)> {
        let had = self.snapshot.having(term);
        had.filter_map(|key| Some((key.clone(), self.snapshot.get(key)?.version))).collect()
    }

    fn index_written(&mut self) {
        self.work_out_all();
        for key in std::mem::take(&mut self.unindexed) {
            for term in self.indexed.remove(&key).into_iter().flatten() {
                if let Some(keys) = self.terms.get_mut(&term) {
                    keys.remove(&key);
                }
            }
            let Some(Some(entry)) = self.written.get(&key) else { continue };
            let terms: Vec<Bytes> =
                self.indexer.terms(&key, entry).into_iter().map(|term| term.bytes).collect();
            for term in &terms {
                self.terms.entry(term.clone()).or_default().insert(key.clone());
            }
            self.indexed.insert(key, terms);
        }
    }

    /// What was read so far, as the guards that it makes.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// The keys that are written so far, in the order in which the commit has them.
    pub fn written_keys(&self) -> impl Iterator<Item = &Key> {
        self.writes.iter().map(Write::key).chain(self.amendments.keys())
    }

    /// The bytes of an object, opened when they are sealed.
    pub fn reveal(&self, key: &Key, entry: &Entry) -> crate::Result<Bytes> {
        self.indexer.reveal(key, entry)
    }

    /// Its writes so far, and about the bytes of what they put.
    pub(crate) fn rough_size(&self) -> (usize, usize) {
        let writes = self.writes.len() + self.amendments.len();
        (writes, self.put_bytes + writes * PER_WRITE)
    }

    /// How large the transaction is so far; at least what the engine will count.
    pub fn size(&mut self) -> Size {
        self.work_out_all();
        let unsized_keys = std::mem::take(&mut self.unsized_keys);
        for write in self.writes.iter().filter(|write| unsized_keys.contains(write.key())) {
            let before = self.snapshot.get(write.key()).map(Arc::as_ref);
            let after = self.written.get(write.key()).and_then(Option::as_deref);
            self.sizing.count(&self.indexer, write, before, after);
        }
        self.sizing.total(&self.guards, &self.guarded)
    }

    /// Begins anew on the same revision: as if nothing had been read or written.
    pub fn restart(&mut self) {
        *self = View::new(self.snapshot.clone(), self.indexer.clone()).amending(self.amends);
    }

    /// Adds a guard of one's own, such as a lease.
    pub fn guard(&mut self, guard: Guard) {
        self.guards.push(guard);
    }

    /// Writes an object.
    pub fn put(&mut self, put: Put) {
        self.amendments.remove(&put.key);
        self.put_bytes += put.body.bytes.len();
        let before = self.written.get(&put.key).cloned().flatten();
        let before = before.or_else(|| self.snapshot.get(&put.key).cloned());
        let entry = put_entry(&put, before.as_deref());
        self.write(Write::Put(put), Some(Arc::new(entry)));
    }

    /// Deletes an object.
    pub fn delete(&mut self, key: Key, verb: impl Into<Cow<'static, str>>) {
        self.amendments.remove(&key);
        self.write(Write::Delete { key, verb: verb.into() }, None);
    }

    /// Does something by itself: what it has written is taken back if it fails. What it has read stays guarded.
    pub fn attempt<T, E>(&mut self, attempt: impl FnOnce(&mut View) -> Result<T, E>) -> Result<T, E> {
        let amendments = self.amendments.clone();
        let outer = self.undo.replace(Vec::new());
        let outcome = attempt(self);
        let done = std::mem::replace(&mut self.undo, outer).unwrap_or_default();
        match &outcome {
            Ok(_) => self.undo.iter_mut().for_each(|outer| outer.extend_from_slice(&done)),
            Err(_) => {
                done.into_iter().rev().for_each(|earlier| self.take_back(earlier));
                self.amendments = amendments;
            }
        }
        outcome
    }

    fn take_back(&mut self, earlier: Earlier) {
        let Earlier { key, entry, write } = earlier;
        self.unindexed.insert(key.clone());
        self.unsized_keys.insert(key.clone());
        let place = self.writes.iter().position(|write| *write.key() == key);
        match (place, write) {
            (Some(place), Some(write)) => self.writes[place] = write,
            (Some(place), None) => drop(self.writes.remove(place)),
            (None, _) => {}
        }
        match entry {
            Some(entry) => self.written.insert(key, entry),
            None => self.written.remove(&key),
        };
    }

    /// Adds a write. One of a key that was written before takes its place: the first write of a commit stays the first.
    fn write(&mut self, write: Write, entry: Option<Arc<Entry>>) {
        let key = write.key().clone();
        let before = self.written.insert(key.clone(), entry);
        let place = before.as_ref().and_then(|_| self.writes.iter().position(|other| *other.key() == key));
        let earlier = match place {
            Some(place) => Some(std::mem::replace(&mut self.writes[place], write)),
            None => {
                self.writes.push(write);
                None
            }
        };
        self.unindexed.insert(key.clone());
        self.unsized_keys.insert(key.clone());
        if let Some(undo) = &mut self.undo {
            undo.push(Earlier { key, entry: before, write: earlier });
        }
    }

    pub(crate) fn into_transaction(self, author: Author) -> Transaction {
        let amendments = self.amendments.into_values().collect();
        Transaction { author, guards: self.guards, writes: self.writes, amendments }
    }
}

/// What a put makes, as this transaction sees it.
fn put_entry(put: &Put, before: Option<&Entry>) -> Entry {
    Entry {
        version: before.map_or(Version::ZERO, |entry| entry.version),
        uid: put.uid,
        chain: ChainEnd::default(),
        level: put.level,
        expires: put.expires,
        // Not sealed before it is committed.
        sealed: false,
        stamp: put.body.stamp,
        bytes: put.body.at(Version::ZERO),
    }
}
