//! Finds the terms of an object, opening it first when it is sealed.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::Threads;
use crate::entry::{Body, Entry, Uid};
use crate::error::Result;
use crate::key::Key;
use crate::model::{Model, Term};
use crate::seal::Keyring;

/// The model, and the keys that open what is sealed.
#[derive(Clone)]
pub(crate) struct Indexer {
    model: Option<Arc<dyn Model>>,
    keyring: Arc<Keyring>,
    threads: Threads,
    set_aside: Arc<Mutex<BTreeSet<Key>>>,
}

/// So many objects that can't be indexed are named.
const MOST_SET_ASIDE: usize = 1_000;

impl Indexer {
    pub fn new(model: Option<Arc<dyn Model>>, keyring: Arc<Keyring>, threads: Threads) -> Indexer {
        Indexer { model, keyring, threads, set_aside: Arc::default() }
    }

    /// Whether work may be given to threads.
    pub fn threads(&self) -> Threads {
        self.threads
    }

    pub fn has_terms(&self) -> bool {
        self.model.is_some()
    }

    pub fn model(&self) -> Option<&Arc<dyn Model>> {
        self.model.as_ref()
    }

    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    pub fn shared_keyring(&self) -> Arc<Keyring> {
        self.keyring.clone()
    }

    /// Has the model look at an object before it is asked about any.
    pub fn learn(&self, key: &Key, entry: &Entry) {
        // Nothing that others depend on is secret.
        if let Some(model) = self.model.as_ref().filter(|_| !entry.sealed) {
            model.learn(key, &entry.bytes);
        }
    }

    /// The object's terms, sorted and without repetition. What can't be opened has none.
    pub fn terms(&self, key: &Key, entry: &Entry) -> Vec<Term> {
        let mut terms = Vec::new();
        if let Some(model) = &self.model {
            match self.reveal(key, entry) {
                Ok(bytes) => {
                    // The model's code, on the thread that writes for all: one object that it can't take is set aside.
                    let found = catch_unwind(AssertUnwindSafe(|| model.terms(key, &bytes, &mut terms)));
                    if found.is_err() {
                        terms.clear();
                        self.set_aside(key);
                    }
                }
                Err(error) => tracing::warn!(%key, %error, "not indexed"),
            }
            terms.sort_unstable();
            terms.dedup();
        }
        terms
    }

    /// Names an object that can't be found by its terms because working them out panicked.
    fn set_aside(&self, key: &Key) {
        let mut set_aside = self.set_aside.lock().unwrap_or_else(PoisonError::into_inner);
        if set_aside.len() < MOST_SET_ASIDE && set_aside.insert(key.clone()) {
            tracing::error!(
                %key,
                "indexing this object panicked: it is read by its name and in whole lists, and not found by selectors or \
                 references; this is a bug"
            );
        }
    }

    /// The objects that could not be indexed, by their keys; at most a thousand.
    pub fn all_set_aside(&self) -> Vec<Key> {
        self.set_aside.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// The bytes of an object as readers may see them, opened when they are sealed.
    pub fn reveal(&self, key: &Key, entry: &Entry) -> Result<Bytes> {
        if !entry.sealed {
            return Ok(entry.bytes.clone());
        }
        let plain = self.keyring.open(&sealing_context(key, entry.uid), &entry.bytes)?;
        let body = Body { bytes: Bytes::copy_from_slice(&plain), stamp: entry.stamp };
        Ok(body.at(entry.version))
    }
}

/// Binds a sealed value to the object it belongs to, so that it can't be moved to another.
pub(crate) fn sealing_context(key: &Key, uid: Uid) -> Vec<u8> {
    let mut context = Vec::with_capacity(key.as_bytes().len() + 17);
    context.extend_from_slice(key.as_bytes());
    context.push(0);
    context.extend_from_slice(&uid.0);
    context
}
