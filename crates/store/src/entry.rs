//! An object as it is kept in memory: the bytes that readers get, and where it stands.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::history::Level;
use crate::version::Version;

/// The identity of one life of an object: a key deleted and made again gets a new one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Uid(pub [u8; 16]);

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// What a writer hands over: bytes, and the place in them where the store writes the version.
///
/// The store keeps the bytes without the version, since an engine may learn it only after the write
/// (etcd), and hands them out with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    pub(crate) bytes: Bytes,
    pub(crate) stamp: Option<u32>,
}

impl Body {
    /// Bytes that are handed out as they are.
    pub fn plain(bytes: impl Into<Bytes>) -> Body {
        Body { bytes: bytes.into(), stamp: None }
    }

    /// Bytes into which the decimal version is written before byte `at`; `None` when there is no such place.
    pub fn stamped(bytes: impl Into<Bytes>, at: usize) -> Option<Body> {
        let bytes = bytes.into();
        let stamp = u32::try_from(at).ok().filter(|_| at <= bytes.len())?;
        Some(Body { bytes, stamp: Some(stamp) })
    }

    /// The bytes without the version.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The bytes with `version` in their place for it.
    pub fn at(&self, version: Version) -> Bytes {
        match self.stamp {
            None => self.bytes.clone(),
            stamp => stamped(&self.bytes, stamp, version),
        }
    }
}

/// A copy of `bytes` with `version` in the place for it, if there is one.
pub(crate) fn stamped(bytes: &[u8], stamp: Option<u32>, version: Version) -> Bytes {
    let Some(stamp) = stamp else { return Bytes::copy_from_slice(bytes) };
    let digits = Digits::of(version);
    let (head, tail) = bytes.split_at((stamp as usize).min(bytes.len()));
    let mut whole = Vec::with_capacity(bytes.len() + digits.as_bytes().len());
    whole.extend_from_slice(head);
    whole.extend_from_slice(digits.as_bytes());
    whole.extend_from_slice(tail);
    whole.into()
}

/// Where an object stands in its own history: the end of its hash chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ChainEnd {
    /// When this life of the key began, in microseconds: sorts the lives of one key.
    pub born: u64,
    /// Writes since then.
    pub sequence: u32,
    /// Hash of the last record; zero where nothing is chained.
    pub hash: [u8; 32],
    /// The version of the last record, where a restore has given the object another; else zero.
    pub at: Version,
}

/// One object at one version.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    pub(crate) version: Version,
    pub(crate) uid: Uid,
    pub(crate) chain: ChainEnd,
    pub(crate) level: Level,
    /// Milliseconds since 1970 after which the object goes by itself.
    pub(crate) expires: Option<u64>,
    pub(crate) sealed: bool,
    pub(crate) stamp: Option<u32>,
    /// With the version in its place, unless sealed.
    pub(crate) bytes: Bytes,
}

impl Entry {
    /// Where the write that made it stands.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The identity of this life of the key.
    pub fn uid(&self) -> Uid {
        self.uid
    }

    /// When this life of the key began, in microseconds since 1970, where its history is kept.
    pub fn born(&self) -> u64 {
        self.chain.born
    }

    /// How often this life of the key was written, from 1.
    pub fn sequence(&self) -> u32 {
        self.chain.sequence
    }

    /// Whether the bytes are sealed; [`crate::Store::reveal`] opens them.
    pub fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// The bytes that readers get; of a sealed object the sealed bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// When the object goes by itself, in milliseconds since 1970.
    pub fn expires(&self) -> Option<u64> {
        self.expires
    }

    /// Whether these are the bytes as they are kept.
    /// Whether this body was put, nothing else.
    pub fn has_body(&self, body: &Body) -> bool {
        !self.sealed && self.stamp == body.stamp && self.is_stored_as(&body.bytes)
    }

    pub(crate) fn is_stored_as(&self, stored: &[u8]) -> bool {
        let Some((at, digits)) = self.stamp_range() else { return self.bytes == stored };
        self.bytes.len() - digits == stored.len()
            && self.bytes[..at] == stored[..at]
            && self.bytes[at + digits..] == stored[at..]
    }

    /// The bytes as they are kept: without the version.
    pub(crate) fn stored(&self) -> Bytes {
        let Some((at, digits)) = self.stamp_range() else { return self.bytes.clone() };
        let mut stored = Vec::with_capacity(self.bytes.len() - digits);
        stored.extend_from_slice(&self.bytes[..at]);
        stored.extend_from_slice(&self.bytes[at + digits..]);
        stored.into()
    }

    /// The same object, said to be at another version: how a deletion shows what it deleted.
    pub(crate) fn restamped(&self, version: Version) -> Entry {
        let bytes = match self.stamp_range() {
            None => self.bytes.clone(),
            Some(_) => Body { bytes: self.stored(), stamp: self.stamp }.at(version),
        };
        Entry { version, bytes, ..self.clone() }
    }

    /// The object as it was at `version`, if it has not changed since then. One that a restore gave a new version is
    /// shown at the one it had.
    pub(crate) fn as_of(self: &Arc<Entry>, version: Version) -> Option<Arc<Entry>> {
        let recorded = self.chain.at;
        match self.version <= version {
            true => Some(self.clone()),
            false if recorded > Version::ZERO && recorded <= version => {
                Some(Arc::new(self.restamped(recorded)))
            }
            false => None,
        }
    }

    fn stamp_range(&self) -> Option<(usize, usize)> {
        let digits = Digits::of(self.version).as_bytes().len();
        // A place beyond the bytes is damage; the version then stands at their end, see [`Body::at`].
        let last = self.bytes.len().checked_sub(digits)?;
        let at = self.stamp.filter(|_| !self.sealed)? as usize;
        Some((at.min(last), digits))
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("version", &self.version)
            .field("uid", &self.uid)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// A version as decimal digits, without a trip to the heap.
struct Digits {
    buffer: [u8; 20],
    start: usize,
}

impl Digits {
    fn of(version: Version) -> Digits {
        let mut digits = Digits { buffer: [b'0'; 20], start: 20 };
        let mut rest = version.get();
        loop {
            digits.start -= 1;
            digits.buffer[digits.start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                return digits;
            }
        }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_written_where_the_writer_left_room() {
        let body = Body::stamped(r#"{"v":""}"#, 6).unwrap();
        assert_eq!(body.at(Version::new(65_536)), r#"{"v":"65536"}"#);
        assert_eq!(body.at(Version::ZERO), r#"{"v":"0"}"#);
        assert_eq!(Body::stamped("ab", 3), None);
    }

    #[test]
    fn an_entry_gives_back_what_was_stored() {
        let body = Body::stamped(r#"{"v":""}"#, 6).unwrap();
        let entry = Entry {
            version: Version::new(123),
            uid: Uid::default(),
            chain: ChainEnd::default(),
            level: Level::Full,
            expires: None,
            sealed: false,
            stamp: body.stamp,
            bytes: body.at(Version::new(123)),
        };
        assert_eq!(entry.stored(), body.bytes);
        assert!(entry.is_stored_as(&body.bytes));
        for other in [r#"{"w":""}"#, r#"{"v":"0"}"#, r#"{"v":"" "#, r#"{"v":""#, ""] {
            assert!(!entry.is_stored_as(other.as_bytes()), "{other}");
        }
        assert_eq!(entry.restamped(Version::new(7)).bytes, r#"{"v":"7"}"#);
    }
}
