//! One write worked out: the object it makes, and the record it leaves.

use std::sync::Arc;

use bytes::Bytes;

use super::Level;
use super::chain;
use super::record::{Before, Head, NO_HASH, Record, RecordId, Way};
use crate::entry::{ChainEnd, Entry};
use crate::error::{Conflict, Error, Result};
use crate::key::Key;
use crate::transaction::{Author, Put, Write};
use crate::version::Version;

/// A write and its record, complete but for the version.
pub(crate) struct Draft {
    pub key: Key,
    pub place: RecordId,
    pub before: Option<Arc<Entry>>,
    /// The object and its stored bytes; `None` for a deletion.
    pub after: Option<(Head, Bytes)>,
    pub record: Record,
}

/// Every so many changes the whole object is kept, so that no way back is long.
const WHOLE_EVERY: u32 = 64;

impl Draft {
    /// Works out `write` on what is there; `None` when it changes nothing.
    pub fn of(
        write: Write,
        before: Option<&Arc<Entry>>,
        author: &Author,
        time: u64,
    ) -> Result<Option<Draft>> {
        match write {
            Write::Put(put) => Draft::put(put, before, author, time),
            Write::Delete { key, verb } => {
                Ok(before.map(|before| Draft::delete(key, before, author, &verb, time)))
            }
        }
    }

    fn put(put: Put, before: Option<&Arc<Entry>>, author: &Author, time: u64) -> Result<Option<Draft>> {
        let stored = put.body.bytes.clone();
        if let Some(before) = before {
            if before.uid != put.uid {
                let found = before.version;
                return Err(Error::Conflict(Conflict::Changed {
                    key: put.key,
                    expected: Version::ZERO,
                    found,
                }));
            }
            let same = before.sealed == put.secret
                && before.stamp == put.body.stamp
                && before.expires == put.expires;
            if same && before.is_stored_as(&stored) {
                return Ok(None);
            }
        }
        // Once something is chained, nothing after it may be left out of the chain.
        let chained = before.is_some_and(|before| before.chain.hash != NO_HASH);
        let level = if chained { put.level.min(Level::Brief) } else { put.level };
        let chain = match before {
            Some(before) => {
                ChainEnd { sequence: before.chain.sequence + 1, at: Version::ZERO, ..before.chain }
            }
            None => ChainEnd { born: time, sequence: 1, hash: NO_HASH, at: Version::ZERO },
        };
        let mut record = Record {
            version: Version::ZERO,
            time,
            level,
            deleted: false,
            uid: put.uid,
            user: author.recorded_user(),
            manager: author.manager.clone(),
            verb: put.verb.into(),
            message: author.message.clone(),
            before: before.map(|before| way_back(before, &stored, put.secret, chain.sequence)),
            digest: NO_HASH,
            previous: chain.hash,
            hash: NO_HASH,
            gap: None,
        };
        let place = RecordId::of(&chain);
        let mut head = Head {
            version: Version::ZERO,
            uid: put.uid,
            chain: ChainEnd { hash: NO_HASH, ..chain },
            level,
            expires: put.expires,
            sealed: put.secret,
            stamp: put.body.stamp,
        };
        if level != Level::None {
            record.digest = chain::state(&head, &stored);
            record.hash = chain::link(&put.key, place, &record);
            head.chain.hash = record.hash;
        }
        Ok(Some(Draft { key: put.key, place, before: before.cloned(), after: Some((head, stored)), record }))
    }

    fn delete(key: Key, before: &Arc<Entry>, author: &Author, verb: &str, time: u64) -> Draft {
        let place = RecordId { born: before.chain.born, sequence: before.chain.sequence + 1 };
        // The end of an object is worth as much as the most that was kept of it.
        let level = if before.chain.hash == NO_HASH { Level::None } else { Level::Full };
        let mut record = Record {
            version: Version::ZERO,
            time,
            level,
            deleted: true,
            uid: before.uid,
            user: author.recorded_user(),
            manager: author.manager.clone(),
            verb: verb.into(),
            message: author.message.clone(),
            before: Some(describe(before, Way::Whole(before.stored()))),
            digest: NO_HASH,
            previous: before.chain.hash,
            hash: NO_HASH,
            gap: None,
        };
        if level != Level::None {
            record.hash = chain::link(&key, place, &record);
        }
        Draft { key, place, before: Some(before.clone()), after: None, record }
    }

    /// The object this write makes, at `version`.
    pub fn entry(&self, version: Version) -> Option<Arc<Entry>> {
        let (head, stored) = self.after.as_ref()?;
        let head = Head { version, ..head.clone() };
        Some(Arc::new(head.entry(stored.clone())))
    }
}

fn way_back(before: &Entry, after: &Bytes, sealed: bool, sequence: u32) -> Before {
    let older = before.stored();
    let whole = before.sealed || sealed || sequence.is_multiple_of(WHOLE_EVERY);
    let way = if whole { Way::Whole(older) } else { Way::back(after, &older) };
    describe(before, way)
}

fn describe(before: &Entry, body: Way) -> Before {
    Before {
        version: before.version,
        record: (before.chain.at > Version::ZERO).then_some(before.chain.at),
        level: before.level,
        expires: before.expires,
        sealed: before.sealed,
        stamp: before.stamp,
        body,
    }
}
