//! Where things stand in etcd, and how they are asked for.
//!
//! Under the prefix of a store, `live/` holds what every server follows with one watch: objects, buckets,
//! and each server's mark of its last commit. `past/` holds history, which is read when it is asked for.

use bytes::Bytes;

use super::client::wire::{
    Compare, DeleteRangeRequest, PutRequest, RangeRequest, RequestOp, TxnRequest, compare::CompareResult,
    compare::CompareTarget, compare::TargetUnion, request_op::Request,
};
use crate::history::archive::RowId;
use crate::history::record::RecordId;
use crate::key::{Key, after_prefix};

/// The format this program writes, and the newest it reads.
pub(crate) const FORMAT: u32 = 1;

/// The keys of one store.
#[derive(Clone)]
pub(crate) struct Layout {
    prefix: Bytes,
}

/// What a key under `live/` stands for.
pub(crate) enum Live<'a> {
    Object(&'a [u8]),
    Mark,
    Other,
}

impl Layout {
    /// The keys under `prefix`, which is given a slash at its end if it has none.
    pub fn under(prefix: &str) -> Layout {
        let prefix = prefix.trim_end_matches('/');
        Layout { prefix: Bytes::from(format!("{prefix}/")) }
    }

    pub fn all(&self) -> Bytes {
        self.prefix.clone()
    }

    pub fn live(&self) -> Bytes {
        self.join(&[b"live/"])
    }

    pub fn object(&self, key: &Key) -> Bytes {
        self.join(&[b"live/o/", key.as_bytes()])
    }

    pub fn bucket(&self, term: &[u8]) -> Bytes {
        self.join(&[b"live/b/", term])
    }

    pub fn buckets(&self) -> Bytes {
        self.join(&[b"live/b/"])
    }

    /// Touched whenever empty buckets are cleared away.
    pub fn cleared(&self) -> Bytes {
        self.join(&[b"live/cleared"])
    }

    pub fn mark(&self, server: &[u8]) -> Bytes {
        self.join(&[b"live/c/", server])
    }

    pub fn record(&self, key: &Key, place: RecordId) -> Bytes {
        self.join(&[b"past/r/", key.as_bytes(), &[0], &place.to_bytes()])
    }

    pub fn records_of(&self, key: &Key) -> Bytes {
        self.join(&[b"past/r/", key.as_bytes(), &[0]])
    }

    pub fn records(&self) -> Bytes {
        self.join(&[b"past/r/"])
    }

    pub fn row(&self, id: &RowId) -> Bytes {
        self.join(&[b"past/l/", &id.0])
    }

    pub fn rows(&self) -> Bytes {
        self.join(&[b"past/l/"])
    }

    pub fn meta(&self, name: &str) -> Bytes {
        self.join(&[b"meta/", name.as_bytes()])
    }

    pub fn lease(&self, name: &str) -> Bytes {
        self.join(&[b"lease/", name.as_bytes()])
    }

    /// The format's number. Written last when a store is made or restored: from its revision on, the store is.
    pub fn format(&self) -> Bytes {
        self.join(&[b"format"])
    }

    /// What is added to etcd's revisions.
    pub fn offset(&self) -> Bytes {
        self.join(&[b"offset"])
    }

    /// There while a restore is under way.
    pub fn restoring(&self) -> Bytes {
        self.join(&[b"restoring"])
    }

    pub fn read_live<'a>(&self, key: &'a [u8]) -> Live<'a> {
        let Some(rest) = key.strip_prefix(&*self.prefix).and_then(|rest| rest.strip_prefix(b"live/")) else {
            return Live::Other;
        };
        match rest {
            [b'o', b'/', object @ ..] => Live::Object(object),
            [b'c', b'/', ..] => Live::Mark,
            _ => Live::Other,
        }
    }

    fn join(&self, parts: &[&[u8]]) -> Bytes {
        let mut key =
            Vec::with_capacity(self.prefix.len() + parts.iter().map(|part| part.len()).sum::<usize>());
        key.extend_from_slice(&self.prefix);
        for part in parts {
            key.extend_from_slice(part);
        }
        key.into()
    }
}

pub(crate) fn one(key: Bytes) -> RangeRequest {
    RangeRequest { key, ..RangeRequest::default() }
}

pub(crate) fn under(prefix: Bytes) -> RangeRequest {
    let range_end = end_of(&prefix);
    RangeRequest { key: prefix, range_end, ..RangeRequest::default() }
}

/// The end of a range over a prefix, as etcd writes it: a single NUL is the end of all keys.
pub(crate) fn end_of(prefix: &[u8]) -> Bytes {
    after_prefix(prefix).map_or_else(|| Bytes::from_static(&[0]), Bytes::from)
}

/// If all compares hold, the operations are done at one revision.
pub(crate) fn txn(compare: Vec<Compare>, success: Vec<RequestOp>) -> TxnRequest {
    TxnRequest { compare, success, failure: Vec::new() }
}

pub(crate) fn put(key: Bytes, value: impl Into<Bytes>) -> RequestOp {
    RequestOp { request: Some(Request::RequestPut(PutRequest { key, value: value.into(), lease: 0 })) }
}

pub(crate) fn delete(key: Bytes) -> RequestOp {
    RequestOp {
        request: Some(Request::RequestDeleteRange(DeleteRangeRequest { key, range_end: Bytes::new() })),
    }
}

pub(crate) fn look(key: Bytes) -> RequestOp {
    RequestOp { request: Some(Request::RequestRange(RangeRequest { keys_only: true, ..one(key) })) }
}

/// The key was last written at exactly this revision; 0: there is no such key.
pub(crate) fn written_at(key: Bytes, revision: i64) -> Compare {
    compare(key, CompareResult::Equal, CompareTarget::Mod, TargetUnion::ModRevision(revision))
}

/// The key was last written before this revision, or does not exist.
pub(crate) fn written_before(key: Bytes, revision: i64) -> Compare {
    compare(key, CompareResult::Less, CompareTarget::Mod, TargetUnion::ModRevision(revision))
}

/// The key does not exist, or has existed without a break since before this revision.
pub(crate) fn created_before(key: Bytes, revision: i64) -> Compare {
    compare(key, CompareResult::Less, CompareTarget::Create, TargetUnion::CreateRevision(revision))
}

pub(crate) fn exists(key: Bytes) -> Compare {
    compare(key, CompareResult::Greater, CompareTarget::Create, TargetUnion::CreateRevision(0))
}

fn compare(key: Bytes, result: CompareResult, target: CompareTarget, value: TargetUnion) -> Compare {
    Compare {
        result: result.into(),
        target: target.into(),
        key,
        target_union: Some(value),
        range_end: Bytes::new(),
    }
}

/// Takes a record's key apart, once it has lost what all records' keys start with.
pub(crate) fn split_record_key(bytes: &[u8]) -> Option<(&[u8], RecordId)> {
    let (key, place) = bytes.split_at_checked(bytes.len().checked_sub(13)?)?;
    Some((key, RecordId::from_bytes(place.strip_prefix(&[0])?)?))
}
