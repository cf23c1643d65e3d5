//! Revisions and versions: where a write stands in the order of all writes.
//!
//! A [`Revision`] numbers a commit. A [`Version`] numbers one write inside a commit; as a decimal
//! string it is the `resourceVersion` that clients see:
//! `version = revision × 65,536 + position`, so that a reader cut off between two writes of one
//! commit resumes after exactly the first.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Writes one commit can hold: positions run from 0, and the last is left for "the end of the commit".
pub const MAX_WRITES: usize = END as usize;

const END: u16 = u16::MAX;
const POSITIONS: u64 = 1 << 16;

/// The number of a commit, counted over the whole life of the data: the engine's own number plus the
/// store's offset, which every restore raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Revision(u64);

impl Revision {
    /// Before every commit.
    pub const ZERO: Revision = Revision(0);

    /// The revision numbered `number`.
    pub const fn new(number: u64) -> Revision {
        Revision(number)
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The commit after this one.
    pub const fn next(self) -> Revision {
        Revision(self.0 + 1)
    }

    /// The version after every write of this commit: what lists and bookmarks carry.
    pub const fn end(self) -> Version {
        Version(self.0 * POSITIONS + END as u64)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The place of one write in the order of all writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Version(u64);

impl Version {
    /// Before every write. As a guard: "there is no such key".
    pub const ZERO: Version = Version(0);

    /// The write at `position` of the commit `revision`.
    pub const fn of(revision: Revision, position: u16) -> Version {
        Version(revision.0 * POSITIONS + position as u64)
    }

    /// The version with this number.
    pub const fn new(number: u64) -> Version {
        Version(number)
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The commit it belongs to.
    pub const fn revision(self) -> Revision {
        Revision(self.0 / POSITIONS)
    }

    /// Its position inside the commit.
    pub const fn position(self) -> u16 {
        (self.0 % POSITIONS) as u16
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Version {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Version, Self::Err> {
        text.parse().map(Version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_names_its_commit_and_its_place_in_it() {
        let version = Version::of(Revision::new(7), 3);
        assert_eq!(version.get(), 7 * 65_536 + 3);
        assert_eq!(version.revision(), Revision::new(7));
        assert_eq!(version.position(), 3);
        assert!(version < Revision::new(7).end());
        assert!(Revision::new(7).end() < Version::of(Revision::new(8), 0));
        assert_eq!("458755".parse(), Ok(version));
    }
}
