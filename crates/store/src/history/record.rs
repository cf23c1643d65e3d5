//! The record of one change, as it is kept.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::Level;
use crate::delta::Delta;
use crate::entry::{Body, ChainEnd, Entry, Uid, stamped};
use crate::error::{Error, Result};
use crate::version::Version;

/// A hash of the chain; all zero: nothing is chained.
pub(crate) type Hash = [u8; 32];
/// No hash.
pub(crate) const NO_HASH: Hash = [0; 32];

/// Which record of a key: sorts by life, then by change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordId {
    pub(crate) born: u64,
    pub(crate) sequence: u32,
}

impl RecordId {
    pub(crate) fn of(chain: &ChainEnd) -> RecordId {
        RecordId { born: chain.born, sequence: chain.sequence }
    }

    pub(crate) fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.born.to_be_bytes());
        bytes[8..].copy_from_slice(&self.sequence.to_be_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<RecordId> {
        let (born, sequence) = bytes.split_first_chunk::<8>()?;
        let sequence = sequence.try_into().ok()?;
        Some(RecordId { born: u64::from_be_bytes(*born), sequence: u32::from_be_bytes(sequence) })
    }
}

/// One change of one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// An engine that learns its revision only from the commit keeps the position alone.
    pub version: Version,
    pub time: u64,
    pub level: Level,
    pub deleted: bool,
    pub uid: Uid,
    pub user: Arc<str>,
    pub manager: Arc<str>,
    pub verb: Arc<str>,
    pub message: Option<Arc<str>>,
    /// The way back; `None` for the first of a life, or where retention cut the past off.
    pub before: Option<Before>,
    /// Of the object after the change.
    pub digest: Hash,
    /// Hash of the record before this one.
    pub previous: Hash,
    pub hash: Hash,
    /// Retention let go of the records right before this one.
    pub gap: Option<Gap>,
}

/// The object before a change, less what can be had from the object after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Before {
    pub version: Version,
    /// The version of the record that left it, where a restore has given the object another.
    pub record: Option<Version>,
    pub level: Level,
    pub expires: Option<u64>,
    pub sealed: bool,
    pub stamp: Option<u32>,
    pub body: Way,
}

/// How the older bytes are had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Way {
    /// They are here.
    Whole(Bytes),
    /// By a delta on the newer ones.
    Delta(Bytes),
}

/// A record read where it lies, without copying what it takes to go back.
#[derive(Debug, Deserialize)]
pub(crate) struct Glimpse<'a> {
    pub version: Version,
    pub time: u64,
    pub level: Level,
    pub deleted: bool,
    pub uid: Uid,
    pub user: &'a str,
    _manager: &'a str,
    _verb: &'a str,
    #[serde(borrow)]
    _message: Option<&'a str>,
    #[serde(borrow)]
    pub before: Option<BeforeGlimpse<'a>>,
    _digest: Hash,
    _previous: Hash,
    _hash: Hash,
    pub gap: Option<Gap>,
}

/// What a [`Glimpse`] shows of the object before.
#[derive(Debug, Deserialize)]
pub(crate) struct BeforeGlimpse<'a> {
    _version: Version,
    _record: Option<Version>,
    _level: Level,
    _expires: Option<u64>,
    _sealed: bool,
    _stamp: Option<u32>,
    #[serde(borrow)]
    body: WayGlimpse<'a>,
}

#[derive(Debug, Deserialize)]
enum WayGlimpse<'a> {
    Whole(&'a [u8]),
    Delta(&'a [u8]),
}

impl Glimpse<'_> {
    /// Whether the record holds the whole object before it.
    pub fn is_whole(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.body.is_whole())
    }
}

impl WayGlimpse<'_> {
    fn is_whole(&self) -> bool {
        match self {
            WayGlimpse::Whole(_bytes) => true,
            WayGlimpse::Delta(_bytes) => false,
        }
    }
}

/// Vouches for records that retention let go of: they were `first ..= this record's sequence - 1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gap {
    pub first: u32,
    /// Hash of the record before the first that went.
    pub previous: Hash,
    pub signature: Vec<u8>,
}

/// The object as stored, next to its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// See [`Record::version`].
    pub version: Version,
    pub uid: Uid,
    pub chain: ChainEnd,
    pub level: Level,
    pub expires: Option<u64>,
    pub sealed: bool,
    pub stamp: Option<u32>,
}

impl Head {
    /// What is kept next to the bytes of this object.
    pub fn of(entry: &Entry) -> Head {
        Head {
            version: entry.version,
            uid: entry.uid,
            chain: entry.chain,
            level: entry.level,
            expires: entry.expires,
            sealed: entry.sealed,
            stamp: entry.stamp,
        }
    }

    /// Head and bytes as one value.
    pub fn encode(&self, body: &[u8]) -> Result<Vec<u8>> {
        self.encode_into(body, Vec::with_capacity(body.len() + 128))
    }

    /// The same behind what `buffer` holds.
    pub fn encode_into(&self, body: &[u8], buffer: Vec<u8>) -> Result<Vec<u8>> {
        let mut value = postcard::to_extend(self, buffer)?;
        value.extend_from_slice(body);
        Ok(value)
    }

    /// Takes a stored value apart.
    pub fn decode(value: &[u8]) -> Result<(Head, &[u8])> {
        Ok(postcard::take_from_bytes(value)?)
    }

    /// The object in memory, at the version its head names.
    pub fn entry(&self, body: Bytes) -> Entry {
        let bytes = if self.sealed { body } else { Body { bytes: body, stamp: self.stamp }.at(self.version) };
        self.with(bytes)
    }

    /// The same from bytes that are somebody else's: copied once, with the version in its place.
    pub fn entry_of(&self, body: &[u8]) -> Entry {
        let stamp = self.stamp.filter(|_| !self.sealed);
        self.with(stamped(body, stamp, self.version))
    }

    fn with(&self, bytes: Bytes) -> Entry {
        Entry {
            version: self.version,
            uid: self.uid,
            chain: self.chain,
            level: self.level,
            expires: self.expires,
            sealed: self.sealed,
            stamp: self.stamp,
            bytes,
        }
    }
}

impl Way {
    /// The cheaper way from `newer` back to `older`.
    pub fn back(newer: &[u8], older: &Bytes) -> Way {
        let delta = Delta::between(newer, older);
        let length = delta.encoded_len();
        if length * 4 > older.len() * 3 {
            return Way::Whole(older.clone());
        }
        let mut encoded = Vec::with_capacity(length);
        delta.encode(&mut encoded);
        Way::Delta(encoded.into())
    }

    pub fn is_whole(&self) -> bool {
        matches!(self, Way::Whole(_))
    }

    /// Bytes it takes.
    pub fn len(&self) -> usize {
        match self {
            Way::Whole(bytes) | Way::Delta(bytes) => bytes.len(),
        }
    }

    /// The older bytes.
    pub fn walk(&self, newer: &[u8]) -> Result<Bytes> {
        match self {
            Way::Whole(bytes) => Ok(bytes.clone()),
            Way::Delta(delta) => {
                let delta = Delta::decode(delta).map_err(Error::damaged)?;
                Ok(delta.apply(newer).map_err(Error::damaged)?.into())
            }
        }
    }

    /// This way and then `further` back, as one.
    pub fn and_then(&self, further: &Way) -> Result<Way> {
        match (self, further) {
            (_, Way::Whole(bytes)) => Ok(Way::Whole(bytes.clone())),
            (Way::Whole(bytes), Way::Delta(_)) => Ok(Way::Whole(further.walk(bytes)?)),
            (Way::Delta(near), Way::Delta(far)) => {
                let near = Delta::decode(near).map_err(Error::damaged)?;
                let far = Delta::decode(far).map_err(Error::damaged)?;
                let mut encoded = Vec::new();
                near.then(&far).encode(&mut encoded);
                Ok(Way::Delta(encoded.into()))
            }
        }
    }
}

impl Before {
    /// The object before the change, given the bytes stored after it.
    pub fn entry(&self, record: &Record, place: RecordId, newer: &[u8]) -> Result<Entry> {
        let head = Head {
            version: self.version,
            uid: record.uid,
            chain: ChainEnd {
                born: place.born,
                sequence: place.sequence.saturating_sub(1),
                hash: record.previous,
                at: self.record.unwrap_or_default(),
            },
            level: self.level,
            expires: self.expires,
            sealed: self.sealed,
            stamp: self.stamp,
        };
        Ok(head.entry(self.body.walk(newer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glimpse_sees_what_the_record_says() {
        let way = |whole: bool| {
            let bytes = Bytes::from_static(b"something");
            let body = if whole { Way::Whole(bytes) } else { Way::Delta(bytes) };
            let version = Version::new(7);
            Before {
                version,
                record: Some(version),
                level: Level::Full,
                expires: Some(9),
                sealed: false,
                stamp: None,
                body,
            }
        };
        let gap = || Gap { first: 3, previous: NO_HASH, signature: vec![1, 2, 3] };
        for (before, gap, is_whole) in
            [(None, None, false), (Some(way(true)), None, true), (Some(way(false)), Some(gap()), false)]
        {
            let record = Record {
                version: Version::new(8),
                time: 12,
                level: Level::Brief,
                deleted: true,
                uid: Uid([5; 16]),
                user: "alice".into(),
                manager: "kubectl".into(),
                verb: "delete".into(),
                message: Some("because".into()),
                before,
                digest: NO_HASH,
                previous: NO_HASH,
                hash: [9; 32],
                gap,
            };
            let bytes = postcard::to_stdvec(&record).unwrap();
            let seen: Glimpse<'_> = postcard::from_bytes(&bytes).unwrap();
            assert_eq!((seen.version, seen.time, seen.level), (record.version, record.time, record.level));
            assert_eq!((seen.deleted, seen.uid, seen.user), (true, record.uid, "alice"));
            assert_eq!((seen.before.is_some(), seen.is_whole()), (record.before.is_some(), is_whole));
            assert_eq!(seen.gap, record.gap);
        }
    }
}
