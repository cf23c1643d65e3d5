//! Keys: the names under which objects are kept, ordered as bytes.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

/// The longest key the store takes, in bytes.
pub const MAX_KEY_BYTES: usize = 1024;

/// The name of one object: 1 to 1,024 bytes without a NUL.
///
/// NUL is kept out because the history of a key stands under the key itself, behind a NUL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<[u8]>);

/// Why a byte string is not a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// An empty key would be a prefix of everything.
    #[error("a key must not be empty")]
    Empty,
    /// Longer than [`MAX_KEY_BYTES`].
    #[error("a key of {0} bytes is too long: at most {MAX_KEY_BYTES} are allowed")]
    TooLong(usize),
    /// A NUL byte inside.
    #[error("key {0:?} holds a NUL byte, which separates a key from its history")]
    Nul(String),
}

impl Key {
    /// Checks `bytes` and makes a key of them.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Key, BadKey> {
        let bytes = bytes.as_ref();
        if bytes.is_empty() {
            return Err(BadKey::Empty);
        }
        if bytes.len() > MAX_KEY_BYTES {
            return Err(BadKey::TooLong(bytes.len()));
        }
        if bytes.contains(&0) {
            return Err(BadKey::Nul(String::from_utf8_lossy(bytes).into_owned()));
        }
        Ok(Key(bytes.into()))
    }

    /// The key's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl TryFrom<&str> for Key {
    type Error = BadKey;
    fn try_from(text: &str) -> Result<Key, BadKey> {
        Key::new(text)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl serde::Serialize for Key {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        Key::new(bytes).map_err(serde::de::Error::custom)
    }
}

/// The first byte string after every one that starts with `prefix`; `None` when there is no end.
pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < 0xff {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

/// Where a range begins and ends, as maps take it.
pub(crate) type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// The keys that start with a prefix and come after another key.
pub(crate) struct KeyRange {
    start: Bound<Vec<u8>>,
    end: Bound<Vec<u8>>,
}

impl KeyRange {
    pub fn new(prefix: &[u8], after: Option<&Key>) -> KeyRange {
        let start = match after {
            Some(after) if after.as_bytes() >= prefix => Bound::Excluded(after.as_bytes().to_vec()),
            _ => Bound::Included(prefix.to_vec()),
        };
        KeyRange { start, end: after_prefix(prefix).map_or(Bound::Unbounded, Bound::Excluded) }
    }

    /// As a map takes it; `None` where the bounds have nothing between them, which maps don't take well.
    pub fn bounds(&self) -> Option<Bounds<'_>> {
        let empty =
            matches!((&self.start, &self.end), (Bound::Excluded(from), Bound::Excluded(to)) if from >= to);
        (!empty).then(|| (self.start.as_ref().map(Vec::as_slice), self.end.as_ref().map(Vec::as_slice)))
    }

    pub fn contains(&self, key: &Key) -> bool {
        self.bounds().is_some_and(|bounds| RangeBounds::<[u8]>::contains(&bounds, key.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_and_has_no_nul() {
        assert_eq!(Key::new(""), Err(BadKey::Empty));
        assert_eq!(Key::new(vec![b'a'; 1025]), Err(BadKey::TooLong(1025)));
        assert!(matches!(Key::new("a\0b"), Err(BadKey::Nul(_))));
        assert_eq!(Key::new("racks/r1").unwrap().as_bytes(), b"racks/r1");
    }

    #[test]
    fn the_end_of_a_prefix_is_after_all_its_keys() {
        assert_eq!(after_prefix(b"a/").as_deref(), Some(&b"a0"[..]));
        assert_eq!(after_prefix(b"a\xff").as_deref(), Some(&b"b"[..]));
        assert_eq!(after_prefix(b"\xff\xff"), None);
        assert_eq!(after_prefix(b""), None);
    }
}
