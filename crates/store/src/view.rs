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
    buckets: BTreeSet<Bytes>,
    writes: Vec<Write>,
    /// What the writes so far make of their keys.
    written: BTreeMap<Key, Option<Arc<Entry>>>,
}

impl View {
    pub(crate) fn new(snapshot: Snapshot, indexer: Indexer) -> View {
        View {
            snapshot,
            indexer,
            guards: Vec::new(),
            guarded: BTreeSet::new(),
            buckets: BTreeSet::new(),
            writes: Vec::new(),
            written: BTreeMap::new(),
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
        if !self.guarded.contains(key) {
            self.guards.push(match found {
                true => Guard::Exists(key.clone()),
                false => Guard::At { key: key.clone(), version: Version::ZERO },
            });
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
    pub fn having(&self, term: &Bytes) -> Vec<(Key, Arc<Entry>)> {
        let stored = self.snapshot.having(term).filter(|key| !self.written.contains_key(*key));
        let stored = stored.filter_map(|key| Some((key.clone(), self.snapshot.get(key)?.clone())));
        let mut members: BTreeMap<Key, Arc<Entry>> = stored.collect();
        for (key, entry) in &self.written {
            if let Some(entry) = entry
                && self.indexer.terms(key, entry).iter().any(|found| found.bytes == *term)
            {
                members.insert(key.clone(), entry.clone());
            }
        }
        members.into_iter().collect()
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
        self.written.insert(put.key.clone(), Some(Arc::new(entry)));
        self.replace(Write::Put(put));
    }

    /// Deletes an object.
    pub fn delete(&mut self, key: Key, verb: impl Into<Cow<'static, str>>) {
        self.written.insert(key.clone(), None);
        self.replace(Write::Delete { key, verb: verb.into() });
    }

    fn replace(&mut self, write: Write) {
        self.writes.retain(|earlier| earlier.key() != write.key());
        self.writes.push(write);
    }

    pub(crate) fn into_transaction(self, author: Author) -> Transaction {
        Transaction { author, guards: self.guards, writes: self.writes }
    }
}
