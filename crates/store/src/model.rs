//! What the store is told of the objects it keeps: the terms they are found by, and how long their past is kept.

use std::time::Duration;

use bytes::Bytes;

use crate::key::Key;

/// One thing an object is found by: a label, a field, a reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    pub(crate) bytes: Bytes,
    pub(crate) bucket: bool,
}

impl Term {
    /// A term that only answers "who has it".
    pub fn index(bytes: impl Into<Bytes>) -> Term {
        Term { bytes: bytes.into(), bucket: false }
    }

    /// A term that transactions may also guard: every write of an object that has it, had it or gets it
    /// counts as a change of the bucket.
    pub fn bucket(bytes: impl Into<Bytes>) -> Term {
        Term { bytes: bytes.into(), bucket: true }
    }

    /// The term's bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// Answers the store's questions about an object, from its key and bytes alone.
///
/// The answers must be the same on every server of one store, or guards on buckets don't meet.
pub trait Model: Send + Sync + 'static {
    /// Adds to `terms` what the object is found by.
    fn terms(&self, key: &Key, bytes: &[u8], terms: &mut Vec<Term>);

    /// Takes note of an object that is there when a store is opened, before it is asked for the terms of any: what an
    /// object is found by may depend on others, such as the definition of its kind.
    fn learn(&self, key: &Key, bytes: &[u8]) {
        let _ = (key, bytes);
    }

    /// How long the past of this key is kept.
    fn retention(&self, key: &Key) -> Retention {
        let _ = key;
        Retention::default()
    }

    /// Every rule that [`Model::retention`] answers by, with what it is about.
    fn rules(&self) -> Vec<(String, Retention)> {
        vec![(String::new(), Retention::default())]
    }

    /// The beginning of a key that it has in common with all whose past is kept alike: of these together is known since
    /// when the past is whole.
    fn kept_alike<'k>(&self, key: &'k Key) -> &'k str {
        let _ = key;
        ""
    }
}

/// A model without terms and with the default retention.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl Model for Plain {
    fn terms(&self, _key: &Key, _bytes: &[u8], _terms: &mut Vec<Term>) {}
}

/// How long the past of an object is kept: everything for `age`, after that the last `count` changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Younger changes are all kept.
    pub age: Duration,
    /// Of the older ones this many, counted back from the newest.
    pub count: u32,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { age: Duration::from_secs(90 * 24 * 3600), count: 20 }
    }
}
