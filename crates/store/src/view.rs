//! A view: what a rule may read while a transaction is decided. Everything it reads becomes a guard.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use crate::entry::{ChainEnd, Entry};
use crate::key::Key;
use crate::memory::indexer::Indexer;
use crate::snapshot::Snapshot;
use crate::transaction::{Author, Guard, Put, Transaction, Write};
use crate::version::{Revision, Version};

/// The store at one revision, with this transaction's own writes on top.
pub struct View {
    snapshot: Snapshot,
    indexer: Indexer,
    guards: Vec<Guard>,
    guarded: BTreeSet<Key>,
    /// Keys that must only be there.
    existing: BTreeSet<Key>,
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
}

impl View {
    pub(crate) fn new(snapshot: Snapshot, indexer: Indexer) -> View {
        View {
            snapshot,
            indexer,
            guards: Vec::new(),
            guarded: BTreeSet::new(),
            existing: BTreeSet::new(),
            buckets: BTreeSet::new(),
            writes: Vec::new(),
            written: BTreeMap::new(),
            terms: BTreeMap::new(),
            indexed: BTreeMap::new(),
            unindexed: BTreeSet::new(),
        }
    }

    /// The revision it shows.
    pub fn revision(&self) -> Revision {
        self.snapshot.revision()
    }

    /// An object. If it changes before the commit, the transaction is decided anew.
    pub fn get(&mut self, key: &Key) -> Option<Arc<Entry>> {
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

    /// Whether an object exists. It may change before the commit, but not go or come.
    pub fn exists(&mut self, key: &Key) -> bool {
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

    /// The objects that have `term`, which must be a bucket. If one comes, goes or changes before the
    /// commit, the transaction is decided anew.
    pub fn bucket(&mut self, term: &Bytes) -> Vec<(Key, Arc<Entry>)> {
        if self.buckets.insert(term.clone()) {
            self.guards.push(Guard::Bucket { term: term.clone(), at: self.snapshot.revision() });
        }
        self.having(term)
    }

    /// The objects that have `term` as far as this revision knows, without guarding the answer.
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

    /// The objects that had `term` before this transaction, and at which versions; not guarded.
    pub fn had(&self, term: &Bytes) -> Vec<(Key, Version)> {
        let had = self.snapshot.having(term);
        had.filter_map(|key| Some((key.clone(), self.snapshot.get(key)?.version))).collect()
    }

    fn index_written(&mut self) {
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
        self.writes.iter().map(Write::key)
    }

    /// The bytes of an object, opened when they are sealed.
    pub fn reveal(&self, key: &Key, entry: &Entry) -> crate::Result<Bytes> {
        self.indexer.reveal(key, entry)
    }

    /// Adds a guard of one's own, such as a lease.
    pub fn guard(&mut self, guard: Guard) {
        self.guards.push(guard);
    }

    /// Writes an object.
    pub fn put(&mut self, put: Put) {
        let before = self.written.get(&put.key).cloned().flatten();
        let before = before.or_else(|| self.snapshot.get(&put.key).cloned());
        let entry = Entry {
            version: before.as_ref().map_or(Version::ZERO, |entry| entry.version),
            uid: put.uid,
            chain: ChainEnd::default(),
            level: put.level,
            expires: put.expires,
            // Not sealed before it is committed.
            sealed: false,
            stamp: put.body.stamp,
            bytes: put.body.at(Version::ZERO),
        };
        let again = self.written.insert(put.key.clone(), Some(Arc::new(entry))).is_some();
        self.replace(Write::Put(put), again);
    }

    /// Deletes an object.
    pub fn delete(&mut self, key: Key, verb: impl Into<Cow<'static, str>>) {
        let again = self.written.insert(key.clone(), None).is_some();
        self.replace(Write::Delete { key, verb: verb.into() }, again);
    }

    fn replace(&mut self, write: Write, again: bool) {
        if again {
            self.writes.retain(|earlier| earlier.key() != write.key());
        }
        self.unindexed.insert(write.key().clone());
        self.writes.push(write);
    }

    pub(crate) fn into_transaction(self, author: Author) -> Transaction {
        Transaction { author, guards: self.guards, writes: self.writes }
    }
}
